import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { memoryFolder } from '../support/in-process.ts';
import { answerTo, entriesAt, type Manner } from './answers.ts';
import { Gate } from './gate.ts';
import { contentOf } from './records.ts';
import {
  type Change,
  type ListName,
  plainList,
  plainService,
  type ServiceScenario,
  type Traffic,
  trafficKinds,
} from './scenario.ts';
import { tamperWith } from './tamper.ts';
import { World } from './world.ts';

const synced = ['document-exports', 'collections', 'webhooks'] as const;

function worldOf(size: number, doubles: { at: number; of: number; text: number }[] = []): World {
  const exports = { ...plainList, size, doubles };
  return new World({
    connections: 6,
    synced,
    lists: { 'document-exports': exports, collections: { ...plainList, size }, webhooks: plainList },
  });
}

function manner(service: Partial<ServiceScenario>, ties = 1): Manner {
  return { ...plainService, ...service, ties, nameOf: id => `C${id}`, answerNo: 1, lag: 0 };
}

const ask = (pageNo: number | null, pageSize: number | null) =>
  ({ list: 'document-exports', pageNo, pageSize }) as const;

/** The body of an answer, or what it is instead of a page. */
function say(
  world: World,
  pageNo: number | null,
  pageSize: number | null,
  service: Partial<ServiceScenario>,
) {
  const answer = answerTo(ask(pageNo, pageSize), world.lists['document-exports'], manner(service));
  if (answer.kind !== 'page') return answer.kind;
  const { items, pagination } = JSON.parse(answer.body);
  return {
    titles: items.map((item: { sourceDocumentReference: string }) => item.sourceDocumentReference),
    pagination,
  };
}

test('ties show one record twice and hide another, in the same way for the same cut and in another way for another', () => {
  const { entries } = worldOf(40).lists['document-exports'];
  const walk = (size: number) => {
    const offsets = Array.from({ length: Math.ceil(40 / size) }, (_, at) => at * size);
    return offsets.flatMap(offset => entriesAt(entries, offset, size, 8)).map(({ uid }) => uid);
  };
  expect(walk(7)).toHaveLength(40);
  expect(new Set(walk(7)).size).toBeLessThan(40);
  expect(walk(7)).toEqual(walk(7));
  expect(walk(7).toSorted()).not.toEqual(walk(5).toSorted());
  // If no page ends inside a group, no record is hidden.
  expect(new Set(entriesAt(entries, 0, 40, 8)).size).toBe(40);
});

test('a reordered list has the same records in another order: turned round, or as it is drawn', () => {
  const world = worldOf(20);
  const { entries } = world.lists['document-exports'];
  const before = entries.map(({ uid }) => uid);
  const reorder = (to: number) => {
    world.change({ list: 'document-exports', kind: 'reorder', at: 0, to });
    return entries.map(({ uid }) => uid);
  };
  expect(reorder(2)).toEqual(before.toReversed());
  const drawn = reorder(3);
  expect(drawn).not.toEqual(before.toReversed());
  expect(drawn.toSorted((a, b) => a - b)).toEqual(before);
});

test('a list in order stays in order, whatever is inserted, brought back or made equal', () => {
  for (const order of ['up', 'down'] as const) {
    const list = { ...plainList, size: 12, order, ties: 3 };
    const world = new World({
      connections: 6,
      synced,
      lists: { 'document-exports': list, collections: { ...list, ties: 1 }, webhooks: plainList },
    });
    const change = (name: ListName, kind: Change['kind'], at: number) =>
      world.change({ list: name, kind, at, to: at * 5 });
    for (const name of ['document-exports', 'collections'] as const) {
      for (const kind of [
        'insert',
        'remove',
        'twin',
        'equalize',
        'rekey',
        'return',
        'move',
        'reorder',
      ] as const)
        for (let at = 1; at < 9; at += 3) change(name, kind, at);
      for (const [number, kind] of trafficKinds.entries()) {
        if (kind !== (order === 'up' ? 'grow-front' : 'grow-back')) world.pass(name, kind, number);
      }
      const keys = world.lists[name].entries.map(({ key }) => (order === 'up' ? key : -key));
      expect(keys).toEqual(keys.toSorted((a, b) => a - b));
      expect(keys.length).toBeGreaterThan(12);
    }
  }
});

