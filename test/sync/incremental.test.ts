import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CancelledError } from '../../src/errors.ts';
import type { PageSource } from '../../src/sync/ports.ts';
import { memoryFolder, run, stored, syncScene } from '../support/in-process.ts';
import { labelOf, MovingList } from '../support/moving-list.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

const hour = 3_600_000;

/** A list that stands still between what the test does to it, and a mirror of it. */
async function scene(count = 200, pageSize = 10) {
  const folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new MovingList(count, pageSize, 2);
  const sync = async (options: { fullEveryMs?: number; pageSize?: number } = {}) => {
    list.play(list.script);
    list.script = [];
    const summary = await run(path, list, {
      resources: ['document-exports'],
      pageSize: options.pageSize ?? pageSize,
      fullEveryMs: options.fullEveryMs ?? hour,
    });
    const [outcome] = summary.resources;
    if (outcome === undefined) throw new Error('no outcome');
    return outcome;
  };
  await sync();
  return {
    list,
    path,
    sync,
    expectExact: () => expect(stored(path)).toEqual(list.entries.map(labelOf).sort()),
    add: (count: number, at: 'front' | 'end') => {
      for (let n = 0; n < count; n++)
        list.change({ kind: 'insert', at: at === 'front' ? 0 : list.entries.length });
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe('an incremental sync', () => {
  test('of a list with nothing new takes two requests', async () => {
    await using s = await scene();
    const outcome = await s.sync();
    expect(outcome).toMatchObject({
      status: 'completed',
      mode: 'incremental',
      completeness: 'incremental',
      requests: 2,
    });
    expect(outcome).toMatchObject({ inserted: 0, unchanged: 200, totalRecordCount: 200 });
    s.expectExact();
  });

  test.each(['front', 'end'] as const)('finds what is new at the %s, by few requests', async at => {
    await using s = await scene();
    for (const grownBy of [1, 7, 10, 25]) {
      s.add(grownBy, at);
      const outcome = await s.sync();
      expect(outcome).toMatchObject({ mode: 'incremental', inserted: grownBy, removed: 0, updated: 0 });
      expect(outcome.requests).toBeLessThanOrEqual(4 + Math.ceil(grownBy / 10));
      s.expectExact();
      expect(await s.sync()).toMatchObject({ mode: 'incremental', requests: 2, inserted: 0 });
    }
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({
      mode: 'full',
      completeness: 'proven',
      inserted: 0,
      walks: 1,
    });
  });

  test('writes no record where nothing is new', async () => {
    await using s = await scene();
    const dump = () =>
      ['document_exports', 'connections', 'record_history', '_known_pages'].map(table =>
        sqlite(s.path, `SELECT * FROM ${table}`),
      );
    const before = dump();
    await s.sync();
    expect(dump()).toEqual(before);
  });

  test.each([
    [
      'a deletion and an insertion in the middle',
      'full next time',
      [
        [
          { kind: 'delete', at: 100 },
          { kind: 'insert', at: 90 },
        ],
      ],
    ],
  ] as const)('does not see %s that keeps both ends and the count: %s does', async (_what, _then, script) => {
    await using s = await scene();
    for (const move of script.flat()) s.list.change(move);
    expect(await s.sync()).toMatchObject({ mode: 'incremental', inserted: 0, removed: 0 });
    expect(stored(s.path)).toHaveLength(200);
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({
      mode: 'full',
      inserted: 1,
      removed: 1,
      completeness: 'proven',
    });
    s.expectExact();
  });

  test.each([
    ['the total fell', (list: MovingList) => list.change({ kind: 'delete', at: 100 })],
    ['the first page changed', (list: MovingList) => list.change({ kind: 'update', at: 3 })],
    ['the last page changed', (list: MovingList) => list.change({ kind: 'update', at: 198 })],
    [
      'a record went and one came at the front',
      (list: MovingList) => {
        list.change({ kind: 'delete', at: 100 });
        list.change({ kind: 'insert', at: 0 });
      },
    ],
    ['new records stand in the middle', (list: MovingList) => list.change({ kind: 'insert', at: 100 })],
    [
      'new records stand at both ends',
      (list: MovingList) => {
        list.change({ kind: 'insert', at: 0 });
        list.change({ kind: 'insert', at: list.entries.length });
      },
    ],
    [
      'two came at the front and one went in the middle',
      (list: MovingList) => {
        list.change({ kind: 'insert', at: 0 });
        list.change({ kind: 'insert', at: 0 });
        list.change({ kind: 'delete', at: 100 });
      },
    ],
    [
      'a twin of a known record came at the front',
      (list: MovingList) => list.change({ kind: 'twin', at: 0 }),
    ],
    [
      'a new record stands on two pages',
      (list: MovingList) => {
        for (let n = 0; n < 12; n++) list.change({ kind: 'insert', at: list.entries.length });
        list.change({ kind: 'twin', at: 205 });
        list.change({ kind: 'move', at: 205, to: 212 });
      },
    ],
    ['the order is another one', (list: MovingList) => list.entries.reverse()],
    [
      'far more is new than known',
      (list: MovingList) => {
        for (let n = 0; n < 250; n++) list.change({ kind: 'insert', at: 0 });
      },
    ],
  ] as const)('gives way to a full sweep where %s', async (_why, change) => {
    await using s = await scene();
    change(s.list);
    expect(await s.sync()).toMatchObject({ mode: 'full', status: 'completed' });
    s.expectExact();
    expect(await s.sync()).toMatchObject({ mode: 'incremental', requests: 2 });
  });

  test('gives way to a full sweep where the list grows while it is read', async () => {
    await using s = await scene();
    s.add(3, 'front');
    s.list.script = [[], [{ kind: 'insert', at: 0 }]];
    expect(await s.sync()).toMatchObject({ mode: 'full' });
    expect(await s.sync()).toMatchObject({ status: 'completed' });
    s.expectExact();
  });

  test('is not made where a full sweep is due, asked for, or the pages are cut in another way', async () => {
    await using s = await scene();
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({ mode: 'full' });
    expect(await s.sync({ fullEveryMs: 1 })).toMatchObject({ mode: 'full' });
    expect(await s.sync()).toMatchObject({ mode: 'incremental' });
    expect(await s.sync({ pageSize: 7 })).toMatchObject({ mode: 'full' });
    s.expectExact();
  });

  test.each(['honest', 'silent', 'refuse'] as const)(
    'is made, too, where the page size that is set is more than the service allows: %s',
    async clamp => {
      await using scene = await setScene({ maxPageSize: 50, clamp }, { exports: 600 });
      const sync = async () => {
        const synced = await syncScene(scene, { pageSize: 1000, fullEveryMs: hour });
        return synced.of('document-exports');
      };
      expect(await sync()).toMatchObject({ mode: 'full', completeness: 'proven', pageSize: 50 });
      scene.service.lists['document-exports'].push(documentExport(601));
      const outcome = await sync();
      expect(outcome).toMatchObject({ mode: 'incremental', inserted: 1, pageSize: 50 });
      expect(outcome.requests).toBeLessThan(6);
      expectExactMirror(scene.database, scene.service);
    },
  );

  test('is never made over another service', async () => {
    await using s = await scene();
    Object.assign(s.list, { baseUrl: 'https://another.example' });
    expect(await s.sync()).toMatchObject({ mode: 'full' });
    expect(await s.sync()).toMatchObject({ mode: 'incremental' });
  });

  test('is not made of a list of a few pages, nor after a run that was not sure', async () => {
    await using small = await scene(100, 10);
    expect(await small.sync()).toMatchObject({ mode: 'full', walks: 1, requests: 11 });
    await using s = await scene();
    s.list.script = Array.from({ length: 200 }, (_, n) => [{ kind: 'update' as const, at: (n * 37) % 199 }]);
    s.list.change({ kind: 'delete', at: 100 });
    expect(await s.sync()).toMatchObject({ completeness: 'unproven', mode: 'full' });
    expect(await s.sync()).toMatchObject({ mode: 'full', status: 'completed' });
    s.expectExact();
  });
});

test('a walk that was taken up again proves nothing alone: the second reading is whole, and an incremental sync may build on it', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new MovingList(200, 10, 2);
  const stop = new AbortController();
  const source: PageSource = {
    baseUrl: list.baseUrl,
    concurrency: 2,
    get traffic() {
      return list.traffic;
    },
    async getPage(definition, request) {
      if (list.requests === 15) stop.abort(new CancelledError('SIGINT'));
      stop.signal.throwIfAborted();
      return list.getPage(definition, request);
    },
  };
  const options = { resources: ['document-exports' as const], pageSize: 10, fullEveryMs: hour };
  list.play([]);
  const first = await run(path, source, { ...options, signal: stop.signal });
  expect(first.status).toBe('cancelled');
  list.play([]);
  const second = await run(path, list, options);
  expect(second.resources[0]).toMatchObject({ mode: 'full', completeness: 'proven', walks: 2 });
  // Both readings whole would be 20 pages and an end each.
  expect(second.resources[0]?.requests).toBeGreaterThanOrEqual(21);
  expect(second.resources[0]?.requests).toBeLessThan(33);
  list.play([]);
  expect((await run(path, list, options)).resources[0]).toMatchObject({ mode: 'incremental' });
});

test('a page is forgotten that the last sweep no longer found', async () => {
  await using s = await scene(200, 10);
  for (let gone = 0; gone < 20; gone++) s.list.change({ kind: 'delete', at: s.list.entries.length - 1 });
  await s.sync();
  expect(sqlite(s.path, 'SELECT max(place) AS last, count(*) AS pages FROM _known_pages')).toEqual([
    { last: 17, pages: 18 },
  ]);
});
