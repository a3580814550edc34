import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { applicationIds } from '../../src/store/file/file-kind.ts';
import { unfinishedPath } from '../../src/store/file/unfinished.ts';
import { SqliteMirror } from '../../src/store/write/mirror.ts';
import { makeAuthority } from '../service/certificates.ts';
import { startProxy, startTls } from '../service/servers.ts';
import { onMount } from '../support/mount.ts';
import { type Scene, setScene } from '../support/scene.ts';
import type { RecordedRequest } from '../support/stand-in.ts';

interface Diagnosed {
  readonly code: number | null;
  readonly ok: boolean;
  readonly exitCode: number;
  /** The whole output. */
  readonly text: string;
  of(check: string): { status: string; found: string; todo: string | null };
}

const checks = [
  'settings',
  'token',
  'name',
  'proxy',
  'certificate',
  'access',
  'pages',
  'folder',
  'rights',
  'readers',
  'free space',
  'leftovers',
  'lock',
  'mirror',
  'share',
  'ping',
  'metrics file',
];

/** Names, sizes and contents of all that lies in a folder. */
function contentOf(folder: string): unknown {
  return readdirSync(folder)
    .sort()
    .map(name => [
      name,
      lstatSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).toString('base64'),
    ]);
}

/** Runs doctor, which must change nothing, show no secret, and name every check once, in order. */
async function doctor(scene: Scene, ...args: string[]): Promise<Diagnosed> {
  const before = contentOf(scene.folder);
  const { code, stdout, stderr } = await scene.run('doctor', '--json', ...args);
  expect(contentOf(scene.folder)).toEqual(before);
  const { ok, exitCode, checks: found } = JSON.parse(stdout);
  expect(found.map(({ check }: { check: string }) => check)).toEqual(checks);
  expect(stdout + stderr).not.toContain('secret-token');
  expect(exitCode).toBe(code);
  return {
    code,
    ok,
    exitCode,
    text: stdout,
    of: name => found.find(({ check }: { check: string }) => check === name),
  };
}

/** The exit code of sync. */
async function syncCode(scene: Scene): Promise<number | null> {
  return (await scene.run('sync')).code;
}