test('traffic appends, removes and edits, at the ends that it names', () => {
  const after = (kind: Traffic['kind']) => {
    const world = worldOf(6);
    const list = world.lists.collections;
    const uids = list.entries.map(({ uid }) => uid);
    world.pass('collections', kind, 1);
    const now = list.entries.map(({ uid }) => uid);
    return { uids, now, texts: list.entries.map(({ text }) => text) };
  };
  const front = after('grow-front');
  expect(front.now.slice(1)).toEqual(front.uids);
  const back = after('grow-back');
  expect(back.now.slice(0, -1)).toEqual(back.uids);
  const slide = after('slide');
  expect(slide.now.slice(0, -1)).toEqual(slide.uids.slice(1));
  expect(after('queue').now).toHaveLength(6);
  expect(after('remove').now).toHaveLength(5);
  expect(after('insert').now).toHaveLength(7);
  expect(after('edit').texts.toSorted()).toEqual([0, 0, 0, 0, 0, 1]);
  const touched = after('touch');
  expect(touched.texts).toEqual([0, 0, 0, 0, 0, 1]);
  expect(touched.now.toSorted((a, b) => a - b)).toEqual(touched.uids);
});

test('a replica shows the list as it was some changes ago, with its total', () => {
  const world = worldOf(3);
  for (let time = 0; time < 2; time++)
    world.change({ list: 'document-exports', kind: 'insert', at: 0, to: -1 });
  const answer = answerTo(ask(null, 9), world.lists['document-exports'], { ...manner({}), lag: 2 });
  if (answer.kind !== 'page') throw new Error(answer.kind);
  expect(answer.shown.entries).toHaveLength(3);
  expect(JSON.parse(answer.body).pagination.totalRecordCount).toBe(3);
  expect(world.lists['document-exports'].version - answer.shown.version).toBe(2);
});

test('a page beyond the end is answered in each of the four ways', () => {
  const world = worldOf(5);
  expect(say(world, 9, 3, { beyond: 'missing' })).toBe('missing');
  expect(say(world, 9, 3, { beyond: 'empty' })).toMatchObject({ titles: [], pagination: { pageNo: 9 } });
  expect(say(world, 9, 3, { beyond: 'zeroed' })).toMatchObject({
    titles: [],
    pagination: { pageNo: 9, totalRecordCount: 0 },
  });
  expect(say(world, 9, 3, { beyond: 'last-own' })).toMatchObject({
    titles: ['R4', 'R5'],
    pagination: { pageNo: 2 },
  });
  expect(say(world, 9, 3, { beyond: 'last-asked' })).toMatchObject({
    titles: ['R4', 'R5'],
    pagination: { pageNo: 9 },
  });
});

test('a size is honoured, clamped or ignored with and without a word, or refused', () => {
  const world = worldOf(9);
  const sized = (sizes: ServiceScenario['sizes']) =>
    say(world, null, 6, { sizes, maxSize: 4, defaultSize: 2 });
  expect(sized('honoured')).toMatchObject({ titles: { length: 6 }, pagination: { pageSize: 6 } });
  expect(sized('clamped')).toMatchObject({ titles: { length: 4 }, pagination: { pageSize: 4 } });
  expect(sized('clamped-silently')).toMatchObject({ titles: { length: 4 }, pagination: { pageSize: 6 } });
  expect(sized('refused')).toBe('refused');
  expect(sized('ignored')).toMatchObject({ titles: { length: 2 }, pagination: { pageSize: 2 } });
  expect(sized('ignored-silently')).toMatchObject({ titles: { length: 2 }, pagination: { pageSize: 6 } });
  expect(sized('stepped')).toMatchObject({ titles: { length: 4 }, pagination: { pageSize: 4 } });
});

