import { describe, expect, test } from 'vitest';
import { reportPage } from '../../src/render/report/page.ts';
import { openInMemory } from '../../src/store/file/open-to-write.ts';
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

const emptyTally = { days: [], undated: 0, flows: [], kinds: [], otherKinds: 0 };

async function pageOf(lists: readonly ReportList[]): Promise<string> {
  const data: ReportData = {
    baseUrl: 'https://service.example',
    lists,
    runCount: 2,
    runs: [],
    exports: emptyTally,
    connectionNames: new Map(),
    changes: [],
  };
  return htmlOf(data);
}

async function htmlOf(data: ReportData): Promise<string> {
  const nowMs = Date.parse('2026-11-22T08:30:00.000Z');
  return reportPage(data, { nowMs, maxAgeMs: null, version: '0', root: null }).html;
}

/** What the report says of a mirror's exports over time, without its tags and charts. */
async function exportsOverTime(times: readonly (string | null)[]): Promise<string> {
  const { sqlite, close } = openInMemory();
  try {
    sqlite.pragma('foreign_keys = OFF');
    const insert = sqlite.prepare(
      'INSERT INTO document_exports (exported_at, _first_seen_run_id, _changed_run_id, _content) VALUES (?, 1, 1, randomblob(16))',
    );
    for (const time of times) insert.run(time);
    const reading = readReport(sqlite, null);
    let step = reading.next();
    while (!step.done) step = reading.next();
    const section = /<h2 id="exports">.*?<div class="pair">/s.exec(await htmlOf(step.value))?.[0] ?? '';
    return section
      .replace(/<svg.*?<\/svg>/gs, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
  } finally {
    close();
  }
}

/** What stands below the title, without its tags. */
function headOf(page: string): string {
  return (/<h1>.*?<\/h1>(.*?)<\/header>/s.exec(page)?.[1] ?? '').replace(/<[^>]*>/g, '').trim();
}

describe('the report', () => {
  test('says when the mirror was last completed, and when the report was made', async () => {
    const older = { ...list, lastCompletedAt: '2026-11-19T07:00:00.000Z' };
    expect(headOf(await pageOf([list, older]))).toBe(
      'What https://service.example lists, last completed 2026-11-19 07:00 UTC. This report was made 2026-11-22 08:30 UTC.',
    );
  });

  test('says where a list was never completed', async () => {
    const never = { ...list, lastCompletedAt: null };
    expect(headOf(await pageOf([list, never]))).toContain('lists, not completed yet. This report');
  });
});

describe('the exports over time', () => {
  test.each([
    [
      'are counted on their day in UTC, whatever zone they name',
      ['2026-05-10T00:30:00+01:00', '2026-05-11T00:00:00Z', '2026-05-11T23:30:00.5-01:00', '2026-05-11'],
      '4 exports from 2026-05-09 to 2026-05-12; the busiest day was 2026-05-11 with 2. The',
    ],
    [
      'are counted on the next day where a day ends at 24:00',
      ['2026-05-10T24:00:00Z', '2026-05-11T12:00:00', '2026-05-11T12:00:00.123456Z'],
      '3 exports from 2026-05-11 to 2026-05-11; the busiest day was 2026-05-11 with 3. The',
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
      '2 exports from 2026-04-20 to 2026-05-10; the busiest day was 2026-04-20 with 1. 3 have no date that can be read. The',
    ],
    [
      'are not drawn where none has a date that can be read',
      ['2026-02-30T00:00:00Z', '12:00', '5', 'now', null],
      'No export has a date that can be read, so none is drawn over time.',
    ],
  ])('%s', async (_, times, words) => {
    expect(await exportsOverTime(times)).toContain(words);
  });
});
