import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { memoryFolder, run, stored, syncScene } from '../support/in-process.ts';
import { labelOf, MovingList } from '../support/moving-list.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

const hour = 3_600_000;

type End = 'front' | 'end';

/** A list in the order of its times that changes only between two runs, if it has no script, and a mirror of it. */
async function scene(grownAt: End = 'end', count = 600, pageSize = 50) {
  const folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new MovingList(count, pageSize, 2);
  if (grownAt === 'front') list.entries.reverse();
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
  expect(await sync()).toMatchObject({ mode: 'full', completeness: 'proven' });
  return {
    list,
    path,
    sync,
    expectExact: () => expect(stored(path)).toEqual(list.entries.map(labelOf).sort()),
    add: (count: number) => {
      for (let n = 0; n < count; n++) addNewest(list, grownAt);
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function addNewest(list: MovingList, end: End): void {
  list.change({ kind: 'insert', at: end === 'front' ? 0 : list.entries.length });
}

/** Adds a record with a time between those of its neighbours. */
function addAt(list: MovingList, at: number): void {
  const [before, after] = [list.entries[at - 1], list.entries[at]];
  const reference = ((before?.reference ?? -1) + (after?.reference ?? -1)) / 2;
  list.entries.splice(at, 0, { uid: 1_000_000 + at, reference, title: 0 });
}

const bothEnds = ['front', 'end'] as const;

describe('an incremental sync', () => {
  test.each(bothEnds)('of a list with nothing new takes one request: %s', async end => {
    await using s = await scene(end);
    const outcome = await s.sync();
    expect(outcome).toMatchObject({
      status: 'completed',
      mode: 'incremental',
      completeness: 'incremental',
      requests: 1,
    });
    expect(outcome).toMatchObject({ inserted: 0, unchanged: 600, totalRecordCount: 600 });
    s.expectExact();
  });

  test.each(bothEnds)('finds what is new at the %s, by few requests', async end => {
    await using s = await scene(end);
    for (const grownBy of [1, 7, 50, 130]) {
      s.add(grownBy);
      const outcome = await s.sync();
      expect(outcome).toMatchObject({ mode: 'incremental', inserted: grownBy, removed: 0, updated: 0 });
      expect(outcome.requests).toBeLessThanOrEqual(2 + Math.ceil(grownBy / 40));
      s.expectExact();
      expect(await s.sync()).toMatchObject({ mode: 'incremental', inserted: 0 });
    }
    const { signal } = new AbortController();
    expect((await verifyMirror(s.path, { limit: 5, signal })).differences).toEqual([]);
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({
      mode: 'full',
      completeness: 'proven',
      inserted: 0,
      walks: 1,
    });
  });

  test.each(bothEnds)('includes what arrives while it is read: %s', async end => {
    await using s = await scene(end);
    for (let hours = 0; hours < 4; hours++) {
      s.add(120);
      const before = s.list.entries.length;
      s.list.script = Array.from({ length: 10 }, (_, n) => [
        { kind: 'insert', at: end === 'front' ? 0 : before + n },
      ]);
      expect(await s.sync()).toMatchObject({ mode: 'incremental', completeness: 'incremental', removed: 0 });
    }
    expect(await s.sync()).toMatchObject({ mode: 'incremental' });
    s.expectExact();
  });

  test('is not made of a list of a few pages, because a full sync takes hardly more requests', async () => {
    await using s = await scene('end', 120);
    s.add(1);
    expect(await s.sync()).toMatchObject({ mode: 'full', inserted: 1, requests: 3 });
    s.expectExact();
  });

  test('does not see that an older record was replaced: the next full sync does', async () => {
    await using s = await scene();
    s.list.change({ kind: 'delete', at: 100 });
    addAt(s.list, 90);
    expect(await s.sync()).toMatchObject({ mode: 'incremental', inserted: 0, removed: 0 });
    expect(stored(s.path)).toHaveLength(600);
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({
      mode: 'full',
      inserted: 1,
      removed: 1,
      completeness: 'proven',
    });
    s.expectExact();
  });

  test.each([
    ['the total fell', list => list.change({ kind: 'delete', at: 100 })],
    ['the newest record is gone', list => list.change({ kind: 'delete', at: 599 })],
    ['a record near the end was edited', list => list.change({ kind: 'update', at: 598 })],
    ['an older record arrived near the end', list => addAt(list, 599)],
    ['an older record arrived far from the end', list => addAt(list, 100)],
    [
      'a record is gone and one arrived',
      list => {
        list.change({ kind: 'delete', at: 100 });
        addNewest(list, 'end');
      },
    ],
    [
      'records arrived at the end and far from it',
      list => {
        addAt(list, 100);
        addNewest(list, 'end');
      },
    ],
    [
      'the newest record is gone and one arrived',
      list => {
        list.change({ kind: 'delete', at: 599 });
        addNewest(list, 'end');
      },
    ],
    ['a record arrived that is the same as one near the end', list => list.change({ kind: 'twin', at: 597 })],
  ] satisfies [string, (list: MovingList) => void][])(
    'gives way to a full sync if %s',
    async (_why, change) => {
      await using s = await scene();
      change(s.list);
      expect(await s.sync()).toMatchObject({ mode: 'full', status: 'completed' });
      s.expectExact();
      expect(await s.sync()).toMatchObject({ mode: 'incremental', requests: 1 });
    },
  );

  test('updates the newest record if it was edited', async () => {
    await using s = await scene();
    s.list.change({ kind: 'update', at: 599 });
    expect(await s.sync()).toMatchObject({
      mode: 'incremental',
      status: 'completed',
      updated: 1,
      inserted: 0,
    });
    s.expectExact();
  });

  test('is not made if a full sync is due, asked for, or the pages have another size', async () => {
    await using s = await scene();
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({ mode: 'full' });
    expect(await s.sync({ fullEveryMs: 1 })).toMatchObject({ mode: 'full' });
    expect(await s.sync()).toMatchObject({ mode: 'incremental' });
    expect(await s.sync({ pageSize: 40 })).toMatchObject({ mode: 'full' });
    s.expectExact();
  });

  test.each(['honest', 'silent', 'refuse'] as const)(
    'is made, too, if the page size that is set is more than the service allows: %s',
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

  test('is not made after a run that was not sure', async () => {
    await using s = await scene();
    s.list.script = Array.from({ length: 200 }, (_, n) =>
      [1, 2, 3, 4].map(each => ({
        kind: 'move' as const,
        at: (n * 37 + each * 131) % 600,
        to: (n * 71) % 600,
      })),
    );
    expect(await s.sync({ fullEveryMs: 0 })).toMatchObject({ completeness: 'unproven', mode: 'full' });
    expect(await s.sync()).toMatchObject({ mode: 'full', status: 'completed' });
    s.expectExact();
  });
});
