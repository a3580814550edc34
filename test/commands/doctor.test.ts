import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { unfinishedPath } from '../../src/store/file/unfinished.ts';
import { makeAuthority } from '../service/certificates.ts';
import { startProxy, startTls } from '../service/servers.ts';
import { onMount } from '../support/mount.ts';
import { type Scene, setScene } from '../support/scene.ts';

interface Diagnosed {
  readonly code: number | null;
  readonly ok: boolean;
  /** The whole output. */
  readonly text: string;
  of(check: string): { status: string; found: string; todo: string | null } | undefined;
}

/** Names and contents of all that lies in a folder. */
function contentOf(folder: string): unknown {
  return readdirSync(folder)
    .sort()
    .map(name => [name, lstatSync(join(folder, name)).isFile() && readFileSync(join(folder, name), 'hex')]);
}

/** Runs doctor, which must change nothing and show no secret. */
async function doctor(scene: Scene, ...args: string[]): Promise<Diagnosed> {
  const before = contentOf(scene.folder);
  const { code, stdout, stderr } = await scene.run('doctor', '--json', ...args);
  expect(contentOf(scene.folder)).toEqual(before);
  expect(stdout + stderr).not.toMatch(/secret-|wrong-password/);
  const { ok, exitCode, checks } = JSON.parse(stdout);
  expect(exitCode).toBe(code);
  return {
    code,
    ok,
    text: stdout,
    of: name => checks.find(({ check }: { check: string }) => check === name),
  };
}

async function syncCode(scene: Scene): Promise<number | null> {
  return (await scene.run('sync')).code;
}

function alter({ database }: Scene, sql: string): void {
  new Database(database).exec(sql).close();
}

test('finds that all is well, before the first run and after it', async () => {
  await using scene = await setScene({ firstPage: 0, defaultPageSize: 25 });
  const first = await doctor(scene);
  expect(first).toMatchObject({ code: 0, ok: true });
  expect(first.of('mirror')?.found).toMatch(/there is none/);
  expect(first.of('pages')?.found).toContain('document-exports: first page 0, 25 a page, 130 records');
  expect(scene.service.requests).toHaveLength(3);
  await scene.sync();
  const second = await doctor(scene);
  expect(second).toMatchObject({ code: 0, ok: true });
  expect(second.of('mirror')?.found).toMatch(/is sound: 140 records, 1 run$/);
});

test('says it to people on a line a check, with what to do below', async () => {
  await using scene = await setScene({ token: 'another-token-than-that' });
  scene.env.DOCMIRROR_TOKEN = 'secret-token';
  const { code, stdout } = await scene.run('doctor');
  expect(code).toBe(12);
  expect(stdout).toMatch(/^ok {4}settings/);
  expect(stdout).toMatch(/\nFAIL {2}access +document-exports: GET .*401.*\n +→ Get a new token/);
  expect(stdout).toMatch(/\n\nOne check failed\. "docmirror sync" would exit with 12\.\n$/);
});

const set =
  (variable: string, value: string | ((scene: Scene) => string)) =>
  (scene: Scene): void => {
    scene.env[variable] = typeof value === 'string' ? value : value(scene);
  };

/** Before a first run. */
const findings: [name: string, check: string, said: RegExp, prepare: (scene: Scene) => void][] = [
  ['no settings', 'settings', /DOCMIRROR_BASE_URL is not set/, set('DOCMIRROR_BASE_URL', '')],
  ['no token file', 'token', /\(ENOENT\)/, set('DOCMIRROR_TOKEN_FILE', ({ folder }) => join(folder, 'none'))],
  ['a token command that fails', 'token', /exit code 7/, set('DOCMIRROR_TOKEN_COMMAND', 'exit 7')],
  [
    'a token that may not read one list',
    'access',
    /^collections: .*403/,
    ({ service }) => Object.assign(service.options, { status: { collections: 403 } }),
  ],
  ['a wrong path', 'access', /404/, set('DOCMIRROR_BASE_URL', ({ service }) => `${service.url}/v1`)],
  [
    'an answer in HTML',
    'access',
    /not complete JSON/,
    ({ service }) => Object.assign(service.options, { rawBody: () => '<html>' }),
  ],
  ['nobody who answers', 'access', /ECONNREFUSED/, set('DOCMIRROR_BASE_URL', 'http://127.0.0.1:9')],
  [
    'a record that would be set aside',
    'pages',
    /^webhooks lists a record that can't be read \(id: /,
    ({ service: { lists } }) => lists.webhooks.push({ ...Object(lists.webhooks[0]), id: 'seven' }),
  ],
  [
    'more pages than are allowed',
    'pages',
    /pages/,
    ({ env, service }) => {
      env.DOCMIRROR_MAX_PAGES = '1';
      Object.assign(service.options, { maxPageSize: 50 });
    },
  ],
  ['a proxy that is down', 'proxy', /the proxy does not answer/, set('HTTP_PROXY', 'http://127.0.0.1:9')],
  [
    'no folder',
    'folder',
    /does not exist/,
    set('DOCMIRROR_DATABASE', ({ folder }) => join(folder, 'no', 'm.sqlite')),
  ],
  [
    'a folder that is a loop of links',
    'folder',
    /symbolic links that end nowhere/,
    scene => {
      symlinkSync('loop', join(scene.folder, 'loop'));
      scene.env.DOCMIRROR_DATABASE = join(scene.folder, 'loop', 'mirror.sqlite');
    },
  ],
  ['a folder in the place of the lock', 'lock', /./, ({ database }) => mkdirSync(`${database}.lock`)],
  ['a text', 'mirror', /not an SQLite database/, ({ database }) => writeFileSync(database, 'not a database')],
  ['another database', 'mirror', /another program/, scene => alter(scene, 'CREATE TABLE t (a)')],
];

