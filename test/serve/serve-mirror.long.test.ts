import { once } from 'node:events';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';
import { collection, documentExport } from '../support/stand-in.ts';

const exportsPath = '/v2/document-exports?pageSize=5';
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

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

describe('the report that is served', () => {
  test('is a page that cannot load anything, cannot be framed, and sends no referrer', async () => {
    const answer = await served.get('/');
    expect(answer.status).toBe(200);
    const { headers } = answer;
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(await answer.text()).toContain('<title>Document exports</title>');
  });

  test('needs the token: as bearer token, or as the password of a browser', async () => {
    expect((await served.get('/', basic('anyone', servedToken))).status).toBe(200);
    expect((await served.get('/', basic('', servedToken))).status).toBe(200);
    for (const headers of [
      { authorization: '' },
      { authorization: 'Bearer wrong' },
      { authorization: 'Basic !!!' },
      { authorization: `Basic ${Buffer.from(servedToken).toString('base64')}` },
      basic(servedToken, 'wrong'),
      basic('anyone', ''),
    ]) {
      const answer = await served.get('/', headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Basic realm="docmirror", charset="UTF-8"');
      expect(await answer.text()).not.toContain('Document');
    }
    // The lists are for programs: a browser must never be led into sending the password there.
    expect((await served.get(exportsPath, basic('anyone', servedToken))).status).toBe(401);
  });
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

  test('are refused as ever if the request is wrong', async () => {
    expect((await served.get('/v2/webhooks?pageNo=-1', { 'if-none-match': '*' })).status).toBe(400);
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

  test('of the report are the very same page', async () => {
    const [one, other] = await Promise.all([served.get('/'), served.get('/')]);
    expect(await one.text()).toBe(await other.text());
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

describe('a client that lies', () => {
  test('gets a page of words for an address of a page that is malformed', async () => {
    const head = `GET /?x=%zz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${servedToken}\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(head);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(
      '<p class="empty">The address contains a percent-encoding that is not well-formed',
    );
  });

  test.each([
    ['/v2/webhooks?pageNo=-1', 400],
    ['/v2/webhooks?pageSize=1000000000', 400],
    ['/v2/webhooks?pageNo=%00', 400],
    ['/%00', 400],
    ['/../../etc/passwd', 404],
    ['/docmirror-report.html', 404],
  ])('gets a clear refusal for %s', async (target, status) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${servedToken}\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(head);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.message.length).toBeGreaterThan(10);
  });

  test('gets 431 for a header of a megabyte', async () => {
    const answer = await exchange(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(1024 * 1024)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 |^$/);
  });

  test('does not keep others from being served, with 500 connections that send a byte now and then', async () => {
    const sockets = await Promise.all(Array.from({ length: 500 }, slowLoris));
    // Further connections take the place of those that have been idle longest.
    await expect
      .poll(() => sockets.filter(socket => !socket.destroyed).length, { timeout: 5_000 })
      .toBeLessThanOrEqual(256);
    expect((await served.get(exportsPath)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await wait(100);
    expect((await served.get('/')).status).toBe(200);
  });

  test('leaves the mirror as it was', () => {
    expect(sqlite(scene.database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  async function slowLoris(): Promise<Socket> {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    await wait(300);
    socket.write('a', () => undefined);
    return socket;
  }

  async function exchange(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(bytes);
    return text(socket).catch(() => '');
  }
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
    error: { code: 'mirror_file', message: expect.stringMatching(/mirror.*(damaged|Restore it)/) },
  });
  expect(stderr).not.toContain('    at ');
});

describe('docmirror serve --token-file', () => {
  test('takes the token from the file, and says in one line if it can not', async () => {
    const file = join(scene.folder, 'serve-token');
    const refused = await scene.run('serve', '--token-file', file);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toBe(`docmirror: --token-file: ${file} can't be read (ENOENT). [settings]\n`);
    writeFileSync(file, 'from-a-file\n');
    await using cli = spawnCli(['serve', '--port', '0', '--token-file', file], {
      env: { DOCMIRROR_DATABASE: scene.database },
    });
    const [first] = await once(cli.child.stdout as NonNullable<typeof cli.child.stdout>, 'data');
    const url = String(first).trim().split(' ').at(-1);
    const answer = await fetch(`${url}/v2/webhooks`, { headers: { authorization: 'Bearer from-a-file' } });
    expect(answer.status).toBe(200);
    cli.child.kill('SIGTERM');
    const { code, stderr } = await cli.done;
    expect(code).toBe(143);
    expect(stderr).not.toContain('from-a-file');
  });
});
