import { expect, test } from 'vitest';
import { labelledFigures, metricsText } from '../../src/serve/metrics.ts';
import { readFreshness } from '../../src/store/read/runs/freshness.ts';
import { openFindings } from '../../src/store/tables/accepted.ts';
import { executeIn } from '../support/accepted.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const acceptance = {
  id: 1,
  resource: 'webhooks',
  code: 'record_rejected',
  rejectedRecordId: null,
  atMost: 2,
  until: '2027-01-31T00:00:00.000Z',
  why: 'seen',
  actor: 'ann',
  acceptedAt: '2026-11-29T08:00:00.000Z',
  withdrawnAt: null,
  withdrawnBy: null,
  withdrawnWhy: null,
  isRejected: false,
};
const nowMs = Date.parse('2026-12-01T00:00:00Z');

test('an acceptance covers its code up to its count, until its end, and until it is withdrawn', () => {
  const found = (count: number) => [{ code: 'record_rejected', count }] as const;
  const openAt = (count: number, over: object = {}, atMs = nowMs) =>
    openFindings(found(count), [{ ...acceptance, ...over }], atMs).open.length;
  expect(openAt(2)).toBe(0);
  expect(openAt(3)).toBe(1);
  expect(openAt(2, {}, Date.parse('2027-01-30T23:59:59.999Z'))).toBe(0);
  expect(openAt(2, {}, Date.parse('2027-01-31T00:00:00Z'))).toBe(1);
  expect(openAt(2, { withdrawnAt: '2026-11-30T00:00:00.000Z' })).toBe(1);
  expect(openAt(2, { code: 'pages_short' })).toBe(1);
  const ofOne = { atMost: null, rejectedRecordId: 7 };
  expect(openAt(1, { ...ofOne, isRejected: true })).toBe(0);
  expect(openAt(2, { ...ofOne, isRejected: true })).toBe(1);
  expect(openAt(1, ofOne)).toBe(1);
  const emptied = [{ code: 'list_emptied', count: 1 }] as const;
  expect(openFindings(emptied, [{ ...acceptance, code: 'list_emptied' }], nowMs).open).toEqual(emptied);
});

test('a finding that was accepted ends a run as completed, until it is greater or withdrawn, and verify holds the receipts', async () => {
  await using scene = await setScene({}, { exports: 5 });
  const { collections } = scene.service.lists;
  collections.push('{"id":"x"}');
  expect((await scene.sync()).code).toBe(3);
  const why = ['--why', 'nobody will mend it'];
  const accept = (...args: string[]) => scene.run('accept', ...args);
  expect((await accept('collections', 'removals_withheld', ...why)).code).toBe(2);
  expect((await accept('collections', 'pages_short', ...why)).code).toBe(1);
  expect((await accept('collections', 'record_rejected')).code).toBe(2);
  expect((await accept('collections', 'record_rejected', ...why, '--until', '2020-01-01')).code).toBe(2);
  expect((await scene.run('status', '--strict')).code).toBe(4);
  const done = await accept('collections', 'record_rejected', ...why, '--json');
  expect(done).toMatchObject({ code: 0 });
  expect(JSON.parse(done.stdout).accepted).toMatchObject([{ id: 1, atMost: 1, rejectedRecordId: null }]);
  const status = await scene.run('status', '--strict', '--max-age', '26h');
  expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining('nobody will mend it') });

  const accepted = await scene.sync();
  expect(accepted).toMatchObject({ code: 0, status: 'completed', summary: { accepted: [1] } });
  expect(accepted.of('collections')).toMatchObject({
    status: 'partial',
    rejected: 1,
    open: [],
    accepted: [1],
  });
  expect(metricsText([labelledFigures(scene.database, {})])).toContain(
    'code="record_rejected",accepted="true"} 1',
  );
  expect((await scene.run('verify')).code).toBe(0);

  collections.push('{"id":"y"}');
  const greater = await scene.sync();
  expect(greater).toMatchObject({ code: 3, status: 'partial' });
  expect(greater.of('collections')).toMatchObject({ open: ['record_rejected'], accepted: [] });
  collections.pop();
  expect((await scene.sync('--rebuild')).code).toBe(0);

  expect((await accept('--withdraw', '1', '--why', 'mended')).code).toBe(0);
  expect((await accept('--withdraw', '1', '--why', 'mended')).code).toBe(1);
  expect((await scene.sync()).code).toBe(3);
  expect((await scene.run('verify')).code).toBe(0);
  const kinds = sqlite(
    scene.database,
    "SELECT receipt ->> 'kind' AS kind FROM sync_receipts WHERE run_id IS NULL",
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(['accept', 'rebuild', 'withdraw']);

  executeIn(
    scene.database,
    'UPDATE accepted_findings SET withdrawn_at = NULL, withdrawn_by = NULL, withdrawn_why = NULL',
  );
  const forged = await scene.run('verify');
  expect(forged).toMatchObject({ code: 4, stdout: expect.stringContaining('accepted_findings 1') });
});

test('one rejected record is accepted by its number, and its erasure ends that', async () => {
  await using scene = await setScene({}, { exports: 5 });
  const { collections } = scene.service.lists;
  collections.push('{"id":"x"}', '{"id":"y"}');
  await scene.sync();
  const why = ['--why', 'seen'];
  expect((await scene.run('accept', 'collections', 'record_rejected', '--record', '9', ...why)).code).toBe(1);
  for (const record of ['1', '2']) {
    expect((await scene.sync()).code).toBe(3);
    expect(
      (await scene.run('accept', 'collections', 'record_rejected', '--record', record, ...why)).code,
    ).toBe(0);
  }
  expect((await scene.sync()).summary.accepted).toEqual([1, 2]);
  expect((await scene.run('share', 'share.sqlite')).code).toBe(0);
  expect(sqlite(`${scene.folder}/share.sqlite`, 'SELECT why FROM accepted_findings')).toEqual([
    { why: null },
    { why: null },
  ]);
  expect((await scene.run('erase', 'rejected-records', '2')).code).toBe(0);
  expect((await scene.sync()).code).toBe(3);
  expect((await scene.run('verify')).code).toBe(0);
});

test('a list that is proven but for a rejected record has its age and stays incremental', async () => {
  await using scene = await setScene({ maxPageSize: 20 }, { exports: 500 });
  const { lists } = scene.service;
  lists['document-exports'].splice(100, 0, '{"exportedAt":7}');
  expect((await scene.sync()).code).toBe(3);
  const { 'document-exports': exports } = lists;
  exports.push(exports.at(-1) as string);
  for (let night = 0; night < 2; night++) {
    const run = await scene.sync();
    expect(run.code).toBe(3);
    expect(run.of('document-exports')).toMatchObject({ rejected: 1 });
  }
  expect(readFreshness(scene.database).every(({ runId }) => runId !== null)).toBe(true);
  expect((await scene.run('status', '--max-age', '26h')).code).toBe(0);
});
