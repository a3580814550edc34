import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer, Counting } from '../../src/proof/answer.ts';
import { acceptedSum, allPlaces, placesBeside, placesCounted, sumOfPlaces } from '../../src/proof/parts.ts';
import type { Segment } from '../../src/proof/strip.ts';
import { cut, Pages, sumOf } from './pages.ts';

describe('answers laid side by side', () => {
  test('have no direction while the list stands still', () => {
    const pages = new Pages();
    const strip = pages.strip(pages.still('ABCDEFG', 3), 3);
    expect(strip).toMatchObject({ counting: null, covered: 7 });
    expect(pages.labelsOf(strip).join('')).toBe('ABCDEFG');
  });

  test('of a list that grows at its front are counted from the back', () => {
    const pages = new Pages();
    const answers = [pages.answer(0, 6, 'FED'), pages.answer(1, 7, 'DCB'), pages.answer(2, 7, 'A')];
    const strip = pages.strip(answers, 3);
    expect(strip).toMatchObject({ counting: 'back', covered: 6 });
    expect(pages.labelsOf(strip).join('')).toBe('ABCDEF');
  });

  test('of a list that grows at its end are counted from the front, and what came is the bonus', () => {
    const pages = new Pages();
    const answers = [pages.answer(0, 6, 'ABC'), pages.answer(1, 7, 'DEF'), pages.answer(2, 7, 'G')];
    const strip = pages.strip(answers, 3);
    expect(strip).toMatchObject({ counting: 'front', covered: 7 });
    expect(pages.labelsOf(strip).join('')).toBe('ABCDEFG');
  });

  test('are counted from the back without an overlap only where that was learnt', () => {
    const pages = new Pages();
    const answers = [pages.answer(0, 4, 'DCB'), pages.answer(2, 7, 'A')];
    expect(pages.lay(answers, 3, 4, 'back')).toMatchObject({
      strip: { counting: 'back', covered: 4 },
      gaps: [],
    });
    expect(pages.lay(answers, 3, 4)).toMatchObject({
      strip: { counting: 'front', covered: 3 },
      gaps: [{ from: 3, to: 4 }],
    });
  });

  test('are counted from the back without an overlap, too, where the other direction does not hold', () => {
    const pages = new Pages();
    const answers = [pages.answer(0, 6, 'FED'), pages.answer(0, 9, 'IHG'), pages.answer(2, 9, 'CBA')];
    const strip = pages.strip(answers, 3, 6);
    expect(strip.counting).toBe('back');
    expect(pages.labelsOf(strip).join('')).toBe('ABCDEFGHI');
  });

  test('stand once, where one of them says what others say', () => {
    const pages = new Pages();
    const answers = [...pages.still('ABCDEFG', 3), ...pages.still('ABCDEFG', 3).slice(1)];
    expect(pages.strip(answers, 3).segments.map(({ answer }) => answer.index)).toEqual([0, 1, 2]);
  });

  test('conflict where neither direction holds', () => {
    const pages = new Pages();
    const answers = [pages.answer(0, 6, 'ABC'), pages.answer(0, 7, 'XYZ'), pages.answer(1, 7, 'DEF')];
    expect(pages.lay(answers, 3, 6)).toEqual({ kind: 'conflict' });
  });

  test('conflict where a list that stands still says two things of one place', () => {
    const pages = new Pages();
    expect(pages.lay([pages.answer(0, 3, 'ABC'), pages.answer(0, 3, 'ABX')], 3, 3)).toEqual({
      kind: 'conflict',
    });
  });

  test('can not be told where a page that overlaps was not read', () => {
    const pages = new Pages();
    const answers = [pages.unread(0, 6, 'FED'), pages.answer(1, 7, 'DCB'), pages.answer(2, 7, 'A')];
    expect(pages.lay(answers, 3, 6, 'back')).toMatchObject({ kind: 'strip', strip: { counting: 'front' } });
    const also = [pages.unread(0, 6, 'FED'), pages.answer(0, 7, 'GFE'), pages.answer(1, 7, 'DCB')];
    expect(pages.lay(also, 3, 6, 'back')).toEqual({ kind: 'unread' });
  });

  test('may overlap in a page that was not read, where it is the same one', () => {
    const pages = new Pages();
    const answers = [pages.unread(0, 6, 'ABC'), pages.unread(0, 7, 'ABC'), pages.answer(1, 7, 'DEF')];
    expect(pages.lay(answers, 3, 6)).toMatchObject({ kind: 'strip', strip: { counting: 'front' } });
  });

  test('have a gap where a place is missing that stood when the walk began, and none above', () => {
    const pages = new Pages();
    const answers = [pages.answer(0, 9, 'ABC'), pages.answer(2, 9, 'GHI')];
    expect(pages.lay(answers, 3, 9)).toMatchObject({ strip: { covered: 3 }, gaps: [{ from: 3, to: 6 }] });
    expect(pages.lay(answers, 3, 3)).toMatchObject({ strip: { covered: 3 }, gaps: [] });
  });
});

