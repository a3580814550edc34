import { once } from 'node:events';
import { createServer, get as httpGet, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';
import { collection, documentExport } from '../support/stand-in.ts';

let scene: Scene;
let served: Served;
beforeAll(async () => {
  scene = await setScene({}, { exports: 1_203 });
  await scene.sync();
  const { lists } = scene.service;
  lists['document-exports'] = lists['document-exports'].slice(40);
  lists.collections[0] = collection(1, { name: 'another name' });
  lists['document-exports'].push(documentExport(5_000, { sourceDocumentKind: 'map' }));
  await scene.sync('--allow-mass-removal');
  lists['document-exports'].splice(0, 3);
  lists.webhooks.pop();
  await scene.sync('--full');
  served = await serveScene(scene);
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const headers = { authorization: `Bearer ${servedToken}` };

function rowsOf(text: string): string[][] {
  return (parse(text, { bom: true }) as string[][]).slice(1);
}

const files = [
  ['/document-exports.csv', 1_161],
  ['/document-exports.csv?q=document', 1_071],
  ['/document-exports.csv?kind=map', 1],
  ['/document-exports.csv?q=nothing-has-this', 0],
  ['/collections.csv', 7],
  ['/webhooks.csv', 2],
  ['/connections.csv', null],
  ['/changes.csv', null],
  ['/changes.csv?order=asc', null],
  ['/changes.csv?operation=removal', 44],
  ['/changes.csv?operation=update', 1],
  ['/changes.csv?run=1', null],
  ['/changes.csv?resource=document-exports', 1_247],
  ['/changes.csv?q=document&sort=runId&order=asc', null],
  ['/changes.csv?from=2000-01-01&to=2000-01-02', 0],
  ['/changes.csv?kind=map', 1],
] as const;
test.each(casesOf(files, 3))(
  '%s says in a header how many rows it has, packed or not',
  async (path, expected) => {
    const answer = await served.get(path, { 'accept-encoding': 'identity' });
    const rows = rowsOf(await answer.text());
    expect(Number(answer.headers.get('x-total-count'))).toBe(rows.length);
    if (expected !== null) expect(rows).toHaveLength(expected);
    const packed = await served.get(path, { 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('x-total-count')).toBe(String(rows.length));
    expect(rowsOf(await packed.text())).toEqual(rows);
  },
);

test('changes in a file are the same, in the same order, with a condition that all of them meet', async () => {
  for (const order of ['asc', 'desc']) {
    const all = await (await served.get(`/changes.csv?order=${order}`)).text();
    const filtered = await (await served.get(`/changes.csv?order=${order}&from=2000-01-01`)).text();
    expect(filtered).toBe(all);
  }
});

test.each([
  ['gzip', true],
  ['br;q=1.0, gzip;q=0.5', true],
  ['*', true],
  ['gzip;q=0', false],
  ['deflate', false],
])('a file is packed for a client that takes %s: %s', async (accepted, isPacked) => {
  const [answer] = (await once(
    httpGet(`${served.url}/collections.csv`, { headers: { ...headers, 'accept-encoding': accepted } }),
    'response',
  )) as [IncomingMessage];
  const bytes = await buffer(answer);
  expect(answer.headers['content-encoding']).toBe(isPacked ? 'gzip' : undefined);
  expect(answer.headers.vary).toContain('accept-encoding');
  expect(rowsOf(String(isPacked ? gunzipSync(bytes) : bytes))).toHaveLength(7);
});

test('a file that breaks off behind a proxy that makes it whole is known to be cut', async () => {
  // As lighttpd and Caddy do: what came before the connection broke is passed on as a whole answer.
  const proxy = createServer((incoming, outgoing) => {
    const upstream = request(served.url + incoming.url, { headers: incoming.headers });
    upstream.on('error', () => undefined).end();
    upstream.on('response', response => {
      const { 'transfer-encoding': _, connection: _c, ...passed } = response.headers;
      outgoing.writeHead(response.statusCode ?? 500, passed);
      let bytes = 0;
      response.on('error', () => undefined);
      response.on('data', (piece: Buffer) => {
        const rest = piece.subarray(0, Math.max(0, cutAt - bytes));
        bytes += piece.length;
        if (rest.length > 0) outgoing.write(rest);
        if (bytes < cutAt) return;
        response.destroy();
        outgoing.end();
      });
    });
  });
  const cutAt = 5_000;
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/document-exports.csv`;
  try {
    const plain = await fetch(url, { headers: { ...headers, 'accept-encoding': 'identity' } });
    const lines = (await plain.text()).split('\n').length;
    expect(plain.status).toBe(200);
    expect(Number(plain.headers.get('x-total-count'))).toBe(1_161);
    expect(lines).toBeLessThan(100);
    const [packed] = (await once(
      httpGet(url, { headers: { ...headers, 'accept-encoding': 'gzip' } }),
      'response',
    )) as [IncomingMessage];
    const bytes = await buffer(packed);
    expect(packed.complete).toBe(true);
    expect(() => gunzipSync(bytes)).toThrow('unexpected end of file');
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('HEAD of a file has the headers of its form, and no count, because no row is read', async () => {
  const answer = await fetch(`${served.url}/changes.csv`, { method: 'HEAD', headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="changes.csv"');
  expect(answer.headers.get('x-total-count')).toBeNull();
});

test('downloads that are given up give their places back', async () => {
  for (let round = 0; round < 12; round++) {
    const leaving = new AbortController();
    const answer = await fetch(`${served.url}/changes.csv`, { headers, signal: leaving.signal });
    expect(answer.status).toBe(200);
    leaving.abort();
    await answer.text().catch(() => undefined);
  }
  await wait(100);
  const whole = await served.get('/collections.csv');
  expect(rowsOf(await whole.text())).toHaveLength(7);
});