describe.concurrent('doctor', () => {
  test('goes on to its end if the folder can not even be looked at', async () => {
    await using scene = await setScene();
    symlinkSync('loop', join(scene.folder, 'loop'));
    const path = join(scene.folder, 'loop', 'mirror.sqlite');
    const { stdout } = await scene.run('doctor', '--json', '--database', path);
    const found: { check: string }[] = JSON.parse(stdout).checks;
    expect(found.map(({ check }) => check)).toEqual(checks);
    expect(found.find(({ check }) => check === 'folder')).toMatchObject({
      status: 'failed',
      found: expect.stringContaining('symbolic links that end nowhere'),
    });
  });

  test('finds that all is well, before the first run and after it', async () => {
    await using scene = await setScene({ firstPage: 0, defaultPageSize: 25 });
    const first = await doctor(scene);
    expect(first).toMatchObject({ code: 0, ok: true });
    expect(first.of('mirror').found).toMatch(/there is none/);
    expect(first.of('pages').found).toContain('document-exports: first page 0, 25 a page, 130 records');
    expect(scene.service.requests).toHaveLength(3);
    await scene.sync();
    const second = await doctor(scene);
    expect(second).toMatchObject({ code: 0, ok: true });
    expect(second.of('mirror').found).toMatch(/is sound: 140 records, 1 run$/);
  });

  test('says where the token is from', async () => {
    await using scene = await setScene();
    expect((await doctor(scene)).of('token').found).toBe(
      'there is one, from DOCMIRROR_TOKEN in the environment',
    );
    expect((await doctor(scene, '--token', 'wrong')).of('token').found).toBe(
      'there is one, from the flag --token',
    );
    const file = join(scene.folder, 'token');
    writeFileSync(file, 'secret-token');
    const both = await doctor(scene, '--token', 'wrong', '--token-file', file);
    expect(both.of('token').found).toBe(`there is one, from the flag --token-file: the file ${file}`);
  });

  test('asks no other service than that of the mirror, and says so', async () => {
    await using scene = await setScene({}, { exports: 1 });
    await scene.sync();
    const { code, of } = await doctor(scene, '--base-url', 'http://127.0.0.1:9');
    expect(code).toBe(2);
    expect(of('token')).toMatchObject({ status: 'skipped', found: 'the mirror is of another service' });
  });

  test('gets over what a run gets over', async () => {
    await using scene = await setScene({
      faults: ({ n }) => (n % 2 ? { kind: 'status', status: 503 } : undefined),
    });
    expect(await doctor(scene)).toMatchObject({ code: 0 });
    expect(await syncCode(scene)).toBe(0);
  });

  test.each<[what: string, beside: string, make: (path: string) => void]>([
    ['a link that leads nowhere', '.lock', path => symlinkSync(`${path}.nowhere`, path)],
    ['a folder', '.lock', path => mkdirSync(path)],
  ])(
    'sees what is at the path of the lock of a mirror that is yet to be made: %s',
    async (_what, beside, make) => {
      await using scene = await setScene();
      make(`${scene.database}${beside}`);
      expect(await doctor(scene)).toMatchObject({ code: 2 });
      expect(await syncCode(scene)).toBe(2);
    },
  );

  test('says it to people on a line a check, with what to do below', async () => {
    await using scene = await setScene({ token: 'another-token-than-that' });
    scene.env.DOCMIRROR_TOKEN = 'secret-token';
    const { code, stdout } = await scene.run('doctor');
    expect(code).toBe(12);
    expect(stdout).toMatch(/^ok {4}settings/);
    expect(stdout).toMatch(/\nFAIL {2}access +document-exports: GET .*401.*\n +→ Get a new token/);
    expect(stdout).toMatch(/\n\nOne check failed\. "docmirror sync" would exit with 12\.\n$/);
  });

  const cases: [name: string, check: string, said: RegExp, prepare: (scene: Scene) => void][] = [
    [
      'no settings',
      'settings',
      /DOCMIRROR_BASE_URL is not set/,
      scene => delete scene.env.DOCMIRROR_BASE_URL,
    ],
    [
      'an unusable setting',
      'settings',
      /DOCMIRROR_GIVE_UP_AFTER/,
      ({ env }) => Object.assign(env, { DOCMIRROR_GIVE_UP_AFTER: 'x' }),
    ],
    [
      'http to elsewhere',
      'settings',
      /http is for loopback/,
      ({ env }) => Object.assign(env, { DOCMIRROR_BASE_URL: 'http://service.example' }),
    ],
    [
      'no token file',
      'token',
      /token can't be read \(ENOENT\)/,
      ({ env, folder }) => Object.assign(env, { DOCMIRROR_TOKEN_FILE: join(folder, 'token') }),
    ],
    [
      'a token command that fails',
      'token',
      /the command failed \(exit code 7\)/,
      ({ env }) => Object.assign(env, { DOCMIRROR_TOKEN_COMMAND: 'exit 7' }),
    ],
    [
      'no certificate authority file',
      'settings',
      /NODE_EXTRA_CA_CERTS: \/nowhere/,
      ({ env }) => Object.assign(env, { NODE_EXTRA_CA_CERTS: '/nowhere' }),
    ],
    [
      'a wrong token',
      'access',
      /401/,
      ({ service }) => Object.assign(service.options, { token: 'another-token' }),
    ],
    [
      'a token that may not read one list',
      'access',
      /^collections: .*403/,
      ({ service }) => Object.assign(service.options, { status: { collections: 403 } }),
    ],
    [
      'a connection that breaks at the first list alone',
      'access',
      /^document-exports: /,
      ({ service }) =>
        Object.assign(service.options, {
          faults: ({ resource }: RecordedRequest) =>
            resource === 'document-exports' ? { kind: 'reset' } : undefined,
        }),
    ],
    [
      'a wrong path',
      'access',
      /404/,
      ({ env, service }) => Object.assign(env, { DOCMIRROR_BASE_URL: `${service.url}/v1` }),
    ],
    [
      'an answer in HTML',
      'access',
      /not complete JSON/,
      ({ service }) => Object.assign(service.options, { rawBody: () => '<html>' }),
    ],
    [
      'nobody who answers',
      'access',
      /ECONNREFUSED/,
      ({ env }) => Object.assign(env, { DOCMIRROR_BASE_URL: 'http://127.0.0.1:9' }),
    ],
    [
      'a proxy that is down',
      'proxy',
      /the proxy does not answer/,
      ({ env }) => Object.assign(env, { HTTP_PROXY: 'http://127.0.0.1:9' }),
    ],
    [
      'a proxy with a path',
      'settings',
      /HTTP_PROXY: the address must end/,
      ({ env }) => Object.assign(env, { HTTP_PROXY: 'http://127.0.0.1:9/path' }),
    ],
    [
      'no folder',
      'folder',
      /does not exist/,
      ({ env, folder }) => Object.assign(env, { DOCMIRROR_DATABASE: join(folder, 'no', 'm.sqlite') }),
    ],
    [
      'a file of another program',
      'mirror',
      /./,
      ({ database }) => writeFileSync(database, 'not a database at all'),
    ],
    [
      'a database of another program',
      'mirror',
      /another program/,
      ({ database }) => new Database(database).exec('CREATE TABLE t (a)').close(),
    ],
  ];

  test('finds a record that would be set aside', async () => {
    await using scene = await setScene();
    scene.service.lists.webhooks.push({ ...Object(scene.service.lists.webhooks[0]), id: 'seven' });
    const found = await doctor(scene);
    expect(found.of('pages')).toMatchObject({
      status: 'failed',
      found: expect.stringMatching(/^webhooks lists a record that can't be read \(id: /),
    });
    expect(found.code).toBe(3);
    expect(await syncCode(scene)).toBe(3);
  });

  test.each(cases)('finds %s, and ends as sync does', async (_name, check, said, prepare) => {
    await using scene = await setScene();
    scene.env.DOCMIRROR_GIVE_UP_AFTER = '0';
    prepare(scene);
    const found = await doctor(scene);
    expect(found.ok).toBe(false);
    expect(found.of(check)).toMatchObject({ status: 'failed', found: expect.stringMatching(said) });
    expect(found.code).toBe(await syncCode(scene));
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
    await using front = await startTls(
      Number(new URL(scene.service.url).port),
      authority.issue('IP:127.0.0.1'),
    );
    scene.env.DOCMIRROR_BASE_URL = `https://127.0.0.1:${front.port}`;
    const unknown = await doctor(scene);
    expect(unknown.of('certificate')).toMatchObject({
      status: 'failed',
      found: expect.stringMatching(/CN=Example Authority.*NODE_EXTRA_CA_CERTS/),
    });
    expect(unknown.code).toBe(1);
    expect(front.bytesHeard()).toBe(0);
    scene.env.NODE_EXTRA_CA_CERTS = authority.file;
    await using proxy = await startProxy();
    for (const way of ['', `http://127.0.0.1:${proxy.port}`]) {
      scene.env.HTTPS_PROXY = way;
      const known = await doctor(scene);
      expect(known).toMatchObject({ code: 0, ok: true });
      expect(known.of('certificate').found).toMatch(
        /^CN=the service, issued by O=Example, CN=Example Authority/,
      );
    }
  });

  test('shows no password of a proxy', async () => {
    await using scene = await setScene();
    await using proxy = await startProxy({ account: 'me:right-password' });
    scene.env.HTTP_PROXY = `http://me:wrong-password@127.0.0.1:${proxy.port}`;
    const found = await doctor(scene);
    expect(found.of('proxy')).toMatchObject({ status: 'failed', found: expect.stringContaining('407') });
    expect(found.text).not.toContain('wrong-password');
  });

  test('finds a lock that is taken', async () => {
    await using scene = await setScene();
    await scene.sync();
    const mirror = SqliteMirror.open(scene.database);
    try {
      const { code, stdout } = await scene.run('doctor', '--json');
      expect(code).toBe(11);
      expect(stdout).toContain('"check":"lock","status":"failed","found":"a run is using the mirror"');
    } finally {
      mirror.close();
    }
    expect(await doctor(scene)).toMatchObject({ code: 0 });
  });

  test('says of a mirror of another service that the two do not belong together', async () => {
    await using scene = await setScene();
    await scene.sync();
    const { code, stdout } = await scene.run('doctor', '--base-url', 'http://127.0.0.1:9');
    expect(code).toBe(2);
    expect(stdout).toContain('Name a mirror and a service that belong together.');
  });

  test.each(['mirror', 'lock'])('finds another program that has locked the %s', async which => {
    await using scene = await setScene();
    await scene.sync();
    const writer = new Database(which === 'mirror' ? scene.database : `${scene.database}.lock`);
    writer.exec('BEGIN IMMEDIATE');
    try {
      const { code, stdout } = await scene.run('doctor', '--json');
      expect(code).toBe(which === 'mirror' ? 1 : 11);
      expect(stdout).toContain(`"check":"${which}","status":"failed"`);
    } finally {
      writer.close();
    }
    expect(await doctor(scene)).toMatchObject({ code: 0 });
  });

  test('finds a mirror that is damaged, and one in which somebody wrote', async () => {
    await using scene = await setScene();
    await scene.sync();
    const database = new Database(scene.database);
    database.exec("UPDATE collections SET name = 'another' WHERE id = 1");
    database.close();
    const changed = await doctor(scene);
    expect(changed).toMatchObject({ code: 4 });
    expect(changed.of('mirror')).toMatchObject({
      status: 'failed',
      found: expect.stringMatching(/collections.*docmirror verify.*sync --rebuild/),
    });
    expect(await scene.run('sync')).toMatchObject({ code: 4 });
    const bytes = readFileSync(scene.database);
    bytes.fill(0x55, 4096, 3 * 4096);
    writeFileSync(scene.database, bytes);
    const damaged = await doctor(scene);
    expect(damaged).toMatchObject({ code: 1 });
    expect(damaged.of('mirror')).toMatchObject({ status: 'failed' });
  });
});

describe.concurrent('doctor looks at what others can read', () => {
  test('warns of a mirror that its group or everybody can read, and says how to share it', async () => {
    await using scene = await setScene();
    expect((await doctor(scene)).of('readers').found).toBe(
      'a new mirror can be read by its owner alone (0600)',
    );
    await scene.sync();
    expect((await doctor(scene)).of('readers')).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('its owner alone can read the mirror (0600'),
    });
    chmodSync(scene.folder, 0o755);
    for (const [mode, whom] of [
      [0o640, 'its group can read the mirror (0640)'],
      [0o644, 'every user of this machine can read the mirror (0644)'],
    ] as const) {
      chmodSync(scene.database, mode);
      const found = await doctor(scene);
      expect(found.of('readers')).toMatchObject({
        status: 'warning',
        found: whom,
        todo: expect.stringMatching(/chmod 600 .*docmirror share FILE/),
      });
      expect(found.code).toBe(0);
    }
    // A folder that is closed keeps everybody out.
    chmodSync(scene.folder, 0o700);
    expect((await doctor(scene)).of('readers')).toMatchObject({
      status: 'ok',
      found: `its owner alone can read the mirror (0644; ${scene.folder} keeps others out)`,
    });
  });

  test('warns of a share that nobody else can read', async () => {
    await using scene = await setScene();
    const share = join(scene.folder, 'share.sqlite');
    scene.env.DOCMIRROR_SHARE = share;
    expect((await doctor(scene)).of('share')).toMatchObject({
      status: 'warning',
      found: `no other user can read ${share}: ${scene.folder} keeps others out`,
    });
    chmodSync(scene.folder, 0o755);
    await scene.sync();
    expect((await doctor(scene)).of('share')).toMatchObject({
      status: 'ok',
      found: `${share} can be made, and everybody can read it (0644)`,
    });
    chmodSync(share, 0o600);
    const found = await doctor(scene);
    expect(found.of('share')).toMatchObject({ status: 'warning', found: expect.stringContaining('0600') });
    expect(found.code).toBe(0);
  });
});