test.each(findings)('finds %s, and ends as sync does', async (_name, check, said, prepare) => {
  await using scene = await setScene();
  scene.env.DOCMIRROR_GIVE_UP_AFTER = '0';
  prepare(scene);
  const found = await doctor(scene);
  expect(found.ok).toBe(false);
  expect(found.of(check)).toMatchObject({ status: 'failed', found: expect.stringMatching(said) });
  expect(found.code).toBe(await syncCode(scene));
});

test('finds a mirror in which somebody wrote, and one that is damaged, and ends as sync does', async () => {
  await using scene = await setScene();
  await scene.sync();
  alter(scene, "UPDATE collections SET name = 'another' WHERE id = 1");
  const altered = await doctor(scene);
  const { code, stderr } = await scene.run('sync');
  expect([altered.code, code]).toEqual([4, 4]);
  expect(altered.of('mirror')?.found).toMatch(/collections.*docmirror verify.*sync --rebuild/);
  expect(stderr).toContain(altered.of('mirror')?.found);
  const bytes = readFileSync(scene.database);
  bytes.fill(0x55, 4096, 3 * 4096);
  writeFileSync(scene.database, bytes);
  const damaged = await doctor(scene);
  expect(damaged.of('mirror')).toMatchObject({ status: 'failed' });
  expect([damaged.code, await syncCode(scene)]).toEqual([1, 1]);
});

test('asks no other service than that of the mirror, and says so', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const { code, of, text } = await doctor(scene, '--base-url', 'http://127.0.0.1:9');
  expect(code).toBe(2);
  expect(of('token')).toMatchObject({ status: 'skipped', found: 'the mirror is of another service' });
  expect(text).toContain('Name a mirror and a service that belong together.');
});

test.each([
  ['mirror', '', 1],
  ['lock', '.lock', 11],
])('finds another program that has locked the %s', async (check, beside, expected) => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const writer = new Database(`${scene.database}${beside}`);
  writer.exec('BEGIN IMMEDIATE');
  const { code, stdout } = await scene.run('doctor', '--json');
  writer.close();
  expect(code).toBe(expected);
  expect(stdout).toContain(`"check":"${check}","status":"failed"`);
  expect(await doctor(scene)).toMatchObject({ code: 0 });
});

test('finds a name that does not exist', async () => {
  await using scene = await setScene();
  scene.env.DOCMIRROR_BASE_URL = 'https://service.invalid';
  scene.env.DOCMIRROR_TIMEOUT_MS = '5000';
  const found = await doctor(scene);
  expect(found.of('name')).toMatchObject({ status: 'failed', found: expect.stringContaining('not found') });
  expect(found.code).toBe(1);
});

test('finds a certificate of an unknown authority, and shows one that is accepted', async () => {
  await using authority = makeAuthority();
  await using scene = await setScene();
  const { port } = new URL(scene.service.url);
  await using front = await startTls(Number(port), authority.issue('IP:127.0.0.1'));
  scene.env.DOCMIRROR_BASE_URL = `https://127.0.0.1:${front.port}`;
  const unknown = await doctor(scene);
  expect(unknown.of('certificate')).toMatchObject({
    status: 'failed',
    found: expect.stringMatching(/CN=Example Authority.*NODE_EXTRA_CA_CERTS/),
  });
  expect(unknown.code).toBe(1);
  expect(front.bytesHeard()).toBe(0);
  scene.env.NODE_EXTRA_CA_CERTS = authority.file;
  const known = await doctor(scene);
  expect(known).toMatchObject({ code: 0, ok: true });
  expect(known.of('certificate')?.found).toMatch(/^CN=the service, issued by O=Example, CN=Example Auth/);
});

test('shows no password of a proxy', async () => {
  await using scene = await setScene();
  await using proxy = await startProxy({ account: 'me:right-password' });
  scene.env.HTTP_PROXY = `http://me:wrong-password@127.0.0.1:${proxy.port}`;
  const found = await doctor(scene);
  expect(found.of('proxy')).toMatchObject({ status: 'failed', found: expect.stringContaining('407') });
});

