import { describe, expect, test } from 'vitest';
import type { Asked } from '../../src/proof/page-plan.ts';
import { WalkAccount } from '../../src/proof/walk-account.ts';
import { cut, Pages } from './pages.ts';

/** What a service says to a request: its records, and what it says of itself where that is not what it should be. */
interface Said {
  readonly labels: string | readonly string[];
  readonly total: number;
  readonly pageNo?: number;
  readonly pageCount?: number;
}

const size = 3;

/** One walk over a service that answers as it is told, in the order of the requests; the first page is number 1. */
function walk(
  answerTo: (index: number, request: number) => Said | null,
  learnt: 'front' | 'back' | null = null,
  pages = new Pages(),
) {
  const asked: number[] = [];
  let account: WalkAccount | undefined;
  let request: Asked | null = { index: 0, totalBefore: 0, isBeyond: false };
  while (request !== null) {
    if (asked.length > 200) throw new Error('The walk does not end.');
    const { index } = request;
    const said = answerTo(index, asked.push(index));
    account ??= begin(pages, said, learnt);
    enter(account, pages, request, said);
    request = account.next();
  }
  if (account === undefined) throw new Error('no walk');
  const laid = account.laid;
  const read = laid?.kind === 'strip' ? pages.labelsOf(laid.strip).join('') : null;
  return { account, asked, read, contradictions: account.contradictions.join('; ') };
}

function begin(pages: Pages, said: Said | null, learnt: 'front' | 'back' | null): WalkAccount {
  const totalRecordCount = said?.total ?? 0;
  const pageCount = Math.ceil(totalRecordCount / size);
  const envelope = { firstPageNo: 1, pageSize: size, pageCount, totalRecordCount };
  const account = new WalkAccount(envelope, learnt, pages.itemsOf);
  account.askedFirst();
  return account;
}

function enter(account: WalkAccount, pages: Pages, asked: Asked, said: Said | null): void {
  const answer = said && pages.answer(asked.index, said.total, said.labels);
  const { index } = asked;
  const usual = { pageNo: index + 1, pageCount: Math.ceil((said?.total ?? 0) / size) };
  const place = account.place(asked, said && answer && { ...usual, ...said, ...answer });
  if (answer !== null && place.kind === 'page') account.enter({ ...answer, index: place.index });
}

/** The true answer of a service that stands still. */
const pageOf = (list: string, index: number, total = list.length): Said => ({
  labels: cut(list, size)[index] ?? '',
  total,
});

describe('a walk over a list that stands still', () => {
  test.each([
    ['an empty page', () => ({ labels: '', total: 7 })],
    ['an answer that there is no such page', () => null],
    ['the last page once more, by its own number', () => ({ labels: 'G', total: 7, pageNo: 3 })],
    ['the last page once more, by the number asked for', () => ({ labels: 'G', total: 7 })],
    ['the first page once more, in another order', () => ({ labels: 'CBA', total: 7, pageNo: 1 })],
    ['the first page once more, by its own number', () => ({ labels: 'ABC', total: 7, pageNo: 1 })],
    ['the first page once more, by the number asked for', () => ({ labels: 'ABC', total: 7 })],
  ])('is over where what follows is %s', (_what, beyond) => {
    const walked = walk(index => (index < 3 ? pageOf('ABCDEFG', index) : beyond()));
    expect(walked).toMatchObject({ asked: [0, 1, 2, 3], read: 'ABCDEFG', contradictions: '' });
  });

  test('asks for what follows also where the list is empty, or ends with a full page', () => {
    expect(walk(() => ({ labels: '', total: 0 }))).toMatchObject({ read: '', contradictions: '' });
    expect(walk(index => pageOf('ABCDEF', index))).toMatchObject({ asked: [0, 1, 2], read: 'ABCDEF' });
  });
});

