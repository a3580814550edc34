import { expect, test } from 'vitest';
import { Random } from '../../examples/sample-service/random.ts';
import { beginOf, reachOf } from '../../src/proof/answers.ts';
import type { Direction } from '../../src/proof/keys.ts';
import type { ListFacts } from '../../src/proof/log.ts';
import { ofRow, PageItems, showing } from '../../src/proof/page-items.ts';
import { overlapOf, Plan, Ties } from '../../src/proof/plan.ts';
import { type Entry, proven } from './play-proof.ts';

// Lists in pages of 100 in which a tenth of the jobs have 1 to so many exports of one time.

const largest = 100;
const overlap = overlapOf(largest, 'content');

function countsOf(total: number, most: number, seed: number): number[] {
  const random = new Random(seed);
  const counts: number[] = [];
  for (let left = total; left > 0; left -= counts.at(-1) as number)
    counts.push(Math.min(left, random.chance(0.1) ? random.integer(1, most) : 1));
  return counts;
}

/** The ties of such a list, whose keys are some hundreds. */
const tiesIn = (counts: readonly number[], least = overlap) =>
  new Ties(
    counts
      .map((count, key) => ({ key: key * 100, count, before: sumOf(counts.slice(0, key)) }))
      .filter(({ count }) => count >= least),
  );

const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);

/** A list, and what a mirror knows of its ties. */
function listOf(direction: Direction, counts: readonly number[]) {
  const list: Entry[] = counts.flatMap((count, key) =>
    Array.from({ length: count }, (_, at) => ({ key: key * 100, content: key * 1_000 + at })),
  );
  if (direction === 'down') list.reverse();
  const known: Partial<ListFacts> = {
    largest,
    overlap,
    learnt: { direction, lateness: 0, extraOverlap: 0, outliers: 0 },
    ties: tiesIn(counts),
  };
  return { list, known };
}

/** The least number of pages of at most 100 that have each record inside with one before it, if each begins as late as it can. */
function leastPages(counts: readonly number[]): number {
  const begins = counts.flatMap((count, at) => {
    const before = counts.slice(0, at).reduce((sum, other) => sum + other, 0);
    return new Array<number>(count).fill(before - 1);
  });
  let [reach, pages] = [largest, 1];
  while (reach <= begins.length) {
    const begin = Math.min(begins[reach - 1] as number, reach - 1);
    const ends = Array.from({ length: largest }, (_, at) => (Math.floor(begin / (at + 1)) + 1) * (at + 1));
    reach = Math.max(...ends.filter((_, at) => begin > at));
    pages++;
  }
  return pages;
}

test('a tie is found by each of its places, from both ends', () => {
  const ties = tiesIn([1, 3, 2, 4], 3);
  const places = (direction: Direction, total: number) =>
    Array.from({ length: total }, (_, place) => ties.around(place, direction, total));
  const [a, b] = [
    { from: 1, to: 4 },
    { from: 6, to: 10 },
  ];
  expect(places('up', 11)).toEqual([null, a, a, a, null, null, b, b, b, b, null]);
  // One more has come in front of a list of the newest.
  const [c, d] = [
    { from: 1, to: 5 },
    { from: 7, to: 10 },
  ];
  expect(places('down', 11)).toEqual([null, c, c, c, c, null, null, d, d, d, null]);
});

test('an edge of a tie on a page shows by how many places it has moved', () => {
  const ties = tiesIn([3, 1, 4, 2, 3], 3);
  const shiftOn = (direction: Direction, begin: number, keys: readonly number[], total: number) => {
    const page = new PageItems(
      '',
      Float64Array.from(keys),
      showing(keys.map((_, at) => ({ record: ofRow(at + 1) }))),
      'content',
    );
    return ties.shiftOn({ index: 1, size: begin, total, page }, direction);
  };
  // The list is 0 0 0 100 200 200 200 200 300 300 400 400 400.
  expect(shiftOn('up', 3, [100, 200, 200], 13)).toBe(0);
  expect(shiftOn('up', 2, [100, 200, 200], 12)).toBe(-1);
  expect(shiftOn('up', 5, [200, 200, 200, 300], 13)).toBe(0);
  expect(shiftOn('up', 4, [200, 200, 200, 300], 12)).toBe(-1);
  expect(shiftOn('up', 4, [200, 200, 200], 13)).toBeNull();
  expect(shiftOn('up', 8, [300, 300], 13)).toBeNull();
  expect(shiftOn('up', 8, [], 13)).toBeNull();
  // From the other end two more have come, and places count from the new end.
  expect(shiftOn('down', 6, [300, 200, 200], 15)).toBe(0);
  expect(shiftOn('down', 5, [300, 200, 200], 13)).toBe(1);
  expect(shiftOn('down', 10, [200, 100], 15)).toBe(0);
});

test.each<Direction>(['up', 'down'])(
  'pages are planned where ties are after many records went: %s',
  direction => {
    const counts = countsOf(4_237, 40, 3);
    const { list, known } = listOf(direction, counts);
    const planned = proven({ list, identity: 'content' }, known).asked.length;
    // All went from the first pages, or from the last ones.
    list.splice(direction === 'up' ? 10 : 4_000, 200);
    const { result, asked } = proven({ list, identity: 'content' }, known);
    expect(result.verdict).toMatchObject({ rule: 'key', isProven: true });
    expect(asked.length).toBeLessThanOrEqual(planned + 6);
  },
);

