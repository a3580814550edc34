import { expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { ofId, PageItems, showing } from '../../src/proof/page-items.ts';
import { answerOf, FailedPages } from '../../src/sync/pages.ts';

// A list of 25 records by pages of ten, of which page 1 is the first one.
const paging = { firstPageNo: 1, pageSize: 10 };
const before = { arrived: 2, total: 24 };
const page = { pageNo: 2, pageSize: 10, pageCount: 3, totalRecordCount: 25 };
const own = { index: 1, size: 10, requestedSize: null };

/** A page of so many records, and what was read of it. */
function came(count: number, stated: Partial<typeof page> = {}, ageMs = 0) {
  const ids = Array.from({ length: count }, (_, at) => at + 1);
  const items = new PageItems(
    'digest',
    Float64Array.from(ids),
    showing(ids.map(id => ({ record: ofId(id) }))),
    'id',
  );
  const read = { page: items, oldestNewKeys: [] };
  return { page: { pagination: { ...page, ...stated }, ageMs }, wrong: null, read };
}

test.each([
  ['a full page says what it shows', own, came(10), { total: 25, count: 10, wrong: null }],
  ['a page that a cache has kept is older', own, came(10, {}, 500), { at: 500, count: 10 }],
  [
    'a page of another number says nothing but its total',
    own,
    came(10, { pageNo: 1, totalRecordCount: 26 }),
    { total: 26, count: 0, wrong: { kind: 'page', finding: { code: 'page_number_ignored', asked: 2 } } },
  ],
  [
    'a last page that is repeated behind the end is empty there',
    { ...own, index: 3 },
    came(5, { pageNo: 3 }),
    { total: 25, count: 0, wrong: null },
  ],
  [
    'a last page with orphans that is repeated is empty, too',
    { ...own, index: 2 },
    came(15, { pageNo: 2, pageCount: 2 }),
    { count: 0, wrong: null },
  ],
  [
    'a blank page behind the end keeps the total of before',
    { ...own, index: 3 },
    came(0, { pageNo: 4, totalRecordCount: 0 }),
    { total: 24, count: 0, wrong: null },
  ],
  [
    'a blank first page is an empty list',
    { ...own, index: 0 },
    came(0, { pageNo: 1, totalRecordCount: 0, pageCount: 0 }),
    { total: 0, count: 0, wrong: null },
  ],
  [
    'a page of another size than was asked for says nothing',
    { ...own, index: 1, size: 5 },
    came(10),
    { count: 0, wrong: { kind: 'size', finding: { code: 'page_size_ignored', asked: 5, served: 10 } } },
  ],
  [
    'a page with more records than its size says nothing',
    { ...own, index: 1, size: 5 },
    came(10, { pageSize: 5, pageCount: 5 }),
    { count: 0, wrong: { kind: 'size' } },
  ],
  [
    'a last page can have a few records more than its size',
    { ...own, index: 3, size: 6 },
    came(7, { pageNo: 4, pageSize: 6, pageCount: 4 }),
    { count: 7, wrong: null },
  ],
  [
    'a size that is ignored in silence is stated as it was sent',
    { ...own, requestedSize: 7 },
    came(10, { pageSize: 7 }),
    { count: 10, wrong: null },
  ],
  [
    'a page that does not come says nothing, and keeps the total of before',
    own,
    { page: null, wrong: null, read: null },
    { total: 24, count: 0, wrong: null, pageCount: null },
  ],
] as const)('%s', (_, ask, what, { count, ...expected }) => {
  const asked = { ...ask, asked: 1, at: 1_000, isRecalled: false, isSecondLook: false, isBeyond: false };
  const answer = answerOf(asked, what, paging, before);
  expect(answer).toMatchObject({ ...ask, asked: 1, arrived: 2, ...expected });
  expect(answer.page.count).toBe(count);
});

test('pages around one that fails count as one, and the sixth ends the list', () => {
  const failed = new FailedPages();
  const failure = new ServiceError('server_error', 'answered 500', { retryable: false });
  failed.noteRecords({ index: 0, size: 10 }, 10);
  for (const index of [1, 3, 5, 7, 9]) failed.add({ index, size: 10 }, index + 1, failure);
  failed.add({ index: 6, size: 5 }, 7, failure);
  failed.noteRecords({ index: 29, size: 10 }, 10);
  expect(() => failed.add({ index: 20, size: 10 }, 21, failure)).toThrow(
    "more than 5 pages can't be read: page 21 (10 a page) can't be read: answered 500",
  );
});

test('a service that fails from one record on seems to have a limit', () => {
  const failed = new FailedPages();
  const failure = new ServiceError('server_error', 'answered 500', { retryable: false });
  failed.noteRecords({ index: 0, size: 10 }, 10);
  for (const index of [1, 2, 3, 4, 5]) failed.add({ index, size: 10 }, index + 1, failure);
  expect(() => failed.add({ index: 6, size: 10 }, 7, failure)).toThrow(
    /^no page beyond record 10 can be read/,
  );
});
