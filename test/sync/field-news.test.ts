import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import type { SampleItem } from '../support/stand-in.ts';

// What runs say of fields and times, which never changes an exit code by itself.

type List = 'document-exports' | 'collections' | 'webhooks';

/** Changes each record of a list; a field that is undefined is missing. */
function changeAll({ service }: Scene, list: List, change: (item: SampleItem, at: number) => object): void {
  service.lists[list] = service.lists[list].map((item, at) => {
    return { ...(item as SampleItem), ...change(item as SampleItem, at) };
  });
}

test.each([
  ['document-exports', 'sourceDocumentKind', undefined],
  ['document-exports', 'sourceDocumentTitle', null],
  ['document-exports', 'sourceConnection', null],
  ['collections', 'name', null],
  ['webhooks', 'events', undefined],
] as const)(
  '%s: %s that goes from all records is told in each run, and by status, until it is back',
  async (list, field, value) => {
    await using scene = await setScene({}, { exports: 30 });
    const before = structuredClone(scene.service.lists[list]);
    expect((await scene.sync()).of(list).reasons).toEqual([]);
    changeAll(scene, list, () => ({ [field]: value }));
    const gone = { code: 'field_gone', field, count: before.length };
    const isOfIdentity = field === 'sourceConnection';
    for (const _ of [1, 2, 3]) {
      const synced = await scene.sync();
      expect(synced.code).toBe(isOfIdentity ? 3 : 0);
      expect(synced.of(list).reasons).toContainEqual(gone);
      const { stdout } = await scene.run('status');
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
        `${field} had values, and is missing or null in all ${before.length} records`,
      );
    }
    expect((await scene.run('verify')).code).toBe(0);
    scene.service.lists[list] = before;
    expect((await scene.sync()).of(list).reasons).toEqual([]);
    expect((await scene.run('status')).stdout).not.toContain('had values');
  },
);

test('a field that is missing from the first run on is no news', async () => {
  await using scene = await setScene();
  changeAll(scene, 'document-exports', () => ({ destinationReference: undefined }));
  for (const _ of [1, 2]) expect((await scene.sync()).of('document-exports').reasons).toEqual([]);
});

test('a field beside the contract is told when it comes, and once when it goes', async () => {
  await using scene = await setScene();
  await scene.sync();
  changeAll(scene, 'collections', (_, at) => ({ owner: `o${at}` }));
  expect((await scene.sync()).of('collections').reasons).toEqual([
    { code: 'field_new', field: 'owner', count: 7 },
  ]);
  expect((await scene.sync()).of('collections').reasons).toEqual([]);
  changeAll(scene, 'collections', () => ({ owner: undefined }));
  expect((await scene.sync()).of('collections').reasons).toEqual([
    { code: 'field_gone', field: 'owner', count: 7 },
  ]);
  expect((await scene.sync()).of('collections').reasons).toEqual([]);
});

test('a field whose values differ in each run is told in each of them', async () => {
  await using scene = await setScene();
  await scene.sync();
  for (const run of [1, 2]) {
    changeAll(scene, 'collections', (_, at) => ({ url: `https://example.com/${at}?run=${run}` }));
    const { reasons } = (await scene.sync()).of('collections');
    if (run > 1) expect(reasons).toEqual([{ code: 'field_volatile', field: 'url', count: 7 }]);
  }
});

test('a field of the identity that goes from all exports makes no second row of any', async () => {
  await using scene = await setScene({}, { exports: 300 });
  await scene.sync();
  const rows = () =>
    sqlite(scene.database, 'SELECT id, source_document_version FROM document_exports ORDER BY id');
  const before = rows();
  changeAll(scene, 'document-exports', () => ({ sourceDocumentVersion: undefined }));
  const reasons = [
    { code: 'records_replaced', count: 300 },
    { code: 'field_gone', field: 'sourceDocumentVersion', count: 300 },
  ];
  for (const _ of [1, 2]) {
    const { code, of } = await scene.sync();
    expect([code, of('document-exports')]).toMatchObject([
      3,
      { reasons, completeness: null, status: 'partial' },
    ]);
    expect(rows()).toEqual(before);
  }
  const allowed = (await scene.sync('--allow-mass-removal')).of('document-exports');
  expect(allowed).toMatchObject({ inserted: 300, removed: 300 });
  expect(allowed.reasons).toEqual([{ code: 'field_gone', field: 'sourceDocumentVersion', count: 300 }]);
  expect(rows()).toHaveLength(300);
  expect((await scene.run('verify')).code).toBe(0);
});

test.each(['/Date(1700000000000)/', '0000-00-00', '05.01.2026 10:00:00'])(
  'a time written as %s is counted and told by each run, status and doctor, with an example',
  async time => {
    await using scene = await setScene({}, { exports: 40 });
    changeAll(scene, 'document-exports', (_, at) => (at < 3 ? { exportedAt: time } : {}));
    const unreadable = { code: 'time_unreadable', count: 3 };
    for (const _ of [1, 2]) {
      const { code, of } = await scene.sync();
      expect(code).toBe(0);
      expect(of('document-exports').reasons).toEqual([unreadable]);
    }
    for (const command of ['sync', 'status', 'doctor']) {
      const stdout = (await scene.run(command)).stdout.replaceAll(/\s+/g, ' ');
      expect([command, stdout]).toEqual([
        command,
        expect.stringContaining("the time of 3 records can't be read, for example"),
      ]);
      expect(stdout).toContain(time);
    }
    const receipts = sqlite(scene.database, 'SELECT receipt FROM sync_receipts');
    expect(JSON.stringify(receipts)).not.toContain(time);
  },
);
