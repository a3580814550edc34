import { expect, test } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import { boundsOf } from './bounds.ts';
import { Choices } from './choices.ts';
import * as core from './core.ts';
import { earlyBounds } from './early-bounds.ts';
import { playEveryGrowth } from './every-growth.ts';
import { playEveryWorld } from './every-world.ts';
import type { NamedBound } from './named-bound.ts';
import { playSettle, settleBounds } from './settle-worlds.ts';

test.each(casesOf(boundsOf('short'), 2))(
  'no record is lost, invented or wrongly removed in any small world: $name',
  bound => {
    const count = bound.isGrowth ? playEveryGrowth(core, bound) : playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.worlds).toBeGreaterThan(0);
  },
);

test.each(casesOf(earlyBounds('short'), 2))(
  'no record is lost, invented or wrongly removed if a reading ends early and the next run goes on with it: $name',
  bound => {
    const count = playEveryWorld(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.claims.get('key (gone on with)')).toBeGreaterThan(0);
  },
);

test('what is judged is since when a list is proven: as of its last part some would be wrong', () => {
  const bound = earlyBounds('short').find(({ name }) => name.includes('rise')) as NamedBound;
  const count = playEveryWorld(core, { ...bound, isJudgedByLastPart: true }, true);
  expect(count.wrong.get('kept although gone, by key (gone on with)')).toBeGreaterThan(0);
});

test.each(settleBounds.slice(0, 2))(
  'a record has the texts of one answer, and no row too many: $name',
  bound => {
    const count = playSettle(core, bound);
    expect([...count.smallest.values()]).toEqual([]);
    expect(count.worlds).toBeGreaterThan(0);
  },
);

test('a share of the worlds has each in which at most one thing happens, and over time each other one', () => {
  const waysOf = (choices: Choices) => {
    const ways: string[] = [];
    do {
      const begin = choices.next(2);
      choices.begin();
      ways.push([begin, ...Array.from({ length: 5 }, () => choices.next(3))].join(''));
    } while (choices.advance());
    return ways;
  };
  const all = waysOf(new Choices());
  expect(all).toHaveLength(2 * 3 ** 5);
  const isCalm = (way: string) => way.slice(1).replaceAll('0', '').length <= 1;
  const shares = Array.from({ length: 200 }, (_, number) => waysOf(new Choices(8, number)));
  for (const share of shares) expect(share.filter(isCalm)).toEqual(all.filter(isCalm));
  const restless = all.length - all.filter(isCalm).length;
  const played = shares.reduce((sum, share) => sum + share.length - share.filter(isCalm).length, 0);
  expect(played / shares.length / restless).toBeCloseTo(1 / 8, 1);
  expect([...new Set(shares.flat())].sort()).toEqual(all.sort());
});
