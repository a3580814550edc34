import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpClient } from '../../src/service/http-client.ts';
import { Secrets } from '../../src/service/secrets.ts';

let body = Buffer.alloc(0);
let headers: IncomingHttpHeaders = {};
const server = createServer((request, response) => {
  ({ headers } = request);
  if (request.url === '/stated') response.setHeader('content-length', body.length);
  else response.write(body.subarray(0, Math.floor(body.length / 3)));
  response.end(request.url === '/stated' ? body : body.subarray(Math.floor(body.length / 3)));
});
let client: HttpClient;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  client = new HttpClient({
    baseUrl,
    timeoutMs: 5_000,
    concurrency: 1,
    userAgent: 'test',
    secrets: new Secrets(),
  });
});

afterAll(async () => {
  await client.close();
  server.close();
});

describe.each([
  ['that says how long it is', '/stated'],
  ['that does not say it', '/chunked'],
])('a body %s', (_what, path) => {
  test.each([0, 1, 65_536, 65_537, 200_000, 1_000_000])('comes whole: %i bytes', async bytes => {
    body = randomBytes(bytes);
    const came = await client.get(path, 'token', new AbortController().signal);
    expect(came.equals(body)).toBe(true);
    // A cache on the way could give both readings the same old page.
    expect(headers['cache-control']).toBe('no-cache');
  });
});
