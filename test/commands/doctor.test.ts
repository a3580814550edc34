import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fullMirror } from '../store/verify/full-mirror.ts';
import { tamper } from '../store/verify/tamper.ts';
import { casesOf } from '../support/cases.ts';
import { spawnCli } from '../support/run-cli.ts';
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
  expect(first.of('document-exports')?.found).toMatch(/^first page 0, \d+ a page, 130 records$/);
  await scene.sync();
  const second = await doctor(scene);
  expect(second).toMatchObject({ code: 0, ok: true });
  expect(second.of('mirror')?.found).toMatch(/its rows are as docmirror wrote them$/);
});

test.for([
  [{}, 'in UTC, by neither DOCMIRROR_TIMEZONE nor TZ'],
  [{ TZ: 'CET-1CEST' }, 'in UTC, by neither DOCMIRROR_TIMEZONE nor TZ'],
  [{ TZ: 'Europe/Zurich' }, 'in Europe/Zurich, by TZ'],
  [{ TZ: 'Asia/Tokyo', DOCMIRROR_TIMEZONE: 'Europe/Berlin' }, 'in Europe/Berlin, by DOCMIRROR_TIMEZONE'],
] as const)('says in which zone "watch" would run: %j', async ([environment, words]) => {
  await using scene = await setScene({});
  Object.assign(scene.env, environment);
  const { of, code } = await doctor(scene, '--schedule', '15 2 * * *');
  expect(code).toBe(0);
  expect(of('schedule')?.found).toContain(`at "15 2 * * *" ${words}; next at 20`);
});

test('says it to people on a line a check, with what to do below', async () => {
  await using scene = await setScene({ token: 'another-token-than-that' });
  scene.env.DOCMIRROR_TOKEN = 'secret-token';
  const { code, stdout } = await scene.run('doctor');
  expect(code).toBe(12);
  expect(stdout).toMatch(/^ok {4}settings/);
  expect(stdout).toMatch(/\nFAIL {2}access +GET .*401.*\n +→ Get a new token/);
  expect(stdout).toMatch(/\n\nChecks that failed: 1\. "docmirror sync" would exit with 12\.\n$/);
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
    /collections.*403/,
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
    'webhooks',
    /a record can't be read \(id: /,
    ({ service: { lists } }) => lists.webhooks.push({ ...Object(lists.webhooks[0]), id: 'seven' }),
  ],
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
  expect(altered.of('mirror')?.found).toMatch(/collections.*docmirror verify/);
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
  const flags = ['--base-url', 'http://127.0.0.1:9', '--give-up-after', '0'];
  const { code, of } = await doctor(scene, ...flags);
  expect(code).toBe(2);
  expect(of('mirror')?.found).toContain('is the mirror of');
  expect(of('token')).toBeUndefined();
  expect(await scene.run('sync', ...flags)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is the mirror of'),
  });
});

test('finds a run that is using the mirror', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const lock = new Database(`${scene.database}.lock`);
  lock.exec('BEGIN EXCLUSIVE');
  const { code, stdout } = await scene.run('doctor', '--json');
  lock.close();
  expect(code).toBe(11);
  expect(stdout).toContain('"code":"mirror_busy"');
  expect(await doctor(scene)).toMatchObject({ code: 0 });
});

test('names where pings and metrics go, and warns of metrics that can not be written', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const path = join(scene.folder, 'm.prom');
  expect((await doctor(scene)).text).not.toMatch(/"check":"(ping|metrics)"/);
  scene.env.DOCMIRROR_PING_URL = 'http://127.0.0.1:9/secret-check';
  scene.env.DOCMIRROR_METRICS_FILE = path;
  const { code, of } = await doctor(scene);
  expect(code).toBe(0);
  expect(of('ping')).toMatchObject({ status: 'ok', found: 'pings go to http://127.0.0.1:9; none was sent' });
  expect(of('metrics')).toMatchObject({ status: 'ok', found: expect.stringContaining(path) });
  mkdirSync(path);
  const warned = await doctor(scene);
  expect(warned.of('metrics')).toMatchObject({
    status: 'warning',
    found: expect.stringContaining('not a regular file'),
  });
  expect([warned.code, await syncCode(scene)]).toEqual([0, 0]);
});

test('finds a mirror sound whose last run died between a list and its receipt', async () => {
  await using scene = await fullMirror();
  const last = '(SELECT max(id) FROM sync_runs)';
  tamper(
    scene.database,
    `DELETE FROM sync_receipts WHERE run_id = ${last};
     UPDATE sync_runs SET status = 'running', completed_at = NULL WHERE id = ${last}`,
  );
  const { of } = await doctor(scene);
  expect(of('mirror')?.found).toMatch(/its rows are as docmirror wrote them$/);
});

test('copies nothing, holds no lock, and lets a run begin at any time', async () => {
  await using scene = await setScene({ maxPageSize: 1_000 }, { exports: 20_000 });
  await scene.sync();
  const names = new Set<string>();
  const watch = setInterval(() => {
    for (const name of readdirSync(scene.folder)) names.add(name);
  }, 1);
  const codes: (number | null)[] = [];
  for (const delayMs of casesOf([0, 60, 120, 200, 300], 3)) {
    const examined = spawnCli(['doctor', '--json'], { env: scene.env });
    await wait(delayMs);
    await using run = spawnCli(['sync'], { env: scene.env });
    codes.push((await run.done).code);
    const { code, stdout } = await examined.done;
    // The run itself can be in the way of the look.
    expect([0, 11], stdout).toContain(code);
  }
  clearInterval(watch);
  expect(codes.filter(code => code !== 0)).toEqual([]);
  const own =
    /^mirror\.sqlite(-wal|-shm|-journal|\.lock|\.lock-journal)?$|^[\da-f]{8}\.docmirror-unfinished(-journal)?$/;
  expect([...names].filter(name => !own.test(name))).toEqual([]);
  expect(readdirSync(scene.folder).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
});

test.skipIf(process.getuid?.() !== 0)('says of a disk with 1 MB free what a run says', async ({ skip }) => {
  await using scene = await setScene({ maxPageSize: 1_000 }, { exports: 5_000 });
  const disk = join(scene.folder, 'disk');
  mkdirSync(disk);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', disk]).status !== 0)
    return skip('only who may mount file systems can try this');
  try {
    scene.env.DOCMIRROR_DATABASE = join(disk, 'mirror.sqlite');
    expect((await scene.run('sync')).code).toBe(0);
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - 1024 * 1024));
    const { code, stdout } = await scene.run('doctor', '--json');
    expect(code, stdout).toBe(0);
    expect(readdirSync(disk).sort()).toEqual(['ballast', 'mirror.sqlite', 'mirror.sqlite.lock']);
    expect((await scene.run('sync')).code).toBe(0);
  } finally {
    spawnSync('umount', [disk]);
  }
});

test('finds a share that can not be made', async () => {
  await using scene = await setScene();
  const share = join(scene.folder, 'share.sqlite');
  scene.env.DOCMIRROR_SHARE = share;
  expect((await doctor(scene)).of('share')?.found).toBe(`${share} can be made`);
  scene.env.DOCMIRROR_SHARE = join(scene.folder, 'nowhere', 'share.sqlite');
  const found = await doctor(scene);
  expect(found.of('share')?.found).toContain('does not exist');
  expect([found.code, await syncCode(scene)]).toEqual([2, 2]);
});
