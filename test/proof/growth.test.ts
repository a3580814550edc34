import { describe, expect, test } from 'vitest';
import type { Counting } from '../../src/proof/answer.ts';
import { confirmGrowth, findGrowth, type Growth } from '../../src/proof/growth.ts';
import { Pages, standing } from './pages.ts';

const mirror = 'ABCDEFG';

function growthOf(list: string, counting: Counting | null, size = 3): [Pages, Growth | null] {
  const pages = new Pages({ known: mirror });
  const strip = pages.strip(pages.still(list, size), size);
  return [pages, findGrowth(strip, standing(mirror, { counting }), pages.itemsOf)];
}

describe('a list has only grown', () => {
  test('where the mirror stands in it and the rest is new, at the end that is learnt', () => {
    const [, atEnd] = growthOf('ABCDEFGHI', 'front');
    expect(atEnd).toMatchObject({ counting: 'front', places: { from: 6, to: 9 } });
    const [, atFront] = growthOf('IHABCDEFG', 'back');
    expect(atFront).toMatchObject({ counting: 'back', places: { from: 6, to: 9 } });
  });

  test('where no end is learnt, too, at either; all of it is then to be read once more', () => {
    const [, atEnd] = growthOf('ABCDEFGHI', null);
    expect(atEnd).toMatchObject({ counting: 'front', places: { from: 0, to: 9 }, bonus: { from: 7, to: 9 } });
    const [, atFront] = growthOf('IHABCDEFG', null);
    expect(atFront).toMatchObject({
      counting: 'back',
      places: { from: 0, to: 9 },
      bonus: { from: 0, to: 2 },
    });
  });

  test('where other things have happened to it, too; all of it is then to be read once more', () => {
    const pages = new Pages({ known: mirror });
    const strip = pages.strip(pages.still('ABCDEFGHI', 3), 3);
    const edited = standing(mirror, { counting: 'front', hasOnlyGrown: false });
    expect(findGrowth(strip, edited, pages.itemsOf)).toMatchObject({ places: { from: 0, to: 9 } });
  });

  test.each([
    ['it grew at the other end', 'HIABCDEFG', 'front'],
    ['nothing is new', 'ABCDEFG', 'front'],
    ['a record changed', 'ABCDEFXHI', 'front'],
    ['what is new is known already', 'ABCDEFGA', 'front'],
    ['what is new stands on two pages', 'ABCDEFGHIH', 'front'],
    ['as much is new as was known', 'ABCDEFGHIJKLMN', 'front'],
  ] as const)('but not where %s', (_why, list, counting) => {
    expect(growthOf(list, counting)[1]).toBe(null);
  });

  test.each(['ABCDEFGHH', 'ABCDEFGHh', 'ABCDEFGHIh'])('but not where an id comes twice: %s', list => {
    const pages = new Pages({ known: mirror, hasIds: true });
    const grown = (all: string) =>
      findGrowth(pages.strip(pages.still(all, 3), 3), standing(mirror, { counting: 'front' }), pages.itemsOf);
    expect(grown('ABCDEFGHI')).not.toBe(null);
    expect(grown(list)).toBe(null);
  });

  test('but not where a record was rejected', () => {
    const pages = new Pages({ known: mirror });
    const [first, ...rest] = pages.still('ABCDEFGH', 4);
    if (first === undefined) throw new Error('no page');
    const strip = pages.strip([{ ...first, rejected: first.sum }, ...rest], 4);
    expect(findGrowth(strip, standing(mirror, { counting: 'front' }), pages.itemsOf)).toBe(null);
  });
});

test('a list whose new records were not read has not been seen to grow', () => {
  const pages = new Pages({ known: mirror });
  const answers = pages.still('ABCDEFG', 7).map(answer => ({ ...answer, total: 9 }));
  const strip = pages.strip([...answers, pages.unread(1, 9, 'HI')], 7);
  expect(findGrowth(strip, standing(mirror, { counting: 'front' }), pages.itemsOf)).toBe(null);
});

describe('what has grown is read once more', () => {
  test.each([
    ['at the end', 'ABCDEFGHI', 'front', [2]],
    ['at the end, over two pages', 'ABCDEFGHIJ', 'front', [2, 3]],
    ['at the front', 'IHABCDEFG', 'back', [0]],
    ['at the front, over two pages', 'KJIHABCDEFG', 'back', [0, 1]],
  ] as const)('%s', (_where, list, counting, indexes) => {
    const [pages, growth] = growthOf(list, counting);
    const again = (answers: Parameters<typeof confirmGrowth>[1]) =>
      confirmGrowth(growth as Growth, answers, 3, list.length, pages.itemsOf);
    expect(again([])).toEqual({ kind: 'ask', indexes });
    const all = pages.still(list, 3);
    expect(again(all.filter(({ index }) => (indexes as readonly number[]).includes(index)))).toEqual({
      kind: 'confirmed',
    });
  });

  test('and is refuted where a place holds another record', () => {
    const [pages, growth] = growthOf('ABCDEFGHI', 'front');
    const answers = [pages.answer(2, 9, 'GHX')];
    expect(confirmGrowth(growth as Growth, answers, 3, 9, pages.itemsOf)).toEqual({ kind: 'refuted' });
  });

  test('and is confirmed where more has come meanwhile', () => {
    const [pages, growth] = growthOf('IHABCDEFG', 'back');
    const first = [pages.answer(0, 10, 'JIH')];
    expect(confirmGrowth(growth as Growth, first, 3, 10, pages.itemsOf)).toEqual({
      kind: 'ask',
      indexes: [0, 1],
    });
    const both = [...first, pages.answer(1, 10, 'ABC')];
    expect(confirmGrowth(growth as Growth, both, 3, 10, pages.itemsOf)).toEqual({ kind: 'confirmed' });
  });
});