test('many ties are found', () => {
  const ties = tiesIn(new Array(1_000).fill(3), 3);
  expect(ties.around(2_000, 'up', 3_000)).toEqual({ from: 1_998, to: 2_001 });
});

test.each<Direction>(['up', 'down'])(
  'no page ends inside a tie that is not inside the next one: %s',
  direction => {
    for (let seed = 1; seed <= 5; seed++) {
      const total = 4_237;
      const ties = tiesIn(countsOf(total, 40, seed));
      const plan = new Plan(largest, overlap, { tieAt: place => ties.around(place, direction, total) });
      const pages = plan.to(total) ?? [];
      expect(plan.unheld).toBe(0);
      expect(plan.byTies).toEqual(pages);
      for (const [at, page] of pages.slice(0, -1).entries()) {
        const tie = ties.around(reachOf(page) - 1, direction, total);
        const next = pages[at + 1];
        if (next === undefined) continue;
        expect(beginOf(next)).toBeLessThan(tie?.from ?? reachOf(page) - 2);
        expect(reachOf(next)).toBeGreaterThan(tie?.to ?? 0);
      }
    }
  },
);

test.each<Direction>(['up', 'down'])('a still list with ties takes as few pages as can be: %s', direction => {
  for (let seed = 1; seed <= 10; seed++) {
    const counts = countsOf(4_237, 40, seed);
    const { list, known } = listOf(direction, counts);
    const { result, asked } = proven({ list, identity: 'content' }, known);
    expect(result.verdict).toMatchObject({ rule: 'key', isProven: true });
    // One more can be for the overlap of pages; the front of a list of the newest is looked at once more.
    const least = leastPages(direction === 'up' ? counts : counts.toReversed());
    expect(asked.length).toBeLessThanOrEqual(least + (direction === 'up' ? 1 : 2));
    const without = proven({ list, identity: 'content' }, { ...known, ties: null });
    expect(without.asked.length).toBeGreaterThan(1.45 * 43);
  }
});

test.each<Direction>(['up', 'down'])(
  'a list without ties is planned as if nothing was known: %s',
  direction => {
    const { list, known } = listOf(direction, countsOf(4_237, 2, 1));
    const { result, asked } = proven({ list, identity: 'content' }, known);
    expect(result.planned).toBeNull();
    expect(asked).toEqual(proven({ list, identity: 'content' }, { ...known, ties: null }).asked);
  },
);

test.each<Direction>(['up', 'down'])('places that are no longer right are repaired: %s', direction => {
  const { list, known } = listOf(direction, countsOf(4_237, 40, 3));
  for (let at = 10; at < list.length; at += 400) list.splice(at, 1);
  const { result, asked } = proven({ list, identity: 'content' }, known);
  expect(result.verdict).toMatchObject({ rule: 'key', isProven: true });
  expect(asked.length).toBeLessThanOrEqual(1.6 * 43);
});

test('if as many records went as pages overlap by without need, no page is missed', () => {
  const { list, known } = listOf('up', countsOf(4_237, 40, 3));
  const planned = proven({ list, identity: 'content' }, known).asked;
  list.splice(0, overlap - 2);
  const { result, asked } = proven({ list, identity: 'content' }, known);
  expect(result.verdict.isProven).toBe(true);
  expect(asked.length).toBeLessThanOrEqual(planned.length);
});

test('if pages can hold few of the ties, full scans have to agree, without a try by windows', () => {
  const { list, known } = listOf('up', new Array(50).fill(96));
  const { result, asked } = proven({ list, identity: 'content' }, known);
  expect(result.verdict).toMatchObject({ rule: 'agreement', isProven: true });
  expect(asked.length).toBeLessThanOrEqual(2.1 * 48);
});

test.each([
  ['two change places', 30],
  ['one has no key', null],
])('ties have no part in a plan if the order has exceptions: %s', (_what, other) => {
  const { list, known } = listOf('up', countsOf(4_237, 40, 1));
  const one = list[20] as Entry;
  if (other === null) list[20] = { ...one, key: Number.NaN };
  else [list[20], list[other]] = [list[other] as Entry, one];
  expect(proven({ list, identity: 'content' }, known).result.planned).toBeNull();
});

test('a reading that goes on plans what was planned, and the rest as it can', () => {
  const total = 4_237;
  const ties = tiesIn(countsOf(total, 40, 1));
  const tieAt = (place: number) => ties.around(place, 'up', total);
  const planned = new Plan(largest, overlap, { tieAt }).to(total) ?? [];
  expect(new Plan(largest, overlap, { planned }).to(total)).toEqual(planned);
  const longer = new Plan(largest, overlap, { planned }).to(total + 500) ?? [];
  expect(longer.slice(0, planned.length)).toEqual(planned);
  expect(reachOf(longer.at(-1) ?? { index: 0, size: 0 })).toBeGreaterThan(total + 500);
});
