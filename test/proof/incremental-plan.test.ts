import { describe, expect, test } from 'vitest';
import type { Envelope } from '../../src/proof/envelope.ts';
import { type EdgePage, type ListEdges, planIncremental } from '../../src/proof/incremental.ts';

/** 200 records in pages of 10, as they were. */
const edges: ListEdges = {
  sweptAt: '2026-11-20T00:00:00.000Z',
  firstPageNo: 1,
  pageSize: 10,
  totalRecordCount: 200,
  lastPageNo: 20,
  firstDigest: 'first',
  lastDigest: 'last',
};

function now(totalRecordCount: number): Envelope {
  return { firstPageNo: 1, pageSize: 10, pageCount: Math.ceil(totalRecordCount / 10), totalRecordCount };
}

type NewAt = readonly [first: number, count: number] | null;

function page(
  pageNo: number,
  total: number,
  newAt: NewAt,
  digest: string,
  over: Partial<EdgePage> = {},
): EdgePage {
  const [first, count] = newAt ?? [-1, 0];
  return {
    pageNo,
    pagination: { pageNo, pageSize: 10, pageCount: Math.ceil(total / 10), totalRecordCount: total },
    count: Math.min(10, total - (pageNo - 1) * 10),
    digest,
    rejected: 0,
    found: { newCount: count, firstNew: first, lastNew: count === 0 ? -1 : first + count - 1, changed: 0 },
    ...over,
  };
}

const plan = (total: number, ...pages: EdgePage[]) =>
  planIncremental(edges, now(total), new Map(pages.map(entry => [entry.pageNo, entry])));

const ask = (pageNo: number) => ({ kind: 'ask', pageNo });
const done = (added: number) => ({ kind: 'done', added });
const sweep = { kind: 'sweep' };

describe('where the total is the same', () => {
  const first = page(1, 200, null, 'first');
  test.each([
    ['the first page is asked for', plan(200), ask(1)],
    ['then the last one', plan(200, first), ask(20)],
    [
      'and nothing is new where both are as they were',
      plan(200, first, page(20, 200, null, 'last')),
      done(0),
    ],
    ['a changed first page ends in a sweep', plan(200, page(1, 200, [0, 1], 'other')), sweep],
    ['a changed last page ends in a sweep', plan(200, first, page(20, 200, null, 'other')), sweep],
  ])('%s', (_what, step, expected) => expect(step).toMatchObject(expected));
});

describe('where the total grew and new records lead the first page', () => {
  const first = page(1, 203, [0, 3], 'x');
  test.each([
    ['the next page must be known', plan(203, first), ask(2)],
    ['and the last one', plan(203, first, page(2, 203, null, 'y')), ask(21)],
    [
      'then they are what is new',
      plan(203, first, page(2, 203, null, 'y'), page(21, 203, null, 'z')),
      done(3),
    ],
    [
      'fewer than the total grew by end in a sweep',
      plan(204, page(1, 204, [0, 3], 'x'), page(2, 204, null, 'y')),
      sweep,
    ],
    ['more than the total grew by end in a sweep', plan(202, page(1, 202, [0, 3], 'x')), sweep],
    ['new records after known ones end in a sweep', plan(203, page(1, 203, [1, 3], 'x')), sweep],
    [
      'a known record amid new ones ends in a sweep',
      plan(203, page(1, 203, [0, 3], 'x', { found: { newCount: 3, firstNew: 0, lastNew: 5, changed: 0 } })),
      sweep,
    ],
    [
      'a gap between new records ends in a sweep',
      plan(205, page(1, 205, [0, 3], 'x'), page(2, 205, [0, 2], 'y')),
      sweep,
    ],
    ['a whole page of new ones leads to the next', plan(215, page(1, 215, [0, 10], 'x')), ask(2)],
    ['until a page is known', plan(215, page(1, 215, [0, 10], 'x'), page(2, 215, [0, 5], 'y')), ask(3)],
    [
      'new records at the end, too, end in a sweep',
      plan(203, first, page(2, 203, null, 'y'), page(21, 203, [2, 1], 'z')),
      sweep,
    ],
  ])('%s', (_what, step, expected) => expect(step).toMatchObject(expected));
});

describe('where the total grew and the first page is as it was', () => {
  const first = page(1, 203, null, 'first');
  const before = page(19, 203, null, 'y');
  test.each([
    ['the page before the old end must be known', plan(203, first), ask(19)],
    ['then the old last page', plan(203, first, before), ask(20)],
    ['then all to the new end', plan(203, first, before, page(20, 203, null, 'last')), ask(21)],
    [
      'what stands there is what is new',
      plan(203, first, before, page(20, 203, null, 'last'), page(21, 203, [0, 3], 'z')),
      done(3),
    ],
    [
      'over several pages, too',
      plan(
        215,
        page(1, 215, null, 'first'),
        page(19, 215, null, 'y'),
        page(20, 215, null, 'last'),
        page(21, 215, [0, 10], 'z'),
        page(22, 215, [0, 5], 'zz'),
      ),
      done(15),
    ],
    [
      'also on the old last page',
      plan(203, first, before, page(20, 203, [8, 2], 'w'), page(21, 203, [0, 3], 'z')),
      sweep,
    ],
    [
      'a new record before known ones ends in a sweep',
      plan(203, first, before, page(20, 203, [2, 1], 'w')),
      sweep,
    ],
    ['a change before the end ends in a sweep', plan(203, first, page(19, 203, [0, 1], 'y')), sweep],
    ['a first page that changed ends in a sweep', plan(203, page(1, 203, null, 'other')), sweep],
  ])('%s', (_what, step, expected) => expect(step).toMatchObject(expected));

  test('new records on both sides of a known one end in a sweep', () => {
    const [total, found] = [198, { newCount: 3, firstNew: 4, lastNew: 7, changed: 0 }];
    const pages = [page(1, total, null, 'first'), page(19, total, null, 'y')];
    const planned = (last: EdgePage) =>
      planIncremental(
        { ...edges, totalRecordCount: 195 },
        now(total),
        new Map([...pages, last].map(entry => [entry.pageNo, entry])),
      );
    expect(planned(page(20, total, null, 'w', { found }))).toMatchObject(sweep);
    expect(planned(page(20, total, [5, 3], 'w'))).toMatchObject(done(3));
  });
});

describe('any doubt ends in a sweep:', () => {
  const first = page(1, 203, [0, 3], 'x');
  const withFirst = (over: Partial<EdgePage>) => plan(203, { ...first, ...over });
  test.each([
    ['the total fell', plan(199)],
    ['more is new than was known', plan(401)],
    [
      'pageCount tells of more pages than the total',
      planIncremental(edges, { ...now(200), pageCount: 21 }, new Map()),
    ],
    ['the pages are of another size', planIncremental(edges, { ...now(200), pageSize: 20 }, new Map())],
    ['the first page has another number', planIncremental(edges, { ...now(200), firstPageNo: 0 }, new Map())],
    [
      'the total changed while pages were read',
      withFirst({ pagination: { ...first.pagination, totalRecordCount: 204 } }),
    ],
    ['another page was answered', withFirst({ pagination: { ...first.pagination, pageNo: 2 } })],
    ['a page is not full', withFirst({ count: 9 })],
    ['a record changed', withFirst({ found: { ...first.found, changed: 1 } })],
    ['a record was rejected', withFirst({ rejected: 1 })],
  ])('%s', (_why, step) => expect(step).toMatchObject({ kind: 'sweep', reason: expect.stringMatching(/./) }));
});
