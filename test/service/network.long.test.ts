import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Authority, type KeyPair, makeAuthority } from './certificates.ts';
import { startProxy, startTls, type TlsFront } from './servers.ts';

let authority: Authority;
let good: KeyPair;

beforeAll(() => {
  authority = makeAuthority();
  good = authority.issue('DNS:localhost,IP:127.0.0.1,IP:::1');
});

afterAll(() => authority[Symbol.asyncDispose]());

/** A scene whose service is reached by TLS; `host` is how it is called. */
async function tlsScene(options: TlsOptions, host = '127.0.0.1'): Promise<{ scene: Scene; front: TlsFront }> {
  const scene = await setScene({}, { exports: 3, collections: 1, webhooks: 1 });
  const listenAt = host === '[::1]' ? '::1' : '127.0.0.1';
  const front = await startTls(Number(new URL(scene.service.url).port), options, listenAt);
  Object.assign(scene.env, {
    DOCMIRROR_BASE_URL: `https://${host}:${front.port}`,
    NODE_EXTRA_CA_CERTS: authority.file,
    DOCMIRROR_GIVE_UP_AFTER: '0',
  });
  return { scene, front };
}

const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

describe.concurrent('a certificate', () => {
  test.each(['127.0.0.1', 'localhost', '[::1]'])(
    'of the company’s own authority is accepted at %s',
    async host => {
      const { scene, front } = await tlsScene(good, host);
      await using _scene = scene;
      await using _front = front;
      expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
    },
  );

  test('counts, too, if NODE_EXTRA_CA_CERTS is in a file of settings', async () => {
    const { scene, front } = await tlsScene(good);
    await using _scene = scene;
    await using _front = front;
    const file = join(scene.folder, 'one.env');
    writeFileSync(file, `NODE_EXTRA_CA_CERTS=${authority.file}\n`);
    const { NODE_EXTRA_CA_CERTS: _file, ...env } = scene.env;
    expect(await runCli(['sync', '--env-file', file], { env })).toMatchObject({ code: 0 });
  });

  const refused: [name: string, names: string, days: number, extra: string | null, said: RegExp][] = [
    ['of an unknown authority', 'IP:127.0.0.1', 30, null, /SIGNATURE/],
    [
      'that has expired',
      'IP:127.0.0.1',
      -1,
      'own',
      new RegExp(`the certificate of the service expired on ${yesterday()}T.*Z \\(CERT_HAS_EXPIRED\\)$`),
    ],
    ['for another host', 'DNS:other.example', 30, 'own', /ALTNAME/],
  ];

  test.each(refused)('%s is refused by name before anything is sent', async (_, names, days, extra, said) => {
    const { scene, front } = await tlsScene(authority.issue(names, days));
    await using _scene = scene;
    await using _front = front;
    if (extra === null) delete scene.env.NODE_EXTRA_CA_CERTS;
    // Node's own setting to go on regardless changes nothing.
    scene.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    scene.env.DOCMIRROR_GIVE_UP_AFTER = '5s';
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 1, status: 'failed' });
    const { error, requests } = synced.of('collections');
    expect(error).toMatchObject({ code: 'certificate', message: expect.stringMatching(said) });
    expect(requests).toBe(1);
    expect(front.bytesHeard()).toBe(0);
    expect(scene.service.requests).toEqual([]);
  });

  test('can not be had from a server that speaks no TLS', async () => {
    await using scene = await setScene();
    scene.env.DOCMIRROR_BASE_URL = scene.service.url.replace('http:', 'https:');
    const { error } = (await scene.sync()).of('collections');
    expect(error).toMatchObject({ code: 'tls', message: expect.stringContaining('is not TLS') });
  });

  test.each([
    ['that is missing', null, /NODE_EXTRA_CA_CERTS: .*ca\.pem can't be read \(ENOENT\)/],
    ['that holds none', 'nothing', /NODE_EXTRA_CA_CERTS: .*ca\.pem contains no certificate/],
  ])('file %s is refused by name, exit code 2', async (_name, content, said) => {
    await using scene = await setScene();
    const file = join(scene.folder, 'ca.pem');
    if (content !== null) writeFileSync(file, content);
    scene.env.NODE_EXTRA_CA_CERTS = file;
    const { code, stderr } = await scene.run('sync');
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(scene.service.requests).toEqual([]);
  });
});

