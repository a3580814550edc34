import { describe, expect, test } from 'vitest';
import { reportPeriod } from '../../src/commands/report-period.ts';
import { instantMs } from '../../src/contract/time.ts';
import { reportPage } from '../../src/render/report/page.ts';
import { openInMemory } from '../../src/store/file/open-to-write.ts';
import type { ExportTally } from '../../src/store/read/export-tally.ts';
import {
  type ReportData,
  type ReportList,
  type ReportListRun,
  readReport,
} from '../../src/store/read/report-data.ts';

const last: ReportListRun = {
  runId: 2,
  status: 'completed',
  completeness: 'proven',
  rejected: 0,
  removalsWithheld: 0,
  undecided: 0,
  reason: null,
  errorCode: null,
  errorMessage: null,
};

const list: ReportList = {
  resource: 'webhooks',
  title: 'Webhooks',
  recordCount: 3,
  lastCompletedAt: '2026-11-20T10:00:00.000Z',
  lastFullAt: null,
  lastProvenAt: null,
  last,
  unknownFields: [],
  rejections: [],
};

const nowMs = Date.parse('2026-11-22T08:30:00.000Z');
const period = reportPeriod({ since: '2026-04-01', timezone: 'UTC' }, nowMs);
const none = { entries: [], others: { now: 0, before: 0 } };
const emptyTally: ExportTally = {
  knownMs: nowMs,
  compared: period.spanBefore,
  counts: period.stretches.map(() => 0),
  countsBefore: period.stretchesBefore.map(() => 0),
  all: { now: 0, before: 0, earlier: 0, lastMs: null, usualGapMs: null },
  undated: 0,
  sources: none,
  destinations: none,
  kinds: none,
  routes: none,
};

async function pageOf(lists: readonly ReportList[]): Promise<string> {
  const data: ReportData = {
    baseUrl: 'https://service.example',
    lists,
    runCount: 2,
    runs: [],
    exports: emptyTally,
    connectionNames: new Map(),
    changes: [],
    period,
  };
  return htmlOf(data);
}

async function htmlOf(data: ReportData): Promise<string> {
  return reportPage(data, { nowMs, maxAgeMs: null, version: '0', root: null }).html;
}

/** The section of the report on exports over time, without its tags and charts. */
async function exportsOverTime(times: readonly (string | null)[]): Promise<string> {
  const { sqlite, close } = openInMemory();
  try {
    sqlite.pragma('foreign_keys = OFF');
    const insert = sqlite.prepare(
      'INSERT INTO document_exports (exported_at, exported_at_ms, _first_seen_run_id, _changed_run_id, _content) VALUES (?, ?, 1, 1, randomblob(16))',
    );
    for (const time of times) insert.run(time, time === null ? null : instantMs(time));
    const reading = readReport(
      sqlite,
      null,
      reportPeriod({ since: '2026-04-15', until: '2026-05-20', timezone: 'UTC' }, nowMs),
    );
    let step = reading.next();
    while (!step.done) step = reading.next();
    const section =
      /<h2 id="exports">.*?(<div class="pair">|<h2 id="changes">)/s.exec(await htmlOf(step.value))?.[0] ?? '';
    return section
      .replace(/<svg.*?<\/svg>/gs, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
  } finally {
    close();
  }
}

/** The text below the title, without its tags. */
function headOf(page: string): string {
  return (/<h1>.*?<\/h1>(.*?)<\/header>/s.exec(page)?.[1] ?? '')
    .replace('</p><p>', '. ')
    .replace(/<[^>]*>/g, '')
    .trim();
}

describe('the report', () => {
  test('says when the mirror was last completed, and when the report was made', async () => {
    const older = { ...list, lastCompletedAt: '2026-11-19T07:00:00.000Z' };
    expect(headOf(await pageOf([list, older]))).toBe(
      '1 Apr 2026 to 22 Nov 2026. From https://service.example, last completed 19 Nov 2026 07:00. This report was made 22 Nov 2026 08:30.',
    );
  });

  test('says so if a list was never completed', async () => {
    const never = { ...list, lastCompletedAt: null };
    expect(headOf(await pageOf([list, never]))).toContain(', not completed yet. This report');
  });
});

describe('the exports over time', () => {
  test.each([
    [
      'are counted on their day in UTC, whatever zone they name',
      ['2026-05-10T00:30:00+01:00', '2026-05-11T00:00:00Z', '2026-05-11T23:30:00.5-01:00', '2026-05-11'],
      '4 exports from 15 Apr 2026 to 19 May 2026; the busiest day was 11 May 2026 with 2.',
    ],
    [
      'are counted on the next day where a day ends at 24:00',
      ['2026-05-10T24:00:00Z', '2026-05-11T12:00:00', '2026-05-11T12:00:00.123456Z'],
      '3 exports from 15 Apr 2026 to 19 May 2026; the busiest day was 11 May 2026 with 3.',
    ],
    [
      'leave out what is no day of the calendar, and say so',
      [
        '2026-05-10T00:00:00Z',
        '2026-04-31T00:00:00Z',
        '2026-04-20T00:00:00.000Z',
        '2026-05-09T29:00:00Z',
        null,
      ],
      '2 exports from 15 Apr 2026 to 19 May 2026; the busiest day was 20 Apr 2026 with 1. 3 have no date that can be read, and are in no period.',
    ],
    [
      'are not drawn where none has a date that can be read',
      ['2026-02-30T00:00:00Z', '12:00', '5', 'now', null],
      'there is nothing to draw. 5 have no date that can be read, and are in no period.',
    ],
  ])('%s', async (_, times, words) => {
    expect(await exportsOverTime(times)).toContain(words);
  });
});
