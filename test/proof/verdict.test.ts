import { describe, expect, test } from 'vitest';
import type { EndProbe } from '../../src/proof/end.ts';
import type { FinishedWalk } from '../../src/proof/finished-walk.ts';
import type { Standing } from '../../src/proof/standing.ts';
import { judge, judgeEnd } from '../../src/proof/verdict.ts';
import { cut, noStanding, Pages, standing } from './pages.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRST';
/** So many requests that no further walks are given away. */
const dear = { requests: 100, isSizeFixed: false };

/** Sizes of which this one is asked for first. */
const first = (size: number) => expect.toSatisfy((sizes: readonly number[]) => sizes[0] === size);

function verdictOf(
  walksOf: (pages: Pages) => FinishedWalk[],
  {
    mirror = noStanding,
    bounds = dear,
    pages = new Pages(),
  }: Partial<{ mirror: Standing; bounds: typeof dear; pages: Pages }> = {},
) {
  return judge(walksOf(pages), mirror, bounds, pages.itemsOf);
}

describe('a first reading', () => {
  test('proves nothing where the mirror is none', () => {
    expect(verdictOf(pages => [pages.walk(alphabet, 5)])).toMatchObject({
      kind: 'again',
      next: { pageSizes: [] },
    });
  });

  test('that comes to what the mirror holds is the second one', () => {
    const verdict = verdictOf(pages => [pages.walk(alphabet, 5)], { mirror: standing(alphabet) });
    expect(verdict).toEqual({ kind: 'proven', changed: 'nothing' });
  });

  test('of one page is followed by one that cuts the list in the same way', () => {
    expect(verdictOf(pages => [pages.walk('ABC', 5)])).toMatchObject({ next: { pageSizes: [] } });
  });

  test('is the first one of two, whatever it comes to, where the mirror counts as none', () => {
    const mirror = standing(alphabet, { isReading: false });
    expect(verdictOf(pages => [pages.walk(alphabet, 5)], { mirror })).toMatchObject({ kind: 'again' });
  });

  test('that holds a record twice is no second one, though the sum is right', () => {
    const list = `A${alphabet}`;
    const twice = `${alphabet}A`;
    const mirror = standing(list, { mayRepeat: true });
    expect(verdictOf(pages => [pages.walk(twice, 5)], { mirror })).toMatchObject({
      kind: 'again',
      next: { pageSizes: first(3), isTrusting: false },
    });
  });

  test.each<[what: string, unread: number[]]>([
    ['all pages were read', []],
    ['the others are known', [1, 2]],
  ])('that shows a rejected record on two pages is no second one, where %s', (_what, unread) => {
    // The service lists Z, too, which the second x hides; by what can be read, nothing is missing.
    const pages = new Pages({ known: 'ABCDEFGHIJKL', rejected: 'x', hasIds: true });
    const walk = pages.walkOver(cut('ABCxDEFGHIJKLx', 4), 4, 14, true, unread);
    const mirror = standing('ABCDEFGHIJKL');
    expect(verdictOf(() => [walk], { mirror, pages })).toMatchObject({ kind: 'again' });
    const once = pages.walkOver(cut('ABCxDEFGHIJKL', 4), 4, 13, true, unread);
    expect(verdictOf(() => [once], { mirror, pages }).kind).toBe('proven');
  });

  test('that is the last proven sweep byte for byte is the second one, with repeats, too', () => {
    const pages = new Pages();
    const list = `${alphabet}A`;
    const pageDigests = pages.still(list, 5).map(({ digest }) => digest);
    const mirror = standing(list, { mayRepeat: true, pageDigests });
    expect(verdictOf(() => [pages.walk(list, 5)], { mirror, pages })).toEqual({
      kind: 'proven',
      changed: 'nothing',
    });
    const swapped = [pageDigests[1], pageDigests[0], ...pageDigests.slice(2)] as string[];
    expect(
      verdictOf(() => [pages.walk(list, 5)], { mirror: { ...mirror, pageDigests: swapped }, pages }),
    ).toMatchObject({ kind: 'again' });
  });

  test('of which all is new asks for all of it once more', () => {
    const walksOf = (pages: Pages) => [pages.walk('', 5), pages.walk(alphabet, 5)];
    expect(verdictOf(walksOf)).toMatchObject({
      kind: 'confirm',
      growth: { places: { from: 0, to: 20 } },
      changed: 'anything',
    });
  });

  test('of a list that has only grown at its learnt end asks for that end once more', () => {
    const pages = new Pages({ known: alphabet });
    const mirror = standing(alphabet, { counting: 'front' });
    expect(verdictOf(() => [pages.walk(`${alphabet}UV`, 5)], { mirror, pages })).toMatchObject({
      kind: 'confirm',
      growth: { places: { from: 19, to: 22 } },
    });
  });
});

