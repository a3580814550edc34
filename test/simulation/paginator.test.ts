import { expect, test } from 'vitest';
import { Cutter, type Moments, type Paginator, plainPaginator, withoutNewest } from './paginator.ts';
import { contentOf, type Entry, itemOf } from './records.ts';

const entry = (uid: number, isHidden = false): Entry => ({
  uid,
  key: uid * 100,
  time: uid,
  text: 0,
  connections: [1, 2, 3],
  isBroken: false,
  isHidden,
});
const list = (...uids: number[]): Entry[] => uids.map(uid => entry(uid));

/** The records of the page at a place, its total and its number of pages. */
function pageAt(offset: number, moments: Moments | Entry[], habits: Partial<Paginator>, size = 3) {
  const both = Array.isArray(moments) ? { first: moments, second: moments } : moments;
  const page = new Cutter({ ...plainPaginator, ...habits, ties: 1 }, both, size).at(offset);
  return { ...page, entries: page.entries.map(({ uid }) => uid) };
}

test('a total is deduced of a page that is neither full nor empty, and counted of all others', () => {
  const deduces = { deduces: true };
  const [full, last, beyond] = [0, 3, 6].map(offset => pageAt(offset, list(1, 2, 3, 4, 5), deduces));
  expect(full).toMatchObject({ entries: [1, 2, 3], total: 5, habits: [] });
  expect(last).toMatchObject({ entries: [4, 5], total: 5, habits: ['a total that was deduced'] });
  expect(beyond).toMatchObject({ entries: [], total: 5, habits: [] });
});

test('a row that goes after its id was chosen is lost on its way, and a total that is deduced of the others is wrong', () => {
  const moments = { first: list(1, 2, 3, 4, 5), second: list(1, 3, 4, 5) };
  expect(pageAt(0, moments, { first: 'ids', deduces: true })).toMatchObject({
    entries: [1, 3],
    total: 2,
    habits: ['a total that was deduced', 'a row lost on its way'],
  });
  expect(pageAt(0, moments, { first: 'ids' })).toMatchObject({ entries: [1, 3], total: 4 });
});

test('a page is cut at a count of before, and a record that comes in front of it pushes another one out', () => {
  const moments = { first: list(2, 3, 4, 5), second: list(1, 2, 3, 4, 5) };
  const habits = ['a page cut at a count of before'];
  expect(pageAt(3, moments, { first: 'count' })).toMatchObject({ entries: [4], total: 4, habits });
  expect(pageAt(3, moments, {})).toMatchObject({ entries: [4, 5], total: 5, habits: [] });
});

test('orphans are on the last page, which then has more records than its size', () => {
  const orphans = { orphans: 1 };
  const five = list(1, 2, 3, 4, 5, 6, 7);
  expect(pageAt(3, five, orphans)).toMatchObject({ entries: [4, 5, 6, 7], total: 7, pageCount: 2 });
  expect(pageAt(3, list(1, 2, 3, 4, 5), orphans)).toMatchObject({ entries: [4, 5], pageCount: 2 });
  expect(pageAt(0, list(1, 2, 3, 4), orphans)).toMatchObject({ entries: [1, 2, 3, 4], pageCount: 1 });
});

test('a page is trimmed after it was cut, and its number of pages is that of all records', () => {
  const some = [1, 2, 3, 4, 5, 6, 7].map(uid => entry(uid, uid % 2 === 0));
  expect(pageAt(0, some, { trims: 'all' })).toMatchObject({ entries: [1, 3], total: 7, pageCount: 3 });
  expect(pageAt(3, some, { trims: 'seen' })).toMatchObject({ entries: [5], total: 4, pageCount: 3 });
  expect(pageAt(0, some, {})).toMatchObject({ entries: [1, 3, 5], total: 4, pageCount: 2 });
});

test('a copy that lags lacks the newest records, at whichever end they are', () => {
  expect(withoutNewest(list(1, 2, 3, 4), 2)).toEqual(list(1, 2));
  expect(withoutNewest(list(4, 3, 2, 1), 2)).toEqual(list(2, 1));
});

test('sets in another order and instants in another zone are the same content', () => {
  const one = { ...entry(9), text: 2 };
  const nameOf = (id: number) => `C${id}`;
  const plain = { shuffle: null, zone: null };
  const formsOf = (name: 'webhooks' | 'document-exports') =>
    new Set(
      [1, 2, 3, 4, 5, 6, 7, 8].map(n => JSON.stringify(itemOf(name, one, nameOf, { shuffle: n, zone: n }))),
    );
  expect(formsOf('webhooks').size).toBeGreaterThan(2);
  expect(formsOf('document-exports').size).toBeGreaterThan(2);
  const instants = [...formsOf('document-exports')].map(text => Date.parse(JSON.parse(text).exportedAt));
  expect(new Set(instants).size).toBe(1);
  const mixed = { ...one, connections: [3, 1, 2] };
  expect(contentOf('webhooks', mixed)).toBe(contentOf('webhooks', one));
  expect(itemOf('webhooks', mixed, nameOf, plain)).not.toEqual(itemOf('webhooks', one, nameOf, plain));
});
