import { describe, expect, test } from 'vitest';
import { doubtOfEnd, isEndOpen, otherSizeOf } from '../../src/proof/end.ts';
import type { FinishedWalk } from '../../src/proof/finished-walk.ts';
import { cut, Pages } from './pages.ts';

/** A walk over a list that stands still, whose last page comes again for any that is not there. */
function repeating(pages: Pages, list: string, size: number): FinishedWalk {
  const all = cut(list, size);
  return pages.walkOver([...all, all.at(-1) ?? []], size, list.length);
}

describe('the end of a list', () => {
  test.each<[what: string, walksOf: (pages: Pages) => FinishedWalk[], isOpen: boolean]>([
    ['is no question where nothing came after it', pages => [pages.walk('ABCDE', 2)], false],
    ['is open where the last page came again', pages => [repeating(pages, 'ABCDE', 2)], true],
    [
      'is open where it came again in an earlier reading',
      pages => [repeating(pages, 'ABCDE', 2), pages.walk('ABCDE', 2)],
      true,
    ],
    [
      'is open where an earlier reading cut the list in the same way',
      pages => [repeating(pages, 'ABCDE', 2), repeating(pages, 'ABCDE', 2)],
      true,
    ],
    [
      'is open where an earlier reading had another size and as many pages',
      pages => [repeating(pages, 'ABCDE', 4), repeating(pages, 'ABCDE', 3)],
      true,
    ],
    [
      'is closed by an earlier reading that agrees and had another number of pages',
      pages => [repeating(pages, 'ABCDE', 2), repeating(pages, 'ABCDE', 3)],
      false,
    ],
    [
      'is not closed by one whose pages are all alike, as is what came after them under its number',
      pages => [repeating(pages, 'AA', 1), repeating(pages, 'AA', 2)],
      true,
    ],
    [
      'is closed by one whose pages are all alike where what came after them says that it is another page',
      pages => [pages.walkOver([['A'], ['A'], ['A']], 1, 2, false, [], 2), repeating(pages, 'AA', 2)],
      false,
    ],
    [
      'is closed by one whose pages are all alike where nothing came after them',
      pages => [pages.walk('AA', 1), repeating(pages, 'AA', 2)],
      false,
    ],
    [
      'is not closed by one that does not agree',
      pages => [repeating(pages, 'ABCDF', 2), repeating(pages, 'ABCDE', 3)],
      true,
    ],
    [
      'is not closed by one that is contradicted',
      pages => [pages.walkOver(cut('ABCDEF', 2), 2, 5), repeating(pages, 'ABCDE', 3)],
      true,
    ],
  ])('%s', (_what, walksOf, isOpen) => {
    const pages = new Pages();
    expect(isEndOpen(walksOf(pages), pages.itemsOf)).toBe(isOpen);
  });

  test.each<[what: string, more: string, pairOf: (pages: Pages) => FinishedWalk[], isDoubted: boolean]>([
    [
      'after records beyond a total',
      'F',
      pages => [repeating(pages, 'ABCDE', 2), pages.walk('ABCDE', 3)],
      true,
    ],
    [
      'where no records came beyond it',
      '',
      pages => [repeating(pages, 'ABCDE', 2), pages.walk('ABCDE', 3)],
      false,
    ],
    ['where no page came again', 'F', pages => [pages.walk('ABCDE', 2), pages.walk('ABCDE', 3)], false],
  ])('a page that came again is in doubt: %s', (_what, more, pairOf, isDoubted) => {
    const pages = new Pages();
    const earlier = pages.walkOver(cut(`ABCDE${more}`, 5), 5, 5);
    const pair = pairOf(pages);
    expect(doubtOfEnd(pair, [earlier, ...pair]) !== null).toBe(isDoubted);
  });

  test.each([
    [12, 5, 3],
    [12, 4, 2],
    [3, 1000, 2],
    [1, 1000, 1],
    [12, 1, 2],
  ])('is looked at, of %i records in pages of %i, by pages of %i', (count, size, other) => {
    const list = 'ABCDEFGHIJKL'.slice(0, count);
    expect(otherSizeOf(repeating(new Pages(), list, size).account)).toBe(other);
  });
});
