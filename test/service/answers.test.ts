import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';

/** A scene whose service gives these answers; without any it has no records. */
async function ownScene(answer: (page: number, n: number, response: ServerResponse) => boolean) {
  const scene = await setScene();
  let requests = 0;
  const server = createServer(({ url = '' }: IncomingMessage, response) => {
    const pageNo = Number(new URL(url, 'http://localhost').searchParams.get('pageNo') ?? 1);
    if (answer(pageNo, ++requests, response)) return;
    const items = pageNo === 1 ? [{ id: 1 }] : [];
    const pagination = { pageCount: 1, pageNo, pageSize: 50, totalRecordCount: 1 };
    response.writeHead(200).end(JSON.stringify({ items, pagination }));
  });
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
  scene.env.DOCMIRROR_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scene.env.DOCMIRROR_TIMEOUT_MS = '12000';
  return {
    scene: scene as Scene,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}

/** A status, and the beginning of a body that never ends. */
function begin(response: ServerResponse, status: number, headers: Record<string, string> = {}): true {
  response.writeHead(status, { 'content-length': 100, ...headers }).write('{"error":');
  return true;
}

describe.concurrent('an answer whose body never ends is understood by its status:', () => {
  test('a token that is refused ends the run at once', async () => {
    await using own = await ownScene((_page, _n, response) => begin(response, 401));
    const synced = await own.scene.sync();
    expect(synced).toMatchObject({ code: 12, status: 'failed' });
    expect(synced.of('webhooks').error).toMatchObject({ code: 'unauthorized' });
    expect(own.requests()).toBe(3);
    expect(synced.summary.durationMs).toBeLessThan(10_000);
  });

  test('404 behind the last page is the end of the list', async () => {
    await using own = await ownScene((page, _n, response) => page > 1 && begin(response, 404));
    const synced = await own.scene.sync('--resource', 'webhooks', '--concurrency', '1');
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of('webhooks')).toMatchObject({ completeness: 'proven', retries: 0 });
    expect(synced.summary.durationMs).toBeLessThan(10_000);
  });

  test('429 is tried again at the time that the service asks for', async () => {
    const headers = { 'retry-after': '1' };
    await using own = await ownScene((_page, n, response) => n === 1 && begin(response, 429, headers));
    const synced = await own.scene.sync('--resource', 'webhooks', '--concurrency', '1');
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of('webhooks')).toMatchObject({ retries: 1 });
    expect(synced.summary.durationMs).toBeLessThan(10_000);
  });
});