test('warns of a mirror that others can read, and says how to share it', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  expect((await doctor(scene)).of('readers')?.status).toBe('ok');
  chmodSync(scene.folder, 0o755);
  chmodSync(scene.database, 0o644);
  const open = await doctor(scene);
  expect(open.of('readers')).toMatchObject({
    status: 'warning',
    found: 'every user of this machine can read the mirror (0644)',
    todo: expect.stringMatching(/chmod 600 .*docmirror share FILE/),
  });
  expect(open.code).toBe(0);
});

test('finds a share that can not be made, and warns of one that nobody else can read', async () => {
  await using scene = await setScene();
  const share = join(scene.folder, 'share.sqlite');
  scene.env.DOCMIRROR_SHARE = share;
  expect((await doctor(scene)).of('share')).toMatchObject({
    status: 'warning',
    found: `no other user can read ${share}: ${scene.folder} keeps others out`,
  });
  chmodSync(scene.folder, 0o755);
  expect((await doctor(scene)).of('share')?.status).toBe('ok');
  scene.env.DOCMIRROR_SHARE = join(scene.folder, 'nowhere', 'share.sqlite');
  const found = await doctor(scene);
  expect(found.of('share')?.found).toContain('does not exist');
  expect([found.code, await syncCode(scene)]).toEqual([2, 2]);
});

test('warns of what a killed backup left, and names the copies from before an upgrade', async () => {
  await using scene = await setScene();
  writeFileSync(`${scene.database}.before-0.3.0`, Buffer.alloc(2_000));
  const before = 'none but mirror.sqlite.before-0.3.0 (2.0 kB), from before an upgrade';
  expect((await doctor(scene)).of('leftovers')).toMatchObject({ status: 'ok', found: before });
  writeFileSync(unfinishedPath(join(scene.folder, 'copy.sqlite')), Buffer.alloc(5_000));
  const found = await doctor(scene);
  expect(found.of('leftovers')).toMatchObject({
    status: 'warning',
    found: expect.stringMatching(/^not finished: \S+copy\.sqlite\.[0-9a-f]{8}\.docmirror-unfinished \(5/),
    todo: expect.stringContaining('remove it'),
  });
  expect(found.code).toBe(0);
});

test('warns of a signing key that can not be read, which no run needs', async () => {
  await using scene = await setScene();
  scene.env.DOCMIRROR_SIGNING_KEY_FILE = '/nonexistent';
  const found = await doctor(scene);
  expect(found.of('settings')).toMatchObject({
    status: 'warning',
    found: expect.stringMatching('^DOCMIRROR_SIGNING_KEY_FILE: /nonexistent'),
  });
  expect([found.code, await syncCode(scene)]).toEqual([0, 0]);
});

test('connects to the server of the pings, sends nothing, and shows no path', async () => {
  await using scene = await setScene();
  let requests = 0;
  const server = createServer(() => requests++).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  scene.env.DOCMIRROR_PING_URL = `http://127.0.0.1:${port}/a-secret-path`;
  const found = `http://127.0.0.1:${port} can be reached; nothing was sent`;
  expect((await doctor(scene)).of('ping')).toMatchObject({ status: 'ok', found });
  expect(requests).toBe(0);
  server.close();
  await once(server, 'close');
  const gone = await doctor(scene);
  expect(gone.of('ping')).toMatchObject({
    status: 'warning',
    found: expect.stringContaining('ECONNREFUSED'),
  });
  expect(gone.code).toBe(0);
});

test('warns of a metrics file that can not be written, or that its collector can not read', async () => {
  await using scene = await setScene();
  scene.env.DOCMIRROR_METRICS_FILE = join(scene.folder, 'no', 'acme.prom');
  const lost = await doctor(scene);
  expect(lost.of('metrics file')?.found).toContain('(ENOENT)');
  expect([lost.of('metrics file')?.status, lost.code]).toEqual(['warning', 0]);
  const path = join(scene.folder, 'acme.prom');
  scene.env.DOCMIRROR_METRICS_FILE = path;
  writeFileSync(path, '');
  const closed = `${path}: ${scene.folder} keeps others out`;
  expect((await doctor(scene)).of('metrics file')).toMatchObject({ status: 'warning', found: closed });
});

test('finds a disk that is full and one that became read-only, and ends as sync does', async ({ skip }) => {
  await using scene = await setScene();
  await onMount(scene, 'size=2m', skip, async folder => {
    scene.env.DOCMIRROR_DATABASE = join(folder, 'mirror.sqlite');
    const filler = join(folder, 'filler');
    writeFileSync(filler, Buffer.alloc(2 * 1024 * 1024 - 8192));
    const full = await scene.run('doctor', '--json');
    expect(full.stdout).toMatch(/"check":"free space","status":"failed","found":"[\d.]+ (bytes|kB) free"/);
    expect(full.code).toBe(await syncCode(scene));
    writeFileSync(filler, '');
    expect(await syncCode(scene)).toBe(0);
    execFileSync('mount', ['-o', 'remount,ro', folder]);
    const { code, stderr } = await scene.run('sync');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^docmirror: \S+ is on a read-only file system\. \(EROFS\) \[mirror_file\]\n$/);
    expect((await scene.run('doctor')).stdout).toContain('EROFS');
  });
});
