import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Ajv } from 'ajv';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Output, outputs, schemaOf } from '../../src/render/outputs/outputs.ts';
import { growDocmirror } from '../support/grown-docmirror.ts';
import { makeOutgrownMirror, type Outgrown } from '../support/outgrown-mirror.ts';
import { runNode } from '../support/program-copy.ts';
import { runCli, sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

// A docmirror of a later shape meets mirrors of an older one.

let folder: TemporaryFolder;
let grown: string;
let outgrown: Outgrown;

/** The later docmirror; no service is named, so that whatever works needs none. */
const docmirror = (...args: string[]) =>
  runNode(grown, ['src/cli.ts', ...args], { DOCMIRROR_LOG_LEVEL: 'error' });

/** A mirror of the older shape, in a folder of its own. */
function olderMirror(name: string): string {
  const path = join(folder.path, `${name}.sqlite`);
  copyFileSync(outgrown.path, path);
  return path;
}

const filesOf = (name: string) => readdirSync(folder.path).filter(each => each.startsWith(`${name}.sqlite`));
const shapeOf = (path: string) => sqlite(path, 'PRAGMA user_version')[0]?.user_version;

/** The output of "upgrade --json", which must match its schema. */
function documented(stdout: string): { mirrors: Record<string, unknown>[]; error?: { code: string } } {
  const value = JSON.parse(stdout);
  const schema = schemaOf('upgrade', outputs.upgrade as Output);
  const validate = new Ajv({ allowUnionTypes: true, strict: false }).compile(schema);
  expect([validate(value), validate.errors]).toEqual([true, null]);
  return value;
}

beforeAll(async () => {
  folder = temporaryFolder();
  grown = join(folder.path, 'docmirror');
  await growDocmirror(grown);
  outgrown = await makeOutgrownMirror(join(folder.path, 'outgrown.db'));
}, 60_000);

afterAll(async () => {
  await outgrown[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe('upgrade', () => {
  test('brings a mirror up to date without the service, and keeps the old one beside it', async () => {
    const path = olderMirror('one');
    const asked = outgrown.service.requests.length;
    const { code, stdout, stderr } = await docmirror('upgrade', path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `${path}: upgraded from docmirror test. The mirror of before is ${path}.before-test.\n`,
    );
    expect(outgrown.service.requests).toHaveLength(asked);
    expect(filesOf('one')).toEqual(['one.sqlite', 'one.sqlite.before-test', 'one.sqlite.lock']);
    expect(shapeOf(path)).toBe(8);
    expect(shapeOf(`${path}.before-test`)).toBe(7);
    const receipts = await docmirror('audit', 'receipts', '--database', path, '--json');
    const kinds = receipts.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).kind);
    expect(kinds.at(-1)).toBe('upgrade');
    expect(await docmirror('verify', '--database', path)).toMatchObject({ code: 0 });
  });

  test('takes the mirror of the settings if no file is named, and changes one of this shape in nothing', async () => {
    const path = olderMirror('settings');
    expect(await docmirror('upgrade', '--database', path)).toMatchObject({ code: 0 });
    const before = readFileSync(path);
    const { code, stdout } = await docmirror('upgrade', '--database', path);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${path}: up to date.\n` });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(filesOf('settings').filter(name => name.includes('before'))).toHaveLength(1);
  });

  test('goes on with the others if one of many can not be upgraded', async () => {
    const [good, old, missing] = [olderMirror('good'), olderMirror('old'), join(folder.path, 'no.sqlite')];
    new Database(old).exec('PRAGMA user_version = 5').close();
    const { code, stdout, stderr } = await docmirror('upgrade', old, missing, good);
    expect(code).toBe(2);
    expect(stdout).toContain(`${good}: upgraded`);
    expect(stderr).toMatch(
      /^docmirror: \S+old.sqlite was made by docmirror 0\.1 or 0\.2.* \[mirror_too_old\]\ndocmirror: There is no mirror at \S+no.sqlite.* \[mirror_file\]\n$/,
    );
    const again = await docmirror('upgrade', '--json', good, missing, old);
    expect(again.code).toBe(1);
    expect(documented(again.stdout).mirrors).toMatchObject([
      { database: good, state: 'current', fromVersion: null, copy: null, error: null },
      { database: missing, state: 'failed', error: { code: 'mirror_file' } },
      { database: old, state: 'failed', error: { code: 'mirror_too_old' } },
    ]);
  });

  test('refuses a mirror of 0.1 or 0.2, and leaves it as it is', async () => {
    const path = olderMirror('too-old');
    new Database(path).exec('PRAGMA user_version = 5').close();
    const before = readFileSync(path);
    for (const flags of [[], ['--check']]) {
      const { code, stdout } = await docmirror('upgrade', path, '--json', ...flags);
      expect(code).toBe(2);
      expect(documented(stdout).error?.code).toBe('mirror_too_old');
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(filesOf('too-old')).toEqual(['too-old.sqlite']);
  });

  test('--check says what would happen, changes nothing, and exits with 4 if there is something to do', async () => {
    const path = olderMirror('check');
    const before = readFileSync(path);
    const { code, stdout, stderr } = await docmirror('upgrade', '--check', path);
    expect({ code, stderr }).toEqual({ code: 4, stderr: '' });
    expect(stdout).toBe(
      `${path}: was made by docmirror test. "docmirror upgrade" copies it and brings it up to date.\n`,
    );
    const json = await docmirror('upgrade', '--check', '--json', path);
    expect(json.code).toBe(4);
    expect(documented(json.stdout).mirrors).toEqual([
      { database: path, state: 'older', fromVersion: 'test', copy: null, error: null },
    ]);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(filesOf('check')).toEqual(['check.sqlite']);
    const done = await docmirror('upgrade', '--json', path);
    expect(documented(done.stdout).mirrors).toEqual([
      { database: path, state: 'upgraded', fromVersion: 'test', copy: `${path}.before-test`, error: null },
    ]);
    expect(await docmirror('upgrade', '--check', path)).toMatchObject({ code: 0 });
  });

  test('--check finds a mirror that can not be upgraded', async () => {
    const path = olderMirror('broken');
    new Database(path).exec('PRAGMA foreign_keys = OFF; DELETE FROM connections WHERE id = 3').close();
    expect(await docmirror('upgrade', '--check', path)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("can't be upgraded"),
    });
  });

  test('leaves a mirror alone that is damaged, and --check finds it', async () => {
    const path = olderMirror('damaged');
    const other = new Database(path);
    other.unsafeMode().exec(`CREATE INDEX mine ON collections (name); PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, '(name)', '(source_connection_id)') WHERE name = 'mine'`);
    other.close();
    for (const flags of [['--check'], []]) {
      const before = readFileSync(path);
      const { code, stderr } = await docmirror('upgrade', path, ...flags);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is damaged (') });
      expect(readFileSync(path).equals(before)).toBe(true);
    }
    expect(shapeOf(path)).toBe(7);
    expect(filesOf('damaged').filter(name => name.includes('before'))).toEqual([]);
  });

  test('leaves a mirror alone during a run, and --wait waits for the run', async () => {
    const path = olderMirror('held');
    expect(await docmirror('upgrade', '--check', path)).toMatchObject({ code: 4 });
    const lock = new Database(`${path}.lock`);
    lock.exec('PRAGMA application_id = 1685021555; CREATE TABLE mirror_mark (mark TEXT NOT NULL) STRICT');
    lock.exec('PRAGMA user_version = 15; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    expect(await docmirror('upgrade', path)).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('[mirror_busy]'),
    });
    expect(shapeOf(path)).toBe(7);
    const waiting = docmirror('upgrade', path, '--wait', '30s');
    await wait(1_000);
    lock.close();
    expect(await waiting).toMatchObject({ code: 0 });
    expect(shapeOf(path)).toBe(8);
  });

  test('can be taken back with the older docmirror, by the copy of before', async () => {
    const path = olderMirror('back');
    expect(await docmirror('upgrade', path)).toMatchObject({ code: 0 });
    const database = ['--database', path];
    expect(await runCli(['status', ...database])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('newer docmirror'),
    });
    const restored = await runCli(['backup', '--restore', `${path}.before-test`, ...database]);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('verified') });
    expect(await runCli(['verify', ...database])).toMatchObject({ code: 0 });
    const { service } = outgrown;
    const env = { DOCMIRROR_BASE_URL: service.url, DOCMIRROR_TOKEN: service.options.token };
    expect(await runCli(['sync', '--full', ...database], { env })).toMatchObject({ code: 0 });
  });

  test('refuses a backup, because its manifest would no longer be true', async () => {
    const mirror = olderMirror('mirror');
    const backup = join(folder.path, 'backup.sqlite');
    const older = [join(import.meta.dirname, '..', '..', 'src', 'cli.ts'), 'backup', backup];
    expect(await runNode(folder.path, [...older, '--database', mirror])).toMatchObject({ code: 0 });
    const before = readFileSync(backup);
    const { code, stderr } = await docmirror('upgrade', backup);
    expect(code).toBe(2);
    expect(stderr).toMatch(/is a backup\. It stays as it is; restore it, and upgrade the mirror\./);
    expect(readFileSync(backup).equals(before)).toBe(true);
  });
});

test('status of many mirrors names the one that has to be upgraded', async () => {
  const path = olderMirror('status');
  const { code, stdout } = await docmirror('status', path);
  expect(code).toBe(1);
  expect(stdout).toMatch(/unreadable +upgrade_needed/);
  expect((await runCli(['help', 'upgrade_needed'])).stdout).toMatch(/docmirror upgrade/);
});

describe('serve', () => {
  const token = 'a-token-of-the-server';

  async function served(path: string) {
    const flags = ['serve', '--port', '0', '--token', token, '--database', path];
    const child = spawn(process.execPath, ['src/cli.ts', ...flags], { cwd: grown });
    let errors = '';
    child.stderr.on('data', chunk => {
      errors += chunk;
    });
    const [first] = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => {
        throw new Error(errors);
      }),
    ]);
    const url = String(first).trim().split(' ').at(-1) ?? '';
    return {
      child,
      errors: () => errors,
      get: (at: string, headers = { authorization: `Bearer ${token}` }) => fetch(url + at, { headers }),
      async [Symbol.asyncDispose]() {
        if (child.exitCode !== null) return;
        child.kill();
        await once(child, 'exit');
      },
    };
  }

  const lists = ['/v2/webhooks', '/v2/changes?sinceRun=0', '/', '/search?q=a', '/records/webhooks/1'];

  test('started on an older shape answers 503 with the words, until the file is upgraded', async () => {
    const path = olderMirror('served');
    await using server = await served(path);
    for (const at of lists) {
      const answer = await server.get(at);
      expect([at, answer.status, answer.headers.get('retry-after')]).toEqual([at, 503, '60']);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect(error).toEqual({
        code: 'unavailable',
        message:
          'The mirror was made by docmirror test. Run "docmirror upgrade"; it copies the file and brings it up to date.',
      });
    }
    expect((await server.get('/v2/webhooks', { authorization: 'Bearer no' })).status).toBe(401);
    expect((await server.get('/livez')).status).toBe(200);
    const health = await server.get('/healthz');
    expect([health.status, await health.json()]).toEqual([
      503,
      { status: 'unreadable', message: expect.stringContaining('docmirror upgrade') },
    ]);
    expect(await (await server.get('/metrics')).text()).toMatch(/^docmirror_mirror_readable 0$/m);
    expect(server.errors()).toContain('docmirror upgrade');

    expect(await docmirror('upgrade', path)).toMatchObject({ code: 0 });
    // The service gives the same answer again for a second.
    await wait(1_100);
    for (const at of [...lists, '/healthz']) expect([at, (await server.get(at)).status]).toEqual([at, 200]);
    expect(server.child.exitCode).toBe(null);
  });

  test('meets an older shape in the place of its mirror, and does the same', async () => {
    const path = olderMirror('met');
    expect(await docmirror('upgrade', path)).toMatchObject({ code: 0 });
    await using server = await served(path);
    expect((await server.get('/v2/webhooks')).status).toBe(200);
    const restored = olderMirror('met-older');
    renameSync(restored, path);
    expect((await server.get('/v2/webhooks')).status).toBe(503);
    expect(await docmirror('upgrade', path)).toMatchObject({ code: 0 });
    expect((await server.get('/v2/webhooks')).status).toBe(200);
    expect(server.child.exitCode).toBe(null);
  });

  test('of a later shape says that docmirror is too old, and goes on, too', async () => {
    const path = olderMirror('later');
    new Database(path).exec('PRAGMA user_version = 99').close();
    await using server = await served(path);
    const answer = await server.get('/v2/webhooks');
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('newer docmirror');
    expect(existsSync(path)).toBe(true);
  });
});