test('doctor names what a killed backup left, and the copies from before an upgrade', async () => {
  await using scene = await setScene();
  expect((await doctor(scene)).of('leftovers')).toMatchObject({ status: 'ok', found: 'none' });
  writeFileSync(`${scene.database}.before-0.3.0`, Buffer.alloc(2_000));
  expect((await doctor(scene)).of('leftovers')).toMatchObject({
    status: 'ok',
    found: 'none but mirror.sqlite.before-0.3.0 (2.0 kB), from before an upgrade',
  });
  await scene.sync();
  // A backup that is killed while it copies. Only its file is left.
  const left = unfinishedPath(join(scene.folder, 'copy.sqlite'));
  writeFileSync(left, Buffer.alloc(5_000));
  const found = await doctor(scene);
  expect(found.of('leftovers')).toMatchObject({
    status: 'warning',
    found: expect.stringMatching(
      /^not finished: \S+copy\.sqlite\.[0-9a-f]{8}\.docmirror-unfinished \(5\.0 kB, /,
    ),
    todo: expect.stringContaining('remove it'),
  });
  expect(found.code).toBe(0);
});

describe.concurrent('doctor looks at where pings and metrics go', () => {
  test('connects to the server of the pings, sends nothing, and shows no path', async () => {
    await using scene = await setScene();
    let requests = 0;
    const server = createServer(() => requests++).listen(0, '127.0.0.1');
    let connections = 0;
    server.on('connection', () => connections++);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    scene.env.DOCMIRROR_PING_URL = `http://127.0.0.1:${port}/a-secret-path`;
    const found = await doctor(scene);
    expect(found.of('ping')).toMatchObject({
      status: 'ok',
      found: `http://127.0.0.1:${port} can be reached; nothing was sent`,
    });
    expect([connections, requests]).toEqual([1, 0]);
    server.close();
    await once(server, 'close');
    const gone = await doctor(scene);
    expect(gone.of('ping')).toMatchObject({
      status: 'warning',
      found: `http://127.0.0.1:${port} can't be reached (ECONNREFUSED)`,
    });
    expect(gone.code).toBe(0);
    expect(found.text + gone.text).not.toContain('a-secret-path');
    scene.env.DOCMIRROR_PING_URL = 'hc-ping.com/uuid';
    expect((await doctor(scene)).of('settings')).toMatchObject({
      status: 'failed',
      found: expect.stringContaining('DOCMIRROR_PING_URL'),
    });
  });

  test('finds a server of pings whose certificate is refused', async () => {
    await using scene = await setScene();
    await using authority = makeAuthority();
    const { port: to } = new URL(scene.service.url);
    await using front = await startTls(Number(to), authority.issue('IP:127.0.0.1'));
    scene.env.DOCMIRROR_PING_URL = `https://127.0.0.1:${front.port}/ping`;
    expect((await doctor(scene)).of('ping')).toMatchObject({
      status: 'warning',
      found: expect.stringMatching(/can't be reached \((UNABLE|SELF|DEPTH)_/),
    });
    scene.env.NODE_EXTRA_CA_CERTS = authority.file;
    await using proxy = await startProxy();
    for (const way of ['', `http://127.0.0.1:${proxy.port}`]) {
      scene.env.HTTPS_PROXY = way;
      expect((await doctor(scene)).of('ping').status).toBe('ok');
    }
    expect(front.bytesHeard()).toBe(0);
  });

  test('finds a metrics file that can not be written', async () => {
    await using scene = await setScene();
    chmodSync(scene.folder, 0o755);
    const path = join(scene.folder, 'acme.prom');
    const look = async () => (await doctor(scene)).of('metrics file');
    scene.env.DOCMIRROR_METRICS_FILE = join(scene.folder, 'no', 'acme.prom');
    expect(await look()).toMatchObject({ status: 'warning', found: expect.stringContaining('(ENOENT)') });
    scene.env.DOCMIRROR_METRICS_FILE = path;
    expect(await look()).toMatchObject({ status: 'ok', found: `${path} can be written; there is none yet` });
    mkdirSync(path);
    const found = await doctor(scene);
    expect(found.of('metrics file')).toMatchObject({
      status: 'warning',
      found: expect.stringContaining('is a folder'),
    });
    expect(found.code).toBe(0);
  });

  test('finds a metrics file that the collector can not read, and one that is old', async () => {
    await using scene = await setScene();
    const path = join(scene.folder, 'acme.prom');
    const look = async () => (await doctor(scene)).of('metrics file');
    scene.env.DOCMIRROR_METRICS_FILE = path;
    writeFileSync(path, '');
    chmodSync(path, 0o644);
    expect(await look()).toMatchObject({
      status: 'warning',
      found: `${path}: ${scene.folder} keeps others out`,
    });
    chmodSync(scene.folder, 0o755);
    expect(await look()).toMatchObject({ status: 'ok', found: expect.stringMatching(/was written .* ago$/) });
    chmodSync(path, 0o600);
    expect(await look()).toMatchObject({ status: 'warning', found: `${path}: its mode is 0600` });
    chmodSync(path, 0o644);
    const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
    utimesSync(path, twoDaysAgo, twoDaysAgo);
    expect(await look()).toMatchObject({ status: 'warning', found: expect.stringContaining('2 d') });
  });
});

describe.concurrent('doctor ends as sync does', () => {
  test.each([
    ['a row was deleted', 'DELETE FROM collections WHERE id = 3', 'its collections are not'],
    [
      'a row of an empty list was deleted',
      'DELETE FROM webhook_events; DELETE FROM webhook_connections; DELETE FROM webhooks',
      'its webhooks are not',
    ],
    [
      'a row was inserted',
      'INSERT INTO collections (id, name, _first_seen_run_id, _changed_run_id, _content) SELECT 900, name, 1, 1, _content FROM collections LIMIT 1',
      'its collections are not',
    ],
    [
      'a trigger was added',
      'CREATE TRIGGER odd AFTER INSERT ON webhooks BEGIN SELECT 1; END',
      'DROP TRIGGER "odd"',
    ],
    ['a unique index was added', 'CREATE UNIQUE INDEX odd ON webhooks (id)', 'DROP INDEX "odd"'],
  ])('if %s by another program, and gives the same advice', async (_what, sql, words) => {
    await using scene = await setScene();
    await scene.sync();
    new Database(scene.database).exec(sql).close();
    const { code, stderr } = await scene.run('sync');
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(words) });
    const found = await doctor(scene);
    expect(found.code).toBe(4);
    const { found: said, todo } = found.of('mirror');
    expect(todo).toBe(null);
    expect(stderr).toContain(said);
    expect(said).toContain('sync --rebuild');
  });

  test('if a trigger of another program was dropped again', async () => {
    await using scene = await setScene();
    await scene.sync();
    const other = new Database(scene.database);
    other.exec('CREATE TRIGGER odd AFTER INSERT ON webhooks BEGIN SELECT 1; END');
    expect(await scene.run('sync')).toMatchObject({ code: 4 });
    other.exec('DROP TRIGGER "odd"').close();
    expect(await scene.run('sync')).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test.each(['/nonexistent', '/etc/hostname'])(
    'if %s is to be the signing key: no run needs it, so that is a warning',
    async path => {
      await using scene = await setScene();
      scene.env.DOCMIRROR_SIGNING_KEY_FILE = path;
      const found = await doctor(scene);
      expect(found.of('settings')).toMatchObject({
        status: 'warning',
        found: expect.stringMatching(`^DOCMIRROR_SIGNING_KEY_FILE: ${path}`),
        todo: expect.stringContaining('backup'),
      });
      expect(found.code).toBe(0);
      expect(await syncCode(scene)).toBe(0);
      const key = join(scene.folder, 'key.pem');
      await scene.run('audit', 'keygen', key);
      expect((await doctor(scene, '--signing-key-file', key)).of('settings').status).toBe('ok');
    },
  );

  const spoils: [name: string, sql: string, expected: number][] = [
    ['has lost its id', 'DELETE FROM _mirror', 1],
    ['has lost a table', 'DROP TABLE rejected_records', 1],
  ];

  test.each(spoils)('if the mirror %s', async (_name, sql, expected) => {
    await using scene = await setScene();
    await scene.sync();
    new Database(scene.database).exec(sql).close();
    expect(await doctor(scene)).toMatchObject({ code: expected });
    expect(await syncCode(scene)).toBe(expected);
  });

  test('if a first run was stopped before it made a table', async () => {
    await using scene = await setScene();
    new Database(scene.database).exec(`PRAGMA application_id = ${applicationIds.mirror}`).close();
    expect(statSync(scene.database).size).toBe(4096);
    expect(await doctor(scene)).toMatchObject({ code: 0 });
    expect((await scene.run('sync', '--dry-run')).code).toBe(0);
    expect(await syncCode(scene)).toBe(0);
  });

  test('if the file is a database without tables', async () => {
    await using scene = await setScene();
    new Database(scene.database).exec('VACUUM').close();
    expect(statSync(scene.database).size).toBeGreaterThan(0);
    expect(await doctor(scene)).toMatchObject({ code: 0 });
    expect(await syncCode(scene)).toBe(0);
  });

  test.each([
    [50, [], '1', 3],
    [50, [], '3', 0],
    [1000, [], '1', 0],
    [1000, ['--page-size', '10'], '12', 3],
    [2, [], '1', 1],
  ])(
    'where a page has at most %i records, with %j and --max-pages %s',
    async (size, flags, max, expected) => {
      await using scene = await setScene({ maxPageSize: size, defaultPageSize: Math.min(size, 50) });
      const args = [...flags, '--max-pages', max];
      const found = await doctor(scene, ...args);
      expect(found.code).toBe(expected);
      if (expected !== 0) expect(found.of('pages')).toMatchObject({ status: 'failed' });
      expect((await scene.run('sync', ...args)).code).toBe(expected);
    },
  );
});

const isRoot = process.getuid?.() === 0;

describe('doctor on a file system of its own', () => {
  test('finds a disk that is full', async ({ skip }) => {
    await using scene = await setScene();
    await onMount(scene, 'size=1m', skip, async folder => {
      scene.env.DOCMIRROR_DATABASE = join(folder, 'mirror.sqlite');
      writeFileSync(join(folder, 'filler'), Buffer.alloc(1024 * 1024 - 8192));
      const { code, stdout } = await scene.run('doctor', '--json');
      expect(stdout).toMatch(/"check":"free space","status":"failed","found":"[\d.]+ (bytes|kB) free"/);
      expect(code).toBe(await syncCode(scene));
    });
  });

  test('finds a file system that became read-only, and sync says the same', async ({ skip }) => {
    await using scene = await setScene();
    await onMount(scene, 'size=2m', skip, async folder => {
      scene.env.DOCMIRROR_DATABASE = join(folder, 'mirror.sqlite');
      expect(await syncCode(scene)).toBe(0);
      execFileSync('mount', ['-o', 'remount,ro', folder]);
      const { code, stderr } = await scene.run('sync');
      expect(code).toBe(1);
      expect(stderr).toMatch(/^docmirror: \S+ is on a read-only file system\. \(EROFS\) \[mirror_file\]\n$/);
      expect((await scene.run('doctor')).stdout).toContain('EROFS');
    });
  });

  test('finds a folder without rights', async ({ skip }) => {
    await using scene = await setScene();
    const find = async (folder: string) => {
      scene.env.DOCMIRROR_DATABASE = join(folder, 'mirror.sqlite');
      const { code, stdout } = await scene.run('doctor', '--json');
      expect(stdout).toMatch(
        /"check":"rights","status":"failed","found":"can't be read and written: [^"]+ \(E\w+\)"/,
      );
      expect(code).toBe(await syncCode(scene));
    };
    // Root has every right, but cannot write where nothing can be written at all.
    if (isRoot) {
      await onMount(scene, 'size=1m,ro', skip, find);
      return;
    }
    const folder = join(scene.folder, 'closed');
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    await find(folder);
  });
});