describe('a walk is contradicted, and lays no strip,', () => {
  const honest = (index: number) => pageOf('ABCDEFG', index);
  test.each<[why: string, answerTo: (index: number, request: number) => Said | null, words: string]>([
    [
      'by another page than was asked for',
      index => (index === 1 ? { ...honest(1), pageNo: 1 } : honest(index)),
      'asked for page 2, the service answered with page 1',
    ],
    [
      'by a page that is not full',
      index => (index === 1 ? { labels: 'DE', total: 7 } : honest(index)),
      'page 2 held 2 records instead of 3',
    ],
    [
      'by a page that is more than full',
      index => (index === 2 ? { labels: 'GH', total: 7 } : honest(index)),
      'page 3 held 2 records instead of 1',
    ],
    [
      'by a page without records',
      index => (index === 1 ? { labels: '', total: 7 } : honest(index)),
      'page 2 held no records instead of 3',
    ],
    ['by a page that is not there', index => (index === 1 ? null : honest(index)), 'page 2 is not there'],
    [
      'by a total that fell',
      index => (index === 2 ? { labels: '', total: 6 } : honest(index)),
      'totalRecordCount fell from 7 to 6 on page 3',
    ],
    [
      'by records beyond the total',
      index => pageOf('ABCDEFGHI', index, 6),
      'page 3 holds records, but totalRecordCount is 6',
    ],
    [
      'by records beyond the total on the page after the last',
      index => (index === 3 ? { labels: 'XYZ', total: 7 } : honest(index)),
      'page 4 holds records, but totalRecordCount is 7',
    ],
    [
      'by a total on the page after the last that the list does not hold',
      index => (index === 3 ? { labels: '', total: 9 } : honest(index)),
      'totalRecordCount fell from 9 to 7 on page 3',
    ],
    [
      'by a first page once more that is another one by now',
      index => (index === 3 ? { labels: 'ABX', total: 7, pageNo: 1 } : honest(index)),
      'page 4 holds records, but totalRecordCount is 7',
    ],
    [
      'by a last page that is another one when it comes again',
      index => (index === 3 ? { labels: 'X', total: 7, pageNo: 3 } : honest(index)),
      'page 4 holds records, but totalRecordCount is 7',
    ],
  ])('%s', (_why, answerTo, words) => {
    const walked = walk(answerTo);
    expect(walked.contradictions).toContain(words);
    expect(walked.account.laid).toBe(null);
  });

  test('and reads on beyond a total that is too small, as long as there is something new', () => {
    const list = 'ABCDEFGHIJKLM';
    expect(walk(index => pageOf(list, index, 5)).asked).toEqual([0, 1, 2, 3, 4]);
  });

  test('and ends where a service goes round, or has nothing to say to many requests', () => {
    expect(walk(index => ({ labels: 'ABC', total: 300, pageNo: (index % 2) + 1 })).asked.length).toBeLessThan(
      12,
    );
    expect(walk(index => (index === 0 ? pageOf('ABC', 0, 300) : null)).asked.length).toBeLessThan(20);
  });

  test('and ends where page after page holds the records of the first one, which have ids', () => {
    const walked = walk(() => ({ labels: 'ABC', total: 300 }), null, new Pages({ hasIds: true }));
    expect(walked.asked.length).toBe(20);
    expect(walked.contradictions).toContain('each of 20 pages held the same records');
  });

  test('by two answers that hold different records at one place', () => {
    const pages = new Pages();
    const account = begin(pages, honest(0), null);
    enter(account, pages, { index: 0, totalBefore: 0, isBeyond: false }, honest(0));
    account.enter(pages.answer(0, 8, 'XYZ'));
    for (let asked = account.next(); asked !== null; asked = account.next())
      enter(account, pages, asked, honest(asked.index));
    expect(account.contradictions).toEqual(['two answers held different records at one place']);
  });
});