test('totals are right, capped, late or off, and pageCount follows them or not', () => {
  const world = worldOf(9);
  world.change({ list: 'document-exports', kind: 'insert', at: 0, to: 0 });
  const counts = (
    kind: ServiceScenario['totals']['kind'],
    by: number,
    pageCounts: ServiceScenario['pageCounts'],
  ) => {
    const said = say(world, null, 4, { totals: { kind, by }, pageCounts });
    return typeof said === 'string' ? said : [said.pagination.totalRecordCount, said.pagination.pageCount];
  };
  expect(counts('right', 0, 'right')).toEqual([10, 3]);
  expect(counts('capped', 8, 'right')).toEqual([8, 3]);
  expect(counts('capped', 8, 'capped')).toEqual([8, 2]);
  expect(counts('stale', 1, 'right')).toEqual([9, 3]);
  expect(counts('off', -1, 'too-high')).toEqual([9, 5]);
});

test('a list that is capped ends with its third page, and its total can say the same', () => {
  const world = worldOf(9);
  const capped = { pageNo: 'capped', totals: { kind: 'served', by: 0 } } as const;
  expect(say(world, 3, 2, capped)).toMatchObject({
    titles: ['R5', 'R6'],
    pagination: { totalRecordCount: 6 },
  });
  expect(say(world, 4, 2, capped)).toMatchObject({ titles: [], pagination: { pageNo: 4 } });
  expect(say(world, 4, 2, { ...capped, beyond: 'missing' })).toBe('missing');
  expect(say(world, 2, 5, capped)).toMatchObject({
    titles: { length: 4 },
    pagination: { totalRecordCount: 9 },
  });
});

test('an ignored pageNo always serves the first page, and lies about it or not', () => {
  const world = worldOf(9);
  const firstPage = ['R1', 'R2', 'R3'];
  expect(say(world, 3, 3, { pageNo: 'ignored' })).toMatchObject({
    titles: firstPage,
    pagination: { pageNo: 1 },
  });
  expect(say(world, 3, 3, { pageNo: 'ignored-lying' })).toMatchObject({
    titles: firstPage,
    pagination: { pageNo: 3 },
  });
});

test('a clamped pageNo serves no page after the second, and lies about it or not', () => {
  const world = worldOf(9);
  const titles = ['R4', 'R5', 'R6'];
  expect(say(world, 2, 3, { pageNo: 'clamped' })).toMatchObject({ titles, pagination: { pageNo: 2 } });
  expect(say(world, 3, 3, { pageNo: 'clamped' })).toMatchObject({ titles, pagination: { pageNo: 2 } });
  expect(say(world, 9, 3, { pageNo: 'clamped-lying' })).toMatchObject({ titles, pagination: { pageNo: 9 } });
});

test('a list knows how many of each content were listed at every instant and at one', () => {
  const world = worldOf(3, [{ at: 1, of: 0, text: 0 }]);
  const list = world.lists['document-exports'];
  const [first, , third] = list.entries.map(entry => contentOf(list.name, entry) ?? '');
  world.beginRun();
  const change = (kind: 'remove' | 'twin' | 'return', at: number) =>
    world.change({ list: list.name, kind, at, to: -1 });
  change('remove', 2);
  change('return', 0);
  change('twin', 0);
  const { least, most } = list.lifetimes();
  expect([least, list.now, most].map(each => each.get(first ?? ''))).toEqual([2, 3, 3]);
  expect([least, list.now, most].map(each => each.get(third ?? ''))).toEqual([0, 1, 1]);
});

test('what an old answer shows counts as listed since then, and a record that moves is gone for an instant', () => {
  const world = worldOf(3);
  const list = world.lists['document-exports'];
  const [first = '', second = ''] = list.entries.map(entry => contentOf(list.name, entry) ?? '');
  world.change({ list: list.name, kind: 'remove', at: 0, to: 0 });
  const { version } = list;
  world.change({ list: list.name, kind: 'return', at: 0, to: 0 });
  world.beginRun();
  expect(list.lifetimes().least.get(first)).toBe(1);
  list.noteAnswer(version);
  expect(list.lifetimes().least.get(first)).toBe(0);
  world.change({ list: list.name, kind: 'move', at: 1, to: 2 });
  expect(list.lifetimes().least.get(second)).toBe(0);
});

