import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { sqlite, temporaryFolder } from './run-cli.ts';
import {
  collection,
  documentExport,
  type RecordedRequest,
  type StandIn,
  type StandInOptions,
  startStandIn,
  webhook,
} from './stand-in.ts';

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

test('an empty list is one empty page', async () => {
  const standIn = await standInOfTen({ beyond: '404' });
  standIn.lists.collections = [];
  expect(await page(standIn)).toMatchObject({ ids: [], pageCount: 0, pageNo: 1, totalRecordCount: 0 });
});

test('token, path, method and query are checked', async () => {
  const standIn = await standInOfTen({ token: 'other' });
  const refused = await get(standIn, '', { authorization: 'Bearer secret-token' });
  expect([refused.status, await refused.text()]).toEqual([401, '{"error":"unauthorized"}']);
  expect((await fetch(`${standIn.url}/v2/collections`)).status).toBe(401);
  expect((await get(standIn, '/1')).status).toBe(404);
  expect((await fetch(`${standIn.url}/v2/collections`, { method: 'POST' })).status).toBe(405);
  for (const query of ['?pageNo=0', '?pageNo=x', '?pageNo=', '?pageSize=0', '?pageSize=1.5'])
    expect((await get(standIn, query)).status, query).toBe(400);
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

test('pageNo can be ignored, lied about or clamped', async () => {
  const standIn = await standInOfTen({ pageNo: 'ignored', defaultPageSize: 4 });
  expect(await page(standIn, '?pageNo=3')).toMatchObject({ ids: [1, 2, 3, 4], pageNo: 1 });
  standIn.options.pageNo = 'ignored-lying-echo';
  expect(await page(standIn, '?pageNo=3')).toMatchObject({ ids: [1, 2, 3, 4], pageNo: 3 });
  standIn.options.pageNo = { clampTo: 2 };
  expect(await page(standIn, '?pageNo=3')).toMatchObject({ ids: [5, 6, 7, 8], pageNo: 2 });
});

test('gzip is used if the client accepts it', async () => {
  const standIn = await standInOfTen({ gzip: true });
  const zipped = await get(standIn, '', { 'accept-encoding': 'gzip' });
  expect(zipped.headers.get('content-encoding')).toBe('gzip');
  expect(((await zipped.json()) as Page).items).toHaveLength(10);
  const plain = await get(standIn, '', { 'accept-encoding': 'identity' });
  expect(plain.headers.get('content-encoding')).toBeNull();
});

test('the order can be reversed', async () => {
  const standIn = await standInOfTen({ order: 'reversed' });
  expect((await page(standIn)).ids).toEqual(oneToTen.toReversed());
});

test('an order shuffled per walk stays until the first page is asked for again', async () => {
  const standIn = await standInOfTen({ order: 'shuffled-per-walk', defaultPageSize: 5 });
  const walk = async () => [...(await page(standIn)).ids, ...(await page(standIn, '?pageNo=2')).ids];
  const [first, second] = [await walk(), await walk()];
  expect(first.toSorted((a, b) => a - b)).toEqual(oneToTen);
  expect(second.toSorted((a, b) => a - b)).toEqual(oneToTen);
  expect(second).not.toEqual(first);
});

test('removing an item leaves a shuffled walk in its order', async () => {
  const standIn = await standInOfTen({ order: 'shuffled-per-walk', defaultPageSize: 9 });
  const before = (await page(standIn)).ids;
  standIn.lists.collections.splice(0, 1);
  standIn.options.defaultPageSize = 1;
  const remaining = before.filter(id => id !== 1);
  expect((await page(standIn, '?pageNo=4')).ids).toEqual([remaining[3]]);
});

test('an order shuffled per request changes with each', async () => {
  const standIn = await standInOfTen({ order: 'shuffled-per-request' });
  const [first, second] = [await page(standIn), await page(standIn)];
  expect(second.ids).not.toEqual(first.ids);
});

test('totals and page counts can be wrong', async () => {
  const standIn = await standInOfTen({ totalError: 2, extraPageCount: 1 });
  expect(await page(standIn)).toMatchObject({ totalRecordCount: 12, pageCount: 2 });
});

test('a list can have a status of its own', async () => {
  const standIn = await standInOfTen({ status: { webhooks: 403, collections: 500 } });
  expect((await get(standIn)).status).toBe(500);
  delete standIn.options.status.collections;
  expect((await get(standIn)).status).toBe(200);
});

test('items that are strings and raw bodies are sent verbatim', async () => {
  const standIn = await standInOfTen();
  standIn.lists.collections = ['{"id":12345678901234567890}', '{"id"'];
  expect(await (await get(standIn)).text()).toMatch('{"items":[{"id":12345678901234567890},{"id"],');
  standIn.options.rawBody = (resource, pageNo) => Buffer.from(`${resource} ${pageNo} \xff`, 'latin1');
  expect(Buffer.from(await (await get(standIn)).arrayBuffer()).toString('latin1')).toBe('collections 1 \xff');
});

test('latency makes requests overlap, and overlapping requests are counted', async () => {
  const standIn = await standInOfTen();
  for (let n = 0; n < 20; n += 1) await page(standIn);
  expect(standIn.maxInFlight).toBe(1);
  standIn.options.latencyMs = 50;
  const startedAtMs = performance.now();
  await Promise.all([page(standIn), page(standIn), page(standIn)]);
  expect(performance.now() - startedAtMs).toBeGreaterThan(45);
  expect(standIn.maxInFlight).toBe(3);
});

test('hooks change the lists before and after an answer is computed', async () => {
  const standIn = await standInOfTen();
  standIn.onRequest = async () => {
    await wait(1);
    standIn.lists.collections.pop();
  };
  standIn.afterResponse = () => {
    standIn.lists.collections = [];
  };
  expect((await page(standIn)).ids).toEqual(oneToTen.slice(0, 9));
  expect((await page(standIn)).ids).toEqual([]);
});

test('an error in a hook comes out at the close', async () => {
  const standIn = await startStandIn();
  standIn.onRequest = () => {
    throw new Error('unexpected request');
  };
  await expect(get(standIn)).rejects.toThrow();
  await expect(standIn.close()).rejects.toThrow('unexpected request');
});

test('faults that are answers', async () => {
  const standIn = await standInOfTen();
  standIn.options.faults = ({ n }: RecordedRequest) => {
    if (n === 1) return { kind: 'status', status: 429, headers: { 'retry-after': '7' } };
    if (n === 2) return { kind: 'html' };
    if (n === 3) return { kind: 'redirect', location: 'http://127.0.0.1:1/' };
    return undefined;
  };
  const limited = await get(standIn);
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  const html = await get(standIn);
  expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html']);
  const redirect = await get(standIn);
  expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/']);
  expect((await get(standIn)).status).toBe(200);
});

test('faults of the connection', async () => {
  const standIn = await standInOfTen();
  standIn.options.faults = () => ({ kind: 'reset' });
  await expect(get(standIn)).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  for (const chunked of [false, true]) {
    standIn.options.faults = () => ({ kind: 'cut', chunked });
    const cut = await get(standIn);
    expect([cut.status, cut.headers.has('content-length')]).toEqual([200, !chunked]);
    await expect(cut.text()).rejects.toThrow('terminated');
  }
  standIn.options.faults = () => ({ kind: 'stall', ms: 100 });
  const stalled = await get(standIn);
  const startedAtMs = performance.now();
  await expect(stalled.text()).rejects.toThrow('terminated');
  expect(performance.now() - startedAtMs).toBeGreaterThan(80);
});

test('closing ends what is still under way', async () => {
  const standIn = await standInOfTen({ faults: () => ({ kind: 'stall', ms: 60_000 }) });
  const stalled = await get(standIn);
  await Promise.all([standIn.close(), expect(stalled.text()).rejects.toThrow()]);
  await standIn.close();
});

test('sample items are the same each time, and differ from one another', () => {
  expect(documentExport(7)).toEqual(documentExport(7));
  expect(documentExport(61)).toMatchObject({
    exportedAt: '2024-01-01T01:01:00Z',
    sourceConnection: { id: 2, name: 'Connection 2' },
  });
  expect(documentExport(3).sourceDocumentTitle).toContain('"');
  expect(documentExport(5).sourceDocumentTitle).toContain('🗂');
  expect(webhook(4, { description: null })).toMatchObject({ id: 4, description: null });
});

test('a temporary folder goes with its scope, and a missing database is an error', async () => {
  await using folder = temporaryFolder();
  expect(() => sqlite(`${folder.path}/none.sqlite`, 'SELECT 1')).toThrow('unable to open');
});
