import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finishWalk } from '../../src/proof/finished-walk.ts';
import { findRepeats, newRecordsRepeat } from '../../src/proof/repeats.ts';
import { Pages } from './pages.ts';

function repeatsIn(list: readonly string[] | string, size: number, hasIds = false) {
  const pages = new Pages({ hasIds });
  return findRepeats(pages.strip(pages.still(list, size), size), pages.itemsOf);
}

describe('what is new', () => {
  test.each([
    ['and is alike on one page', 'AABXYY', [false, true]],
    ['and is alike on two pages', 'AXBXYA', [true, true]],
    ['and has one id on two pages, with two contents', 'AXBxYA', [false, true]],
    ['beside what is known and stands twice', 'AXBAYB', [false, false]],
  ] as const)('%s, repeats without ids, and with them: %s %j', (_what, list, expected) => {
    const repeat = [false, true].map(hasIds => {
      const pages = new Pages({ known: 'AB', hasIds });
      const answers = [...pages.still(list, 3), pages.unread(2, 9, 'XYZ')];
      const parts = answers.map(answer => ({ answer, items: { from: 0, to: answer.count } }));
      return newRecordsRepeat(parts, pages.itemsOf);
    });
    expect(repeat).toEqual(expected);
  });
});

describe('a list', () => {
  test.each([
    ['without repeats has none', 'ABCDEFG', { onTwoPages: false, onNeighbours: false }],
    ['may repeat a record on one page', 'AABCDEF', { onTwoPages: false, onNeighbours: false }],
    ['may repeat one on the page after', 'ABCADEF', { onTwoPages: true, onNeighbours: true }],
    ['may repeat one two pages on', 'ABCDEFA', { onTwoPages: true, onNeighbours: false }],
    ['may repeat one on three pages', 'ABCAEFA', { onTwoPages: true, onNeighbours: true }],
  ] as const)('%s', (_what, list, expected) => expect(repeatsIn(list, 3)).toEqual({ ...expected, id: null }));

  test('is looked through once for readings of the very same pages, and anew for any others', () => {
    const pages = new Pages();
    const manner = { isTrusting: false, isTakenUp: false };
    const found = { onTwoPages: true, onNeighbours: true, id: 7 };
    const first = { ...pages.walk('ABCADEF', 3), repeats: found };
    const repeatsOf = (list: string, size: number) =>
      finishWalk(pages.walk(list, size).account, manner, pages.itemsOf, [first]).repeats;
    expect(repeatsOf('ABCADEF', 3)).toBe(found);
    for (const [list, size] of [
      ['ABCADEFG', 3],
      ['ADEABCF', 3],
      ['ABCADE', 3],
      ['ABCADEF', 4],
    ] as const)
      expect(repeatsOf(list, size)).toEqual(repeatsIn(list, size));
    const unread = { ...first, repeats: null };
    const again = finishWalk(first.account, manner, pages.itemsOf, [unread]).repeats;
    expect(again).toEqual(repeatsIn('ABCADEF', 3));
  });

  test('with ids names the one that stands twice, also on one page and with another content', () => {
    expect(repeatsIn('ABCDEFG', 3, true)).toMatchObject({ id: null, onTwoPages: false });
    expect(repeatsIn('ABCDEFb', 3, true)).toMatchObject({ id: 'b'.charCodeAt(0) });
    expect(repeatsIn('AaBCDEF', 3, true)).toMatchObject({ id: 'a'.charCodeAt(0) });
  });

  test('that was not read as a whole is not judged', () => {
    const pages = new Pages();
    const strip = pages.strip([pages.answer(0, 5, 'ABC'), pages.unread(1, 5, 'DX')], 3);
    expect(findRepeats(strip, pages.itemsOf)).toBe(null);
  });

  test('whose first page was asked for again holds two pages of that number', () => {
    const pages = new Pages();
    // BCDE became ABYCDE meanwhile: from the back, BC stands where YC should, and B on the page before it, too.
    const answers = [pages.answer(0, 4, 'BC'), pages.answer(2, 6, 'DE'), pages.answer(0, 6, 'AB')];
    const strip = pages.strip(answers, 2, 4, 'back');
    expect(pages.labelsOf(strip).toReversed().join('')).toBe('ABBCDE');
    expect(findRepeats(strip, pages.itemsOf)).toEqual({ onTwoPages: true, onNeighbours: true, id: null });
  });

  test('of any records repeats what a count of them says', () => {
    const records = fc.array(
      fc.nat(400).map(n => `r${n}`),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 9 }), (list, size) => {
        const pagesOf = new Map<string, number[]>();
        for (const [at, label] of list.entries())
          pagesOf.set(label, [...(pagesOf.get(label) ?? []), Math.floor(at / size)]);
        const steps = [...pagesOf.values()].flatMap(on =>
          on.slice(1).map((page, n) => page - (on[n] as number)),
        );
        const expected = {
          onTwoPages: steps.some(step => step > 0),
          onNeighbours: steps.includes(1),
          id: null,
        };
        expect(repeatsIn(list, size)).toEqual(expected);
      }),
    );
  });
});
