import { expect, test } from 'vitest';
import { answerTo, entriesAt, type Manner } from './answers.ts';
import { plainList, plainService, type ServiceScenario } from './scenario.ts';
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