describe('two readings', () => {
  const without = (letter: string) => alphabet.replace(letter, '');

  test.each<[what: string, walksOf: (pages: Pages) => FinishedWalk[], kind: string]>([
    ['that agree prove the list', pages => [pages.walk(alphabet, 5), pages.walk(alphabet, 5)], 'proven'],
    ['that differ prove nothing', pages => [pages.walk(alphabet, 5), pages.walk(without('C'), 5)], 'again'],
    [
      'with another between them that was contradicted prove the list',
      pages => [pages.walk(alphabet, 5), pages.walkOver(cut(alphabet, 5), 5, 21), pages.walk(alphabet, 5)],
      'proven',
    ],
    [
      'with another between them that differs prove the list',
      pages => [pages.walk(alphabet, 5), pages.walk(without('C'), 5), pages.walk(alphabet, 5)],
      'proven',
    ],
    [
      'of which the last is contradicted prove nothing',
      pages => [pages.walk(alphabet, 5), pages.walk(alphabet, 5), pages.walkOver(cut(alphabet, 5), 5, 19)],
      'unproven',
    ],
    [
      'whose records repeat on two pages prove nothing by the same cuts',
      pages => [pages.walk(`${alphabet}A`, 5), pages.walk(`${alphabet}A`, 5)],
      'again',
    ],
    [
      'whose records repeat on two pages prove the list by other cuts',
      pages => [pages.walk(`${alphabet}A`, 5), pages.walk(`${alphabet}A`, 3)],
      'proven',
    ],
    [
      'of which only one repeats a record on two pages prove the list',
      pages => [pages.walk(`${alphabet}A`, 5), pages.walk(`A${alphabet}`, 5)],
      'proven',
    ],
    [
      'whose records repeat on neighbouring pages need a third',
      pages => [pages.walk('AAABCDEFGHIJ', 2), pages.walk('AAABCDEFGHIJ', 1)],
      'again',
    ],
    [
      'of which only one repeats records on neighbouring pages prove the list',
      pages => [pages.walk('ABCDEFGHIJA', 6), pages.walk('ABCDEFGHIJA', 4)],
      'proven',
    ],
    [
      'whose records repeat on neighbouring pages prove the list with a third',
      pages => [4, 5, 3].map(size => pages.walk('AAAAAAABCDE', size)),
      'proven',
    ],
  ])('%s', (_what, walksOf, kind) => expect(verdictOf(walksOf).kind).toBe(kind));

  test('of which one had pages that were all alike need a third, though nothing repeats on neighbouring pages', () => {
    const alternating = (pages: Pages) => pages.walkOver(cut('ABABAB', 1), 1, 6);
    const alike = (pages: Pages) => pages.walkOver(cut('ABABAB', 2), 2, 6);
    expect(verdictOf(pages => [alternating(pages), alike(pages)]).kind).toBe('again');
    const third = (pages: Pages) => pages.walk('ABABAB', 4);
    expect(verdictOf(pages => [alternating(pages), alike(pages), third(pages)]).kind).toBe('proven');
  });

  test('by the same cuts are unproven where the service allows no others', () => {
    const verdict = verdictOf(pages => [pages.walk(`${alphabet}A`, 5), pages.walk(`${alphabet}A`, 5)], {
      bounds: { ...dear, isSizeFixed: true },
    });
    expect(verdict).toMatchObject({
      kind: 'unproven',
      reason: expect.stringContaining('serves none that was not tried'),
    });
  });

  describe('of which one by another page size held other records', () => {
    const lie = `${alphabet.slice(0, -1)}A`;
    const threeReadings = (pages: Pages) => [pages.walk(lie, 5), pages.walk(alphabet, 4), pages.walk(lie, 3)];

    test('prove nothing until that one was made again', () => {
      expect(verdictOf(threeReadings)).toMatchObject({ kind: 'again', next: { pageSizes: first(4) } });
    });

    test('prove what they say where that one comes to it', () => {
      const walksOf = (pages: Pages) => [...threeReadings(pages), pages.walk(lie, 4)];
      expect(verdictOf(walksOf).kind).toBe('proven');
    });

    test('prove nothing where that one stays as it was, which is then proven', () => {
      const walksOf = (pages: Pages) => [...threeReadings(pages), pages.walk(alphabet, 4)];
      expect(verdictOf(walksOf).kind).toBe('proven');
      const stillLying = (pages: Pages) => [...walksOf(pages).slice(0, 3), pages.walk(`${lie}A`, 4)];
      expect(verdictOf(stillLying).kind).toBe('unproven');
    });
  });

  test('that were told an id twice are no readings, and name it', () => {
    const pages = new Pages({ hasIds: true });
    const verdict = verdictOf(() => [pages.walk('ABCDEFb', 3)], { pages });
    expect(verdict).toMatchObject({
      kind: 'again',
      reason: `id ${'b'.charCodeAt(0)} stands in the list twice`,
      // An order that is not stable may cut the list better elsewhere.
      next: { pageSizes: first(2) },
    });
  });

  test('that were sent another page than was asked for show that pageNo is ignored, where both were', () => {
    const honest = (pages: Pages) => pages.walk('ABCDEFG', 3);
    const astray = (pages: Pages) => pages.walkOver(cut('ABCDEFG', 3), 3, 7, false, [], 1);
    expect(verdictOf(pages => [astray(pages), astray(pages)]).kind).toBe('pagination_ignored');
    expect(verdictOf(pages => [astray(pages), honest(pages)]).kind).toBe('again');
    expect(verdictOf(pages => [honest(pages), astray(pages)]).kind).toBe('again');
    const last = cut('ABCDEFG', 3).at(-1) ?? [];
    const repeating = (pages: Pages) => pages.walkOver([...cut('ABCDEFG', 3), last], 3, 7);
    expect(verdictOf(pages => [repeating(pages), astray(pages)]).kind).toBe('pagination_ignored');
  });

  test('in which every second page was another one once more show it, too, where they are contradicted', () => {
    const halves = (total: number) => (pages: Pages) => pages.walkOver(cut('ABCABCDEFDEF', 3), 3, total);
    const twice = (total: number) => (pages: Pages) => [halves(total)(pages), halves(total)(pages)];
    expect(verdictOf(twice(13)).kind).toBe('pagination_ignored');
    expect(verdictOf(twice(12)).kind).toBe('again');
    const whole = (pages: Pages) => pages.walkOver(cut('ABCDEFGHIJKL', 3), 3, 13);
    expect(verdictOf(pages => [whole(pages), whole(pages)]).kind).toBe('again');
  });

  test('in which all pages were alike, whatever their size, show that pageNo is ignored', () => {
    const same = (size: number) => (pages: Pages) =>
      pages.walkOver(
        Array.from({ length: 21 }, () => [...alphabet.slice(0, size)]),
        size,
        20,
      );
    const verdict = verdictOf(pages => [same(5)(pages), same(4)(pages)]);
    expect(verdict.kind).toBe('pagination_ignored');
    expect(verdictOf(pages => [same(5)(pages)])).toMatchObject({
      kind: 'again',
      next: { pageSizes: first(3) },
    });
  });

  test('in which all pages were alike prove a list whose records are all alike', () => {
    const walksOf = (sizes: number[]) => (pages: Pages) => sizes.map(size => pages.walk('AAAAAAAA', size));
    expect(verdictOf(walksOf([2]))).toMatchObject({ kind: 'again', next: { pageSizes: first(1) } });
    expect(verdictOf(walksOf([2, 3]))).toMatchObject({ kind: 'again', next: { pageSizes: first(1) } });
    expect(verdictOf(walksOf([2, 3, 4])).kind).toBe('proven');
  });

  test.each([
    [[8, 4, 2], 'again'],
    [[4, 2, 1], 'again'],
    [[8, 4, 3], 'proven'],
    [[8, 4, 16], 'proven'],
  ])('with a record twice where pages of all sizes end prove nothing: %j', (sizes, kind) => {
    const list = 'ABCDEFGHHIJKLMNO';
    expect(verdictOf(pages => sizes.map(size => pages.walk(list, size))).kind).toBe(kind);
  });
});

