import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

const page = JSON.stringify({
  items: [],
  pagination: { pageCount: 0, pageNo: 1, pageSize: 50, totalRecordCount: 0 },
});

/** Runs a sync against a server that begins each answer with these lines. */
async function syncFrom(before: string, headers: string) {
  await using scene = await setScene();
  const answer = `${before}HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${page.length}\r\n${headers}\r\n${page}`;
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  scene.env.DOCMIRROR_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const begun = performance.now();
  const ended = await scene.run('sync', '--give-up-after', '1m');
  server.close();
  return { ...ended, ms: performance.now() - begun };
}

test('an answer with 60 KiB of headers is read', async () => {
  const headers = Array.from({ length: 60 }, (_, n) => `X-H${n}: ${'a'.repeat(1_000)}\r\n`).join('');
  expect(await syncFrom('', headers)).toMatchObject({ code: 0 });
});

test.each([
  ['an unasked 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n', '', /100 Continue/],
  ['a repeated Content-Length', '', `Content-Length: ${page.length}\r\n`, /Content-Length/],
  ['more than 64 KiB of headers', '', `X-H: ${'a'.repeat(70_000)}\r\n`, /64 KiB/],
])('%s ends a list at once, in words that say what is wrong', async (_, before, headers, words) => {
  const { code, stdout, stderr, ms } = await syncFrom(before, headers);
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(words);
  expect(stdout + stderr).toMatch(/invalid_response/);
  expect(ms).toBeLessThan(5_000);
});