describe('what is sent for the page after the last, before the pages that were asked for with it,', () => {
  const list = 'ABCDEFG';
  /** Has the first two pages and then the one after the last answered, but not the last one. */
  function overtaken(beyond: Said) {
    const pages = new Pages();
    const account = begin(pages, pageOf(list, 0), null);
    enter(account, pages, { index: 0, totalBefore: 0, isBeyond: false }, pageOf(list, 0));
    enter(account, pages, account.next() as Asked, pageOf(list, 1));
    enter(account, pages, { index: 3, totalBefore: 7, isBeyond: true }, beyond);
    return account;
  }

  test.each([
    ['says so', 3],
    ['is as long', 4],
  ])('is the last page, if it %s', (_why, pageNo) => {
    const account = overtaken({ labels: 'G', total: 7, pageNo });
    expect(account.contradictions).toEqual([]);
    expect(account.answers.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  test('is no first page that the walk has not seen', () => {
    const account = overtaken({ labels: 'XYZ', total: 8, pageNo: 9 });
    expect(account.answers.map(({ index }) => index)).toEqual([0, 1]);
    expect(account.contradictions).toEqual(['page 4 holds records, but totalRecordCount is 8']);
  });
});

describe('a walk over a list that grows', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const list = (total: number, counting: 'front' | 'back') =>
    counting === 'front' ? letters.slice(0, total) : [...letters.slice(0, total)].reverse().join('');

  test.each(['front', 'back'] as const)('by a record a request, counted from the %s, is whole', counting => {
    const walked = walk((index, request) => pageOf(list(6 + request, counting), index));
    expect(walked.contradictions).toBe('');
    expect(walked.read).toBe(letters.slice(0, walked.read?.length));
    expect(walked.read?.length).toBeGreaterThanOrEqual(7);
  });

  test('asks again for a gap that answers out of order have left', () => {
    const pages = new Pages();
    const account = begin(pages, { labels: 'FED', total: 6 }, 'back');
    enter(account, pages, { index: 0, totalBefore: 0, isBeyond: false }, { labels: 'FED', total: 6 });
    const second = account.next() as Asked;
    expect(second.index).toBe(1);
    // Five came before the service looked at the second page, which now begins where the first one was.
    enter(account, pages, second, pageOf('KJIHGFEDCBA', 1));
    const asked: number[] = [];
    for (let next = account.next(); next !== null; next = account.next()) {
      asked.push(next.index);
      enter(account, pages, next, pageOf('KJIHGFEDCBA', next.index));
    }
    // The last one stands for those five, which the walk began without.
    expect(asked).toEqual([2, 3, 4, 0]);
    expect(account.laid).toMatchObject({ kind: 'strip', gaps: [], strip: { counting: 'back' } });
  });

  test('is not contradicted by an answer that others have overtaken', () => {
    const pages = new Pages();
    const account = begin(pages, pageOf('ABCDEFG', 0), null);
    enter(account, pages, { index: 0, totalBefore: 0, isBeyond: false }, pageOf('ABCDEFG', 0));
    const [second, third] = [account.next() as Asked, account.next() as Asked];
    enter(account, pages, third, pageOf('ABCDEFGH', 2));
    enter(account, pages, second, pageOf('ABCDEFG', 1));
    expect(account.contradictions).toEqual([]);
    const fourth = account.next() as Asked;
    enter(account, pages, fourth, pageOf('ABCDEFG', 3));
    expect(account.contradictions).toEqual(['totalRecordCount fell from 8 to 7 on page 4']);
  });
});

test('pages that are known and all alike may hold records without ids, however many there are', () => {
  const pages = new Pages();
  const account = begin(pages, pageOf('AAA', 0, 90), null);
  for (let index = 0; index < 30; index++) account.take(pages.unread(index, 90, 'AAA'));
  expect(account.contradictions).toEqual([]);
});

test('a walk that is taken up asks only for the pages that are missing', () => {
  const pages = new Pages();
  const account = begin(pages, pageOf('ABCDEFGHI', 0), null);
  for (const index of [0, 2]) account.take(pages.answer(index, 9, pageOf('ABCDEFGHI', index).labels));
  account.skipFirst();
  expect(account.next()).toEqual({ index: 1, totalBefore: 9, isBeyond: false });
});
