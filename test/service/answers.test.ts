import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';

/** A status, and the beginning of a body that never ends. */
function begin(response: ServerResponse, status: number, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-length': 100, ...headers }).write('{"error":');
  return true;
}

/**
 * A scene with one webhook. Its service gives an answer of its own if it wants to.
 *
 * @param answer gives it, by the page's number and how many requests there were, and returns whether it did.
 */
async function setOwn(answer: (pageNo: number, requests: number, response: ServerResponse) => boolean) {
  const scene: Scene = await setScene();
  let requests = 0;
  const server = createServer(({ url = '' }, response) => {
    const pageNo = Number(new URL(url, 'http://localhost').searchParams.get('pageNo') ?? 1);
    if (answer(pageNo, ++requests, response)) return;
    const pagination = { pageCount: 1, pageNo, pageSize: 1, totalRecordCount: 1 };
    response.end(JSON.stringify({ items: pageNo === 1 ? [{ id: 1 }] : [], pagination }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  scene.env.DOCMIRROR_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scene.env.DOCMIRROR_TIMEOUT_MS = '12000';
  return {
    /** Syncs the webhooks, and says how long that took, in milliseconds. */
    async sync() {
      const synced = await scene.sync('--resource', 'webhooks', '--concurrency', '1');
      return { code: synced.code, ...synced.of('webhooks'), ms: synced.summary.durationMs };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}

describe.concurrent('an answer whose body never ends is understood by its status:', () => {
  test('a token that is refused ends the run at once', async () => {
    await using own = await setOwn((_page, _requests, response) => begin(response, 401));
    const { ms, ...list } = await own.sync();
    expect(list).toMatchObject({ code: 12, status: 'failed', error: { code: 'unauthorized' } });
    expect(ms).toBeLessThan(10_000);
  });

  test('404 behind the last page is the end of the list', async () => {
    await using own = await setOwn((pageNo, _requests, response) => pageNo > 1 && begin(response, 404));
    const { ms, ...list } = await own.sync();
    expect(list).toMatchObject({ code: 0, completeness: 'proven', retries: 0 });
    expect(ms).toBeLessThan(10_000);
  });

  test('429 is tried again at the time that the service asks for', async () => {
    const wait = { 'retry-after': '1' };
    await using own = await setOwn(
      (_page, requests, response) => requests === 1 && begin(response, 429, wait),
    );
    const { ms, ...list } = await own.sync();
    expect(list).toMatchObject({ code: 0, completeness: 'proven', retries: 1 });
    expect(ms).toBeGreaterThanOrEqual(1_000);
    expect(ms).toBeLessThan(10_000);
  });
});
