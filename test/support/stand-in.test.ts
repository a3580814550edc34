import { expect, onTestFinished, test } from 'vitest';
import { collection, type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

interface Page {
  items: { id: number }[];
  pagination: { pageCount: number; pageNo: number; pageSize: number; totalRecordCount: number };
}

/** A service with ten collections, 1 to 10. */
async function standInOfTen(options: Partial<StandInOptions> = {}): Promise<StandIn> {
  const standIn = await startStandIn(options);
  onTestFinished(() => standIn.close());
  standIn.lists.collections = Array.from({ length: 10 }, (_, index) => collection(index + 1));
  return standIn;
}

function get(standIn: StandIn, query = '', headers: Record<string, string> = {}): Promise<Response> {
  const authorization = `Bearer ${standIn.options.token}`;
  return fetch(`${standIn.url}/v2/collections${query}`, {
    headers: { authorization, ...headers },
    redirect: 'manual',
  });
}

async function page(standIn: StandIn, query = ''): Promise<{ ids: number[] } & Page['pagination']> {
  const response = await get(standIn, query);
  expect(response.status).toBe(200);
  const { items, pagination } = (await response.json()) as Page;
  return { ids: items.map(item => item.id), ...pagination };
}

const oneToTen = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

test('pages add up to the list', async () => {
  const standIn = await standInOfTen();
  expect(await page(standIn)).toEqual({
    ids: oneToTen,
    pageCount: 1,
    pageNo: 1,
    pageSize: 50,
    totalRecordCount: 10,
  });
  const walked = [];
  for (const pageNo of [1, 2, 3]) walked.push(...(await page(standIn, `?pageSize=4&pageNo=${pageNo}`)).ids);
  expect(walked).toEqual(oneToTen);
  expect(standIn.requests.map(({ n, pageNo, pageSize }) => [n, pageNo, pageSize])).toEqual([
    [1, null, null],
    [2, 1, 4],
    [3, 2, 4],
    [4, 3, 4],
  ]);
});

test('base path, first page and default page size are options', async () => {
  const standIn = await standInOfTen({ basePath: '/api/x', firstPage: 0, defaultPageSize: 3 });
  expect(standIn.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/x$/);
  expect(await page(standIn)).toMatchObject({ ids: [1, 2, 3], pageNo: 0, pageSize: 3, pageCount: 4 });
  expect(await page(standIn, '?pageNo=3')).toMatchObject({ ids: [10], pageNo: 3 });
});

test('a page size beyond the largest is clamped openly, clamped silently, or refused', async () => {
  const standIn = await standInOfTen({ maxPageSize: 4 });
  expect(await page(standIn, '?pageSize=9')).toMatchObject({ ids: [1, 2, 3, 4], pageSize: 4, pageCount: 3 });
  standIn.options.clamp = 'silent';
  expect(await page(standIn, '?pageSize=9&pageNo=2')).toMatchObject({
    ids: [5, 6, 7, 8],
    pageSize: 9,
    pageCount: 3,
  });
  standIn.options.silentPageCount = 'asked';
  expect(await page(standIn, '?pageSize=9')).toMatchObject({ pageSize: 9, pageCount: 2 });
  standIn.options.clamp = 'refuse';
  expect((await get(standIn, '?pageSize=5')).status).toBe(400);
  expect((await get(standIn, '?pageSize=4')).status).toBe(200);
});

test('beyond the last page is nothing, a 404, or the last page again', async () => {
  const standIn = await standInOfTen();
  expect(await page(standIn, '?pageSize=4&pageNo=9')).toMatchObject({ ids: [], pageNo: 9, pageCount: 3 });
  standIn.options.beyond = '404';
  expect((await get(standIn, '?pageSize=4&pageNo=4')).status).toBe(404);
  standIn.options.beyond = 'last';
  expect(await page(standIn, '?pageSize=4&pageNo=9')).toMatchObject({ ids: [9, 10], pageNo: 3 });
});

test('gzip is used if the client accepts it', async () => {
  const standIn = await standInOfTen({ gzip: true });
  const zipped = await get(standIn, '', { 'accept-encoding': 'gzip' });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(((await zipped.json()) as Page).items).toHaveLength(10);
  const plain = await get(standIn, '', { 'accept-encoding': 'identity' });
  expect(plain.headers.get('content-encoding')).toBeNull();
});

test('an order shuffled per walk stays until the first page is asked for again', async () => {
  const standIn = await standInOfTen({ order: 'shuffled-per-walk', defaultPageSize: 5 });
  const walk = async () => [...(await page(standIn)).ids, ...(await page(standIn, '?pageNo=2')).ids];
  const [first, second] = [await walk(), await walk()];
  expect(first.toSorted((a, b) => a - b)).toEqual(oneToTen);
  expect(second.toSorted((a, b) => a - b)).toEqual(oneToTen);
  expect(second).not.toEqual(first);
});
