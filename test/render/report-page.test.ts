import { describe, expect, test } from 'vitest';
import { reportPage } from '../../src/render/report/page.ts';
import type { ReportData, ReportList, ReportListRun } from '../../src/store/read/report-data.ts';

const last: ReportListRun = {
  runId: 2,
  status: 'completed',
  completeness: 'proven',
  rejected: 0,
  removalsWithheld: 0,
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
  const nowMs = Date.parse('2026-11-22T08:30:00.000Z');
  return (await reportPage(data, { nowMs, maxAgeMs: null, version: '0', root: null })).html;
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

  test('explains a verdict of 0.1.0 only where it is shown', async () => {
    expect(await pageOf([list])).not.toContain('counts agree');
    const old = { ...list, last: { ...last, completeness: 'count_matched' } };
    expect(await pageOf([list, old])).toContain('<dt>counts agree</dt>');
  });
});