test('readings whose only page came again, and then pages that are alike, show that pageNo is ignored', () => {
  const only = (pages: Pages) => pages.walkOver(cut('ABCABC', 3), 3, 3);
  const alike = (pages: Pages) => pages.walkOver(cut('ABABAB', 2), 2, 3);
  expect(verdictOf(pages => [only(pages), alike(pages)]).kind).toBe('pagination_ignored');
  expect(verdictOf(pages => [pages.walk('ABC', 3), alike(pages)]).kind).toBe('again');
});

describe('an end that is open', () => {
  const walksOf = (pages: Pages, size = 3) => [pages.walkOver(cut('ABCABC', 3), size, 3)];
  const judged = (probe: EndProbe, size = 3) => judgeEnd(walksOf(new Pages(), size), probe, noStanding, dear);

  test('is one where pages of another size end with the same record', () => {
    expect(judged('holds', 5)).toBe(null);
    expect(judgeEnd([new Pages().walk('ABC', 3)], 'holds', noStanding, dear)).toBe(null);
  });

  test('leaves the list to another reading also where they do, if the page is full, and pageCount knows of more', () => {
    expect(judged('holds')).toMatchObject({
      kind: 'again',
      next: { pageSizes: first(2), isTrusting: false },
    });
  });

  test('leaves the list to another reading by that size where they do not', () => {
    expect(judged('differs')).toMatchObject({
      kind: 'again',
      next: { pageSizes: first(2), isTrusting: false },
    });
  });

  test('is in doubt where the service has one page size only if the page is full, and pageCount knows of more', () => {
    expect(judged('one-size')).toMatchObject({ kind: 'unproven' });
    expect(judged('one-size', 5)).toBe(null);
    expect(judged('one-unknown-size', 5)).toMatchObject({ kind: 'unproven' });
    const pages = new Pages();
    const once = [...walksOf(pages), pages.walk('ABC', 3)];
    expect(judgeEnd(once, 'one-size', noStanding, dear)).toMatchObject({ kind: 'unproven' });
    const undenied = [new Pages().walk('ABC', 3)];
    expect(judgeEnd(undenied, 'one-size', noStanding, dear)).toBe(null);
  });
});

test('walks that never agree end unproven: three, eight while they are cheap', () => {
  const walksOf = (count: number) => (pages: Pages) =>
    Array.from({ length: count }, (_, n) => pages.walk(`${alphabet}${n}`, 5));
  expect(verdictOf(walksOf(2)).kind).toBe('again');
  expect(verdictOf(walksOf(3)).kind).toBe('unproven');
  const bounds = { ...dear, requests: 10 };
  expect(verdictOf(walksOf(7), { bounds }).kind).toBe('again');
  expect(verdictOf(walksOf(8), { bounds }).kind).toBe('unproven');
});