interface GrowingWalk {
  readonly counting: Counting;
  readonly count: number;
  readonly size: number;
  /** How many records come before each request. */
  readonly growth: readonly number[];
}

const growingWalk: fc.Arbitrary<GrowingWalk> = fc.record({
  counting: fc.constantFrom('front' as const, 'back' as const),
  count: fc.integer({ min: 1, max: 40 }),
  size: fc.integer({ min: 1, max: 7 }),
  growth: fc.array(fc.nat(3), { maxLength: 30 }),
});

/** Reads a list that grows at one end, page after page, until the total says that there is no further one. */
function read(pages: Pages, { counting, count, size, growth }: GrowingWalk): Answer[] {
  let list = Array.from({ length: count }, (_, at) => `r${at}`);
  if (counting === 'back') list.reverse();
  const answers: Answer[] = [];
  for (let index = 0; index * size < list.length; index++) {
    for (let n = index === 0 ? 0 : (growth[index] ?? 0); n > 0; n--) {
      const label = `r${list.length}`;
      list = counting === 'front' ? [...list, label] : [label, ...list];
    }
    answers.push(pages.answer(index, list.length, cut(list, size)[index] as string[]));
  }
  return answers;
}

describe('a strip of a list that grows at either end', () => {
  test('covers all that stood when the walk began, each record at its place, whatever order answers come in', () => {
    fc.assert(
      fc.property(growingWalk, fc.infiniteStream(fc.nat()), (walk, order) => {
        const pages = new Pages();
        const answers = read(pages, walk)
          .map(answer => ({ answer, at: order.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ answer }) => answer);
        const laid = pages.lay(answers, walk.size, walk.count, walk.counting);
        if (laid.kind !== 'strip') throw new Error(laid.kind);
        expect(laid.gaps).toEqual([]);
        expect(laid.strip.covered).toBeGreaterThanOrEqual(walk.count);
        const labels = pages.labelsOf(laid.strip);
        // A list that stood still has no direction, and is laid from the front.
        if (laid.strip.counting === null && walk.counting === 'back') labels.reverse();
        expect(labels).toEqual(Array.from({ length: laid.strip.covered }, (_, at) => `r${at}`));
      }),
    );
  });

  test('has for any places the sum of the records that stand there', () => {
    fc.assert(
      fc.property(growingWalk, fc.nat(60), fc.nat(60), (walk, a, b) => {
        const pages = new Pages();
        const strip = pages.strip(read(pages, walk), walk.size, walk.count, walk.counting);
        const [from, to] = [Math.min(a, b, strip.covered), Math.min(Math.max(a, b), strip.covered)];
        const sum = sumOfPlaces(strip, { from, to }, pages.itemsOf);
        expect(sum?.equals(sumOf(pages.labelsOf(strip).slice(from, to)))).toBe(true);
      }),
    );
  });
});

describe('the places of a strip', () => {
  const pages = new Pages();
  const still = pages.strip(pages.still('ABCDEFG', 3), 3);
  const back = pages.strip([pages.answer(0, 4, 'DCB'), pages.answer(1, 5, 'BA')], 3);

  test('are counted from either end of a list that stood still, and from its own end otherwise', () => {
    expect(placesCounted(still, 'front', 5)).toEqual({ from: 0, to: 5 });
    expect(placesCounted(still, 'back', 5)).toEqual({ from: 2, to: 7 });
    expect(placesCounted(back, 'back', 3)).toEqual({ from: 0, to: 3 });
    expect(placesCounted(back, 'front', 3)).toBe(null);
  });

  test('beside some are the rest of them', () => {
    expect(placesBeside(still, { from: 0, to: 5 })).toEqual({ from: 5, to: 7 });
    expect(placesBeside(still, { from: 2, to: 7 })).toEqual({ from: 0, to: 2 });
    expect(placesBeside(still, allPlaces(still))).toEqual({ from: 7, to: 7 });
  });

  test('of a page that was not read have a sum as a whole, and none in part', () => {
    const strip = pages.strip([pages.unread(0, 3, 'XYZ')], 3);
    expect(sumOfPlaces(strip, allPlaces(strip), pages.itemsOf)?.equals(sumOf('XYZ'))).toBe(true);
    expect(sumOfPlaces(strip, { from: 0, to: 2 }, pages.itemsOf)).toBe(null);
  });

  test('have a sum without the rejected records that stand there, and of no others', () => {
    const odd = new Pages({ rejected: 'xy' });
    const strip = odd.strip([odd.answer(0, 5, 'xBy'), odd.answer(1, 5, 'CD')], 3);
    expect(acceptedSum(strip, odd.itemsOf)?.equals(sumOf('BCD'))).toBe(true);
    const [first, second] = strip.segments as [Segment, Segment];
    const part = { ...first, to: 2, items: { from: 0, to: 2 } };
    const shorter = { ...strip, segments: [part, { ...second, from: 2, to: 4 }], covered: 4 };
    expect(acceptedSum(shorter, odd.itemsOf)?.equals(sumOf('BCD'))).toBe(true);
  });
});