test('no two records of a list with ids ever share one', () => {
  const world = worldOf(4);
  const list = world.lists.collections;
  for (const kind of ['twin', 'equalize', 'rekey', 'remove', 'return', 'insert'] as const) {
    for (let at = 0; at < 3; at++) world.change({ list: 'collections', kind, at, to: at + 1 });
  }
  const keys = list.entries.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});

test('answers overtake each other by the drawn order, which is the same each time', async () => {
  const orderOf = async (schedule: number) => {
    const [served, delivered]: [number[], number[]] = [[], []];
    const gate = new Gate((question: number) => served.push(question) && question, schedule);
    const { signal } = new AbortController();
    const asked = [1, 2, 3, 4, 5].map(async question => delivered.push(await gate.ask(question, signal)));
    await Promise.all(asked);
    return { served, delivered };
  };
  expect(await orderOf(0)).toEqual({ served: [1, 2, 3, 4, 5], delivered: [1, 2, 3, 4, 5] });
  expect(await orderOf(7)).toEqual(await orderOf(7));
  const orders = await Promise.all([1, 2, 3, 4, 5, 6].map(orderOf));
  expect(orders.some(({ served, delivered }) => served.join() !== delivered.join())).toBe(true);
});

test('a request that is given up ends at once', async () => {
  const gate = new Gate((question: number) => question, 0);
  const controller = new AbortController();
  const asked = gate.ask(1, controller.signal);
  controller.abort(new Error('given up'));
  await expect(asked).rejects.toThrow('given up');
  await expect(gate.ask(2, new AbortController().signal)).resolves.toBe(2);
});

test('tampering reaches tables of shortcuts, and no other', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'tampered.sqlite');
  const rows = (sql: string) => {
    using database = {
      it: new Database(path),
      [Symbol.dispose]() {
        this.it.close();
      },
    };
    return database.it.prepare(sql).raw().all();
  };
  const database = new Database(path);
  database.exec(`
    CREATE TABLE _known (place INTEGER PRIMARY KEY, list TEXT, sum BLOB) STRICT;
    CREATE TABLE _mirror (name TEXT); CREATE TABLE __drizzle_migrations (hash TEXT); CREATE TABLE collections (id INTEGER PRIMARY KEY);
    CREATE VIEW _seen AS SELECT 1 AS one;
    INSERT INTO _mirror VALUES ('a'); INSERT INTO __drizzle_migrations VALUES ('b'); INSERT INTO collections VALUES (1);`);
  const all = [
    [1, 'page 1', 'aa'],
    [2, 'page 2', 'bb'],
    [3, 'page 3', 'cc'],
  ];
  const known = () => rows('SELECT place, list, hex(sum) FROM _known').map(row => String(row));
  const after = (kind: 'change' | 'copy' | 'delete' | 'swap', column: number) => {
    database.exec('DELETE FROM _known');
    for (const [place, list, hex] of all)
      database.prepare('INSERT INTO _known VALUES (?, ?, unhex(?))').run(place, list, hex);
    tamperWith(path, { kind, table: 0, row: 0, column });
    return known();
  };
  expect(after('change', 1)).toEqual(['1,page 2,AA', '2,page 2,BB', '3,page 3,CC']);
  expect(after('change', 2)).toEqual(['1,page 1,AB', '2,page 2,BB', '3,page 3,CC']);
  expect(after('copy', 2)).toEqual(['1,page 1,AA', '2,page 2,AA', '3,page 3,CC']);
  expect(after('swap', 0)).toEqual(['1,page 1,BB', '2,page 2,AA', '3,page 3,CC']);
  expect(after('delete', 0)).toEqual(['2,page 2,BB', '3,page 3,CC']);
  expect([...rows('SELECT * FROM _mirror'), ...rows('SELECT * FROM collections')]).toEqual([['a'], [1]]);
  database.close();
});
