import { Readable } from 'node:stream';
import { fastify } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gzipped } from '../../src/serve/gzip.ts';

const app = fastify();
let url: string;
const text = 'a line of a file\n'.repeat(10_000);

beforeAll(async () => {
  app.addHook('onSend', (request, reply, payload) => gzipped(request, reply, payload, 1024));
  app.get('/text', async () => text);
  app.get('/short', async () => 'short');
  app.get('/stream', (_request, reply) => reply.header('vary', 'authorization').send(Readable.from([text])));
  app.get('/broken', (_request, reply) => {
    const parts = async function* () {
      yield text;
      throw new Error('the disk is gone');
    };
    return reply.send(Readable.from(parts()));
  });
  url = await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

const get = (path: string, encoding: string) =>
  fetch(url + path, { headers: { 'accept-encoding': encoding } });

test.each([
  ['gzip', true],
  ['br, gzip', true],
  ['GZIP;q=0.5, identity', true],
  ['gzip;q=1.0', true],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['x-gzip', false],
  ['gzip2', false],
  ['identity', false],
])('an answer to a client that takes %j is compressed: %s', async (encoding, isZipped) => {
  for (const path of ['/text', '/stream']) {
    const answer = await get(path, encoding);
    expect(answer.headers.get('content-encoding')).toBe(isZipped ? 'gzip' : null);
    expect(answer.headers.get('vary')).toContain('accept-encoding');
    expect((await answer.text()) === text).toBe(true);
  }
});

test('a short answer is sent as it is, and what an answer depends on besides stays named', async () => {
  const short = await get('/short', 'gzip');
  expect([short.headers.get('content-encoding'), await short.text()]).toEqual([null, 'short']);
  expect((await get('/stream', 'gzip')).headers.get('vary')).toBe('authorization, accept-encoding');
});

test('an answer that fails on its way is cut off, so that nobody takes it for whole', async () => {
  await expect(get('/broken', 'gzip').then(answer => answer.text())).rejects.toThrow();
  expect((await get('/text', 'gzip')).status).toBe(200);
});
