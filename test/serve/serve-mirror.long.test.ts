import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';
import { collection, documentExport } from '../support/stand-in.ts';

const exportsPath = '/v2/document-exports?pageSize=5';
let scene: Scene;
let served: Served;
beforeAll(async () => {
  scene = await setScene();
  await scene.sync();
  served = await serveScene(scene, '--max-age', '1h');
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

describe('answers that a client has already', () => {
  test.each(['/', exportsPath, '/v2/webhooks'])('are not sent again until the next run: %s', async path => {
    const first = await served.get(path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]+"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await served.get(path, { 'if-none-match': known });
      expect(again.status).toBe(304);
      expect(again.headers.get('etag')).toBe(etag);
      expect(await again.text()).toBe('');
    }
    expect((await served.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const refused = await served.get(path, { 'if-none-match': etag, authorization: 'Bearer wrong' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('etag')).toBeNull();
  });

  test('are new after a run, and show what it changed', async () => {
    const before = await served.get(exportsPath);
    const page = await served.get('/');
    scene.service.lists['document-exports'].push(documentExport(700));
    scene.service.lists.collections.push({ ...collection(70), name: 'brand new' });
    await scene.sync();
    const known = { 'if-none-match': before.headers.get('etag') ?? '' };
    const after = await served.get(exportsPath, known);
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
    const fresh = await served.get('/', { 'if-none-match': page.headers.get('etag') ?? '' });
    expect(fresh.status).toBe(200);
    expect(await fresh.text()).toContain('brand new');
  });
});

describe('the health of the server', () => {
  test('is answered without a token, and contains no record', async () => {
    for (const path of ['/healthz', '/livez', '/metrics', '/openapi.json']) {
      const answer = await fetch(served.url + path);
      expect(answer.status).toBe(200);
      expect(await answer.text()).not.toMatch(/Document \d|Connection \d|hooks\.example/);
    }
  });

  test('is answered, too, if the mirror can not be read any more', async () => {
    await using spoilt = await setScene();
    await spoilt.sync();
    await using brief = await serveScene(spoilt);
    rmSync(spoilt.database);
    writeFileSync(spoilt.database, 'no mirror');
    await wait(1_100);
    const metrics = await fetch(`${brief.url}/metrics`);
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toMatch(/^docmirror_mirror_readable 0$/m);
    const health = await fetch(`${brief.url}/healthz`);
    expect(health.status).toBe(503);
    expect(await health.json()).toEqual({ status: 'unreadable' });
  });

  test('turns bad when a list becomes too old, and the report then says so', async () => {
    await using brief = await serveScene(scene, '--max-age', '6s');
    await scene.sync();
    const fresh = await brief.get('/');
    expect((await fetch(`${brief.url}/healthz`)).status).toBe(200);
    await wait(6_100);
    const health = await fetch(`${brief.url}/healthz`);
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({ status: 'stale', lists: [{}, {}, {}] });
    const stale = await brief.get('/', { 'if-none-match': fresh.headers.get('etag') ?? '' });
    expect(stale.status).toBe(200);
    expect(await stale.text()).toContain('older than allowed');
    expect((await fetch(`${brief.url}/livez`)).status).toBe(200);
  });
});

test('a page with a malformed address is one of words', async () => {
  const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
  const lines = [
    'GET /?x=%zz HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${servedToken}`,
    'Connection: close',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain(
    '<p class="empty">The address contains a percent-encoding that is not well-formed',
  );
});

test('a mirror that somebody emptied is a failed request, and a line in the log without a stack', async () => {
  await using emptied = await setScene();
  await emptied.sync();
  await using serving = await serveScene(emptied);
  expect((await serving.get(exportsPath)).status).toBe(200);
  truncateSync(emptied.database);
  expect((await serving.get('/v2/collections')).status).toBe(500);
  serving.cli.child.kill('SIGTERM');
  const { stderr } = await serving.cli.done;
  const [logged] = stderr.split('\n').filter(line => line.startsWith('{'));
  expect(JSON.parse(logged ?? '')).toMatchObject({
    msg: 'A request failed.',
    error: { code: 'mirror_file', message: expect.stringContaining('is empty') },
  });
  expect(stderr).not.toContain('    at ');
});
