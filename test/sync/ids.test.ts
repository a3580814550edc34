import { describe, expect, test } from 'vitest';
import { beforeEachAnswer } from '../support/answers.ts';
import { casesOf } from '../support/cases.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { feedOf, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection, type SampleItem, webhook } from '../support/stand-in.ts';

// Collections and webhooks: a record is its id.

describe('an id that is in a list twice with two texts', () => {
  const twice = (name: string) => collection(3, { name });
  const namesOf = (path: string) =>
    sqlite(path, 'SELECT name FROM collections WHERE id = 3').map(({ name }) => name);

  const places: readonly [where: string, at: number, maxPageSize: number, count: number][] = [
    ['far apart', 45, 10, 60],
    ['on one page', 6, 10, 60],
    // On a page of 50 there can be one record that is out of order.
    ['far apart on large pages', 170, 50, 200],
    ['on two neighbouring pages', 10, 10, 60],
  ];

  test.each(casesOf(places, 2))(
    'is told, and its row keeps its text over five runs: %s',
    async (_where, at, maxPageSize, count) => {
      await using scene = await setScene({ maxPageSize }, { exports: 3, collections: count });
      const { collections } = scene.service.lists;
      collections[2] = twice('First');
      collections.splice(at, 0, twice('Second'));
      for (let run = 1; run <= 5; run++) {
        const synced = await scene.sync('--full');
        const outcome = synced.of('collections');
        expect({ run, code: synced.code, ...outcome }).toMatchObject({
          code: 3,
          completeness: 'unproven',
          inserted: run === 1 ? count : 0,
          updated: 0,
          removed: 0,
        });
        expect(outcome.reason).toMatch(/\bid 3\b/);
        expect(namesOf(scene.database)).toEqual(['First']);
      }
      expect(feedOf(scene.database, 'collections')).toEqual({ insert: count });
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
    },
  );

  test('leaves the row of the mirror as it was, also if its text comes second', async () => {
    await using scene = await setScene({ maxPageSize: 10 }, { exports: 3, collections: 60 });
    const { collections } = scene.service.lists;
    collections[2] = twice('Known');
    await scene.sync('--full');
    collections[2] = twice('New');
    collections.splice(45, 0, twice('Known'));
    for (let run = 2; run <= 4; run++) {
      const synced = await scene.sync('--full');
      expect(synced.of('collections')).toMatchObject({ completeness: 'unproven', updated: 0, inserted: 0 });
      expect(namesOf(scene.database)).toEqual(['Known']);
    }
    // When the list is right again, its text counts.
    collections.splice(45, 1);
    const synced = await scene.sync('--full');
    expect(synced.code).toBe(0);
    expect(synced.of('collections')).toMatchObject({ completeness: 'proven', updated: 1 });
    expect(namesOf(scene.database)).toEqual(['New']);
  });
});

test('an id that goes and comes back with other texts while the list is read hides no other record', async () => {
  // In no visible order, and by pages of one size.
  const isServed = (size: number | null) => size === null || size === 4 || size === 1000;
  await using scene = await setScene({ maxPageSize: 4 }, { exports: 3 });
  scene.env.DOCMIRROR_CONCURRENCY = '1';
  scene.service.options.faults = ({ resource, pageSize }) =>
    resource !== 'collections' || isServed(pageSize) ? undefined : { kind: 'status', status: 400 };
  const others = [3, 9, 1, 5].map(id => collection(id));
  scene.service.lists.collections = [collection(7), ...others];
  expect(await scene.sync('--full')).toMatchObject({ code: 0 });
  // When the second page is asked for, the first record is gone, and the last one has moved to the first page.
  beforeEachAnswer(scene.service, 'collections', ({ n, from }) => {
    scene.service.lists.collections =
      from === 0 ? [collection(7, { name: `Answer ${n}` }), ...others] : others;
  });
  const synced = await scene.sync('--full');
  expect(synced.code).toBe(3);
  expect(synced.of('collections')).toMatchObject({ completeness: 'unproven', removed: 0 });
  expect(sqlite(scene.database, 'SELECT id FROM collections WHERE id = 5')).toEqual([{ id: 5 }]);
});

const edits = [
  ['webhooks', webhook, { description: 'Edited' }],
  ['collections', collection, { name: 'Edited' }],
] as const;

test.each(casesOf(edits, 2))(
  'the least id that a number can be is an id as others are: %s',
  async (list, make, edit) => {
    await using scene = await setScene();
    const id = Number.MIN_SAFE_INTEGER;
    scene.service.lists[list].unshift(make(4, { id }));
    const count = scene.service.lists[list].length;
    const sync = async () => {
      const synced = await scene.sync('--full');
      expect(synced).toMatchObject({ code: 0, stderr: '' });
      expect(synced.of(list)).toMatchObject({ completeness: 'proven', reason: null });
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
      expectExactMirror(scene.database, scene.service);
      return synced.of(list);
    };
    expect(await sync()).toMatchObject({ inserted: count });
    expect(await sync()).toMatchObject({ inserted: 0, updated: 0, unchanged: count });
    Object.assign(scene.service.lists[list][0] as SampleItem, edit);
    expect(await sync()).toMatchObject({ inserted: 0, updated: 1, removed: 0 });
    scene.service.lists[list].shift();
    expect(await sync()).toMatchObject({ inserted: 0, updated: 0, removed: 1 });
    expect(feedOf(scene.database, list)).toEqual({ insert: count, update: 1, removal: 1 });
  },
);