describe.concurrent('a proxy', () => {
  test.each(['HTTPS_PROXY', 'https_proxy'])('named by %s carries https as a tunnel', async variable => {
    const { scene, front } = await tlsScene(good);
    await using _scene = scene;
    await using _front = front;
    await using proxy = await startProxy({ account: 'me:pass%word' });
    Object.assign(scene.env, {
      https_proxy: '',
      [variable]: `http://me:pass%25word@127.0.0.1:${proxy.port}`,
    });
    expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT 127.0.0.1:${front.port}`]));
  });

  test('needs no scheme, carries http, and can be spoken to by TLS', async () => {
    await using scene = await setScene();
    await using plain = await startProxy();
    scene.env.HTTP_PROXY = `127.0.0.1:${plain.port}`;
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(plain.asked.length).toBeGreaterThan(2);
    await using secure = await startProxy({ tls: good });
    scene.env.HTTP_PROXY = `https://127.0.0.1:${secure.port}`;
    scene.env.NODE_EXTRA_CA_CERTS = authority.file;
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(secure.asked.length).toBeGreaterThan(2);
  });

  test('is left alone if NO_PROXY excepts the host', async () => {
    await using scene = await setScene();
    await using proxy = await startProxy();
    Object.assign(scene.env, {
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      NO_PROXY: 'x.example, 127.0.0.1',
    });
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(proxy.asked).toEqual([]);
  });

  test.each(['http', 'https'])(
    'that wants a password is asked once for %s, and the password never shown',
    async scheme => {
      const { scene, front } = await tlsScene(good);
      await using _scene = scene;
      await using _front = front;
      await using proxy = await startProxy({ account: 'me:the-right-one' });
      if (scheme === 'http') scene.env.DOCMIRROR_BASE_URL = scene.service.url;
      scene.env.DOCMIRROR_GIVE_UP_AFTER = '5s';
      scene.env[`${scheme}_proxy`] = `http://me:the-wrong-one@127.0.0.1:${proxy.port}`;
      const synced = await scene.sync();
      expect(synced).toMatchObject({ code: 1 });
      expect(synced.of('webhooks')).toMatchObject({
        requests: 1,
        error: { code: 'proxy', message: expect.stringMatching(/user name and a password \(407\).*_proxy/) },
      });
      expect(proxy.asked).toHaveLength(3);
      expect(JSON.stringify(synced.summary) + synced.stderr).not.toContain('the-wrong-one');
      expect(scene.service.requests).toEqual([]);
    },
  );

  test.each([
    [403, 1],
    [502, 2],
  ])('that answers %i is asked at least %i times', async (status, times) => {
    const { scene, front } = await tlsScene(good);
    await using _scene = scene;
    await using _front = front;
    await using proxy = await startProxy({ status });
    Object.assign(scene.env, {
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      DOCMIRROR_GIVE_UP_AFTER: '4s',
    });
    const synced = await scene.sync('--resource', 'webhooks');
    expect(synced.of('webhooks').error).toMatchObject({
      code: 'proxy',
      message: expect.stringContaining(`did not connect to the service (${status})`),
    });
    expect(proxy.asked.length).toBeGreaterThanOrEqual(times);
  });

  test.each(['refuses connections', 'hangs up', 'is silent'])(
    'that %s is an error, and never gone around',
    async way => {
      const { scene, front } = await tlsScene(good);
      await using _scene = scene;
      await using _front = front;
      const server = createServer(socket => {
        socket.on('error', () => undefined);
        if (way === 'hangs up') socket.destroy();
      });
      await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' ? address?.port : undefined;
      if (way === 'refuses connections') server.close();
      Object.assign(scene.env, { HTTPS_PROXY: `http://127.0.0.1:${port}`, DOCMIRROR_TIMEOUT_MS: '1500' });
      const synced = await scene.sync('--resource', 'webhooks');
      server.close();
      expect(synced).toMatchObject({ code: 1 });
      expect(synced.of('webhooks').error).toMatchObject({
        code: way === 'is silent' ? 'timeout' : 'proxy',
        message: expect.stringContaining(`through the proxy http://127.0.0.1:${port}`),
      });
      expect(front.bytesHeard()).toBe(0);
    },
  );
});
