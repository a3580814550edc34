import { expect, test } from 'vitest';
import type { Answer } from '../../src/proof/answers.ts';
import type { Direction } from '../../src/proof/keys.ts';
import { ofId, PageItems, showing } from '../../src/proof/page-items.ts';
import { causeInTotals, checkTotal, copiesIn, countedAnswers, miscount } from '../../src/proof/totals.ts';
import { endingAnswers } from '../../src/proof/witnesses.ts';

// What answers say of the end of a list and of its totals, by hand.

interface Shown {
  readonly index: number;
  readonly size: number;
  readonly total: number;
  /** How many records it shows, from its place on; those of the list if it is left out. */
  readonly count?: number;
  /** By how much its records are others than those at its place. */
  readonly shift?: number;
  readonly isRecalled?: boolean;
}

/** Answers of a list of 205 records, in the order in which they were asked for. */
const answersOf = (shown: readonly Shown[], length = 205): Answer[] =>
  shown.map(({ index, size, total, count, shift = 0, isRecalled = false }, at) => {
    const begin = index * size;
    const left = count ?? Math.max(0, Math.min(size, length - begin));
    const keys = Float64Array.from({ length: left }, (_, place) => begin + place + shift);
    const numbers = showing(Array.from(keys, id => ({ record: ofId(id) })));
    return {
      ...{ index, size, total, isRecalled, requestedSize: null, isSecondLook: false, isBeyond: false },
      ...{ asked: at, arrived: at, at: 0, wrong: null, oldestNewKeys: [], pageCount: null },
      page: new PageItems(`${[...keys]}`, keys, numbers, 'id'),
    };
  });

/** A cached total is less than the list; two pages of sizes that are served end it, and behind both is nothing. */
const stale: readonly Shown[] = [
  { index: 0, size: 20, total: 200 },
  { index: 1, size: 19, total: 200 },
  { index: 10, size: 20, total: 200 },
  { index: 11, size: 20, total: 200 },
  { index: 10, size: 19, total: 200 },
  { index: 11, size: 19, total: 200 },
  { index: 41, size: 5, total: 200 },
];
const [full19, end19, behind19, atEnd] = [1, 4, 5, 6].map(at => stale[at]) as [Shown, Shown, Shown, Shown];
const without = (...some: readonly Shown[]) => stale.filter(each => !some.includes(each));
const endsIn = (shown: readonly Shown[], length?: number, direction: Direction = 'up', isKnown = false) =>
  endingAnswers(countedAnswers(answersOf(shown, length)), direction, () => isKnown).size;

test('two pages that end alike end a list whose totals are less, if nothing is behind', () => {
  expect(endsIn(stale)).toBe(2);
});

test.each([
  ['a page behind it has records', [...without(behind19), { ...behind19, count: 3 }]],
  ['a page behind it was not asked for', without(behind19)],
  ['a record that did not fit into them is at their end', [...without(atEnd), { ...atEnd, count: 1 }]],
  ['the other page ends before it', [...without(end19), { ...end19, count: 14 }]],
  ['the other page ends with another record', [...without(end19), { ...end19, shift: 1 }]],
  ['one of the sizes is not served in full', without(full19)],
  ['a total is greater', [...stale, { index: 2, size: 20, total: 206 }]],
  ['a page before it is not full', [...stale, { index: 3, size: 18, total: 200, count: 17 }]],
])('they do not if %s', (_, shown) => {
  expect(endsIn(shown)).toBe(0);
});

test('they do not at a number that can be a limit', () => {
  const at = (length: number) => {
    const pages = [20, 19].flatMap(size => {
      const index = Math.floor(length / size);
      return [0, index, index + 1].map(each => ({ index: each, size, total: length - 3 }));
    });
    return endsIn([...pages, { index: length, size: 1, total: length - 3 }], length);
  };
  expect([1_001, 1_023, 3_001].map(at)).toEqual([2, 2, 2]);
  expect([1_024, 3_072, 7_000].map(at)).toEqual([0, 0, 0]);
});

test('a page that ends at its own total ends nothing while another one contradicts its total', () => {
  const shown = [
    { index: 0, size: 20, total: 205 },
    { index: 10, size: 20, total: 205 },
  ];
  expect(endsIn(shown)).toBe(1);
  expect(endsIn([...shown, { index: 5, size: 20, total: 205, count: 12 }])).toBe(0);
});

test('a total of an earlier run refutes no end', () => {
  const older = { index: 2, size: 20, total: 240, isRecalled: true };
  expect(endsIn([older, ...stale])).toBe(2);
});

const totals = (...all: readonly number[]) => answersOf(all.map(total => ({ index: 1, size: 20, total })));

test('totals that come back by turns are of two copies', () => {
  expect(copiesIn(totals(200, 190, 200, 190, 200, 190, 200, 190, 200))).toEqual([200, 190]);
});

test.each([
  ['records come and go', totals(200, 203, 199, 204, 198, 205, 197, 206, 196)],
  ['they differ by two', totals(...Array.from({ length: 40 }, (_, at) => 200 + 2 * (at % 2)))],
  ['many go at once and come back', totals(200, 190, 200, 200, 200, 190, 200, 200)],
])('totals of one list are not if %s', (_, answers) => {
  expect(copiesIn(answers)).toBeNull();
});

test('a last page with more records than its size contradicts a total of another moment', () => {
  const [answer] = answersOf([{ index: 1, size: 100, total: 206, count: 105 }]) as [Answer];
  expect(checkTotal({ ...answer, pageCount: 2 })).toBe('contradicts');
  expect(checkTotal({ ...answer, pageCount: 2, total: 205 })).toBe('agrees');
});

