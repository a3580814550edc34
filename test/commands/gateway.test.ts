import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeAuthority } from '../service/certificates.ts';
import { startProxy, startTls } from '../service/servers.ts';
import { casesOf } from '../support/cases.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const key = 'a-key-of-the-gateway';
const page = JSON.stringify({
  items: [],
  pagination: { pageCount: 0, pageNo: 1, pageSize: 50, totalRecordCount: 0 },
});

test('a service behind a gateway that asks for a certificate, a header and parameters is mirrored', async () => {
  await using scene = await setScene();
  await using authority = makeAuthority();
  const ca = readFileSync(authority.file, 'utf8');
  const trusted = { ...authority.issue('DNS:localhost,IP:127.0.0.1'), ca };
  const server = createServer(
    { ...trusted, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const isKnown = request.headers['x-api-key'] === key && request.url?.endsWith('tenant=acme');
      response.writeHead(isKnown ? 200 : 403, { 'content-type': 'application/json' });
      response.end(page);
    },
  );
  const asked: boolean[] = [];
  server.on('secureConnection', socket => asked.push(socket.authorized));
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const own = authority.issue('DNS:docmirror');
  const at = (name: string) => join(scene.folder, name);
  writeFileSync(at('own.pem'), own.cert);
  writeFileSync(at('own.key'), own.key);
  writeFileSync(at('headers'), `# the gateway\nX-Api-Key: ${key} # of 2026\r\n\n`, { mode: 0o600 });
  Object.assign(scene.env, {
    DOCMIRROR_BASE_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    NODE_EXTRA_CA_CERTS: authority.file,
    DOCMIRROR_QUERY: 'tenant=acme',
    DOCMIRROR_HEADERS_FILE: at('headers'),
    DOCMIRROR_CLIENT_CERT_FILE: at('own.pem'),
    DOCMIRROR_CLIENT_KEY_FILE: at('own.key'),
    DOCMIRROR_LOG_LEVEL: 'trace',
  });
  const done = await scene.run('sync', '--json');
  expect(done.code, done.stderr).toBe(0);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked).not.toContain(false);
  const doctor = await scene.run('doctor', '--json');
  expect(doctor.stdout).toMatch(/x-api-key.*client certificate expires on/s);
  const receipts = JSON.stringify(sqlite(scene.database, 'SELECT receipt FROM sync_receipts'));
  for (const text of [done.stdout, done.stderr, doctor.stdout, doctor.stderr, receipts])
    expect(text).not.toMatch(/a-key-of-the-gateway|PRIVATE KEY|=acme/);
  chmodSync(at('headers'), 0o644);
  expect((await scene.run('sync')).stderr).toMatch(/others can read the headers file/);
  delete scene.env.DOCMIRROR_HEADERS_FILE;
  expect(await scene.run('sync')).toMatchObject({ code: 12 });
  server.closeAllConnections();
  server.close();
});

const ways = [
  ['through an https proxy', 'https'],
  ['through an http proxy', 'http'],
  ['directly', null],
] as const;

test.each(casesOf(ways, 3))(
  'a client certificate reaches the service %s, and one that is missing is an error of its own',
  async (_way, scheme) => {
    await using scene = await setScene();
    await using authority = makeAuthority();
    const ca = readFileSync(authority.file, 'utf8');
    const trusted = { ...authority.issue('DNS:localhost,IP:127.0.0.1'), ca, requestCert: true };
    await using front = await startTls(Number(new URL(scene.service.url).port), trusted);
    // It asks for a certificate, too, and must not get one.
    await using proxy = await startProxy(
      scheme === 'https' ? { tls: { ...trusted, rejectUnauthorized: false } } : {},
    );
    const own = authority.issue('DNS:docmirror');
    const [cert, key] = ['own.pem', 'own.key'].map(name => join(scene.folder, name)) as [string, string];
    writeFileSync(cert, own.cert);
    writeFileSync(key, own.key);
    Object.assign(scene.env, {
      DOCMIRROR_BASE_URL: `https://127.0.0.1:${front.port}`,
      NODE_EXTRA_CA_CERTS: authority.file,
      HTTPS_PROXY: scheme === null ? '' : `${scheme}://127.0.0.1:${proxy.port}`,
      DOCMIRROR_GIVE_UP_AFTER: '0',
    });
    const shown = ['--client-cert-file', cert, '--client-key-file', key];
    expect(await scene.sync(...shown)).toMatchObject({ code: 0, status: 'completed' });
    expect(scene.service.requests.length).toBeGreaterThan(2);
    const tunnels = scheme === null ? [] : [`CONNECT 127.0.0.1:${front.port}`];
    expect(new Set(proxy.asked)).toEqual(new Set(tunnels));
    expect(proxy.certificates()).toBe(0);
    const heard = front.bytesHeard();
    const without = await scene.sync();
    expect(without).toMatchObject({ code: 1, status: 'failed' });
    expect(without.of('webhooks').error).toMatchObject({ code: 'certificate' });
    expect(front.bytesHeard()).toBe(heard);
  },
);

test.each([
  'Authorization: Bearer x',
  'Host: a',
  'If-Match: x',
  'Connection: close',
  'Range: bytes=0-',
  'A: 1\na: 2',
  'no colon',
  'A: ü',
])('the headers file %j is refused', async text => {
  await using scene = await setScene();
  writeFileSync(join(scene.folder, 'headers'), text, { mode: 0o600 });
  const refused = await scene.run('sync', '--headers-file', join(scene.folder, 'headers'));
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stdout + refused.stderr).toMatch(/DOCMIRROR_HEADERS_FILE: line \d/);
});

test('a new header of the file is used once the old one is refused', async () => {
  await using scene = await setScene({}, { exports: 300 });
  const file = join(scene.folder, 'headers');
  writeFileSync(file, 'X-Key: old-key-1\n', { mode: 0o600 });
  const seen = new Set<unknown>();
  scene.service.onRequest = ({ n, headers }) => {
    seen.add(headers['x-key']);
    if (n === 2) writeFileSync(file, 'X-Key: new-key-1\n');
    scene.service.options.token = n > 2 && headers['x-key'] === 'old-key-1' ? 'another' : token;
  };
  const token = scene.service.options.token;
  const ended = await scene.run('sync', '--headers-file', file, '--page-size', '50');
  expect(ended.code, ended.stderr).toBe(0);
  expect([...seen]).toEqual(['old-key-1', 'new-key-1']);
});

test('an address for success and one for failure are asked by GET as they are', async () => {
  await using scene = await setScene();
  const { createServer: createPlain } = await import('node:http');
  const asked: string[] = [];
  const monitor = createPlain((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end();
  });
  await new Promise<void>(done => monitor.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(monitor.address() as AddressInfo).port}`;
  scene.env.DOCMIRROR_PING_SUCCESS_URL = `${url}/push/1?status=up&c=%c`;
  scene.env.DOCMIRROR_PING_FAILURE_URL = `${url}/push/1?status=down`;
  expect(await scene.run('sync')).toMatchObject({ code: 0 });
  expect(await scene.run('sync', '--token', 'wrong-token-1')).toMatchObject({ code: 12 });
  expect(asked).toEqual(['GET /push/1?status=up&c=%c', 'GET /push/1?status=down']);
  monitor.closeAllConnections();
  monitor.close();
});