test('an end of the newest is not shown by a later one that lacks its last record, with the same total', () => {
  const claim = { index: 10, size: 20, total: 204, count: 4 };
  const shown = [
    { index: 0, size: 20, total: 204 },
    claim,
    { index: 9, size: 21, total: 204, count: 15, shift: -1 },
  ];
  const moving = { index: 1, size: 20, total: 205 };
  expect(endsIn([moving, ...shown], 205, 'down')).toBe(0);
  expect(endsIn([moving, ...shown], 205, 'up')).toBeGreaterThan(0);
});

test('a list has too few records by its totals, but for what they moved by', () => {
  expect(miscount(totals(205, 205), 204)).toEqual({
    code: 'total_exceeds_records',
    total: 205,
    shown: 204,
  });
  expect(miscount(totals(205, 205), 206)).toBeNull();
  expect(miscount(totals(205, 206, 205), 203)).toBeNull();
});

test('a total of an earlier run does not move it', () => {
  const answers = answersOf([
    { index: 1, size: 20, total: 235, isRecalled: true },
    { index: 2, size: 20, total: 205 },
    { index: 3, size: 20, total: 205 },
  ]);
  expect(miscount(answers, 190)).toMatchObject({ total: 205, shown: 190 });
});

/** A list that got a record while it was read: a full page, the page that ends the list, and one that ends it as well. */
const before = { index: 3, size: 20, total: 204 };
const end = { index: 10, size: 20, total: 205 };
const witness = { index: 8, size: 24, total: 205 };

test('in a list that moves, a page ends the list if a later one from another address ends alike', () => {
  for (const direction of ['up', 'down'] as const) {
    expect(endsIn([before, end, witness], 205, direction)).toBe(2);
    expect(endsIn([before, end], 205, direction)).toBe(0);
  }
});

test.each([
  ['it is the same page again', [before, end, end]],
  [
    'its total is greater, and the newest are first',
    [before, end, { ...witness, total: 206, count: 14, shift: -1 }],
  ],
  ['both can have been full, and lost a record', [before, end, { index: 8, size: 23, total: 205 }]],
  ['it ends with another record', [before, end, { ...witness, shift: 1_000 }]],
  ['all full pages count more records', [{ ...before, total: 207 }, end, witness]],
  [
    'a cache has kept it',
    [before, { ...witness, total: 204, count: 12 }, end, { ...witness, total: 204, count: 12 }],
  ],
])('but not if %s', (_, shown) => {
  expect(endsIn(shown, 205, 'down')).toBe(0);
});

test('a full page with a record as far from its end is a witness; of a list of the newest with a later total', () => {
  const near = { index: 16, size: 12, total: 205 };
  const later = { index: 0, size: 19, total: 205 };
  expect(endsIn([before, near, end], 205, 'up')).toBe(1);
  expect(endsIn([before, near, end, later], 205, 'down')).toBe(1);
  expect(endsIn([before, near, end], 205, 'down')).toBe(0);
  expect(endsIn([before, near, end, { ...later, total: 206 }], 205, 'down')).toBe(0);
  expect(endsIn([before, { ...near, total: 206 }, end, later], 205, 'down')).toBe(0);
});

test('a total that stands still is a witness, unless a record has come at the front', () => {
  const front = { index: 0, size: 20, total: 205 };
  const again = { index: 0, size: 19, total: 205 };
  expect(endsIn([front, end, again], 205, 'down')).toBe(1);
  expect(endsIn([front, end, { ...again, shift: -1 }], 205, 'down')).toBe(0);
  expect(endsIn([{ ...front, total: 1_000 }, end], 205, 'down')).toBe(0);
});

test('the oldest row that is known ends a list of the newest', () => {
  expect(endsIn([before, end], 205, 'down', true)).toBe(1);
  expect(endsIn([before, end], 205, 'up', true)).toBe(0);
});

test('a last page can have a few records more, and there is none behind it', () => {
  const front = { index: 0, size: 20, total: 205 };
  const last = { index: 9, size: 20, total: 205, count: 25 };
  expect(endsIn([front, last])).toBe(1);
  expect(endsIn([front, last, { index: 10, size: 20, total: 205, count: 0 }])).toBe(1);
  expect(endsIn([front, { ...last, count: 24 }])).toBe(0);
});

test('totals that are no counts are named', () => {
  const cause = (shown: readonly Shown[], length?: number) => causeInTotals(answersOf(shown, length));
  expect(
    cause([
      { index: 0, size: 20, total: 100 },
      { index: 5, size: 20, total: 100 },
    ]),
  ).toMatchObject({ kind: 'limit', total: 100, shown: 120 });
  expect(
    cause([
      { index: 0, size: 20, total: 100 },
      { index: 1, size: 19, total: 95 },
    ]),
  ).toMatchObject({ kind: 'pages', pages: 5 });
  const short = (index: number, count: number) => ({ index, size: 20, count, total: index * 20 + count });
  expect(cause([{ index: 0, size: 20, total: 205 }, short(1, 12), short(2, 15)])).toMatchObject({
    kind: 'deduced',
    total: 205,
    ends: [32, 55],
  });
  expect(
    cause([
      { index: 0, size: 20, total: 205 },
      { index: 10, size: 20, total: 205 },
    ]),
  ).toBeNull();
  const moving = [205, 204, 202].map(total => ({ index: 10, size: 20, count: total - 200, total }));
  expect(cause([{ index: 0, size: 20, total: 206 }, ...moving])).toBeNull();
});
