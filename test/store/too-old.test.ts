import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { loadCommands } from '../../src/commands/index.ts';
import { putKept } from '../support/kept.ts';
import { sqlite } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { serveScene } from '../support/served.ts';
import { documentExport } from '../support/stand-in.ts';

// Mirrors of 0.4 and older: docmirror 0.5 brings them up to date, and this version refuses them.

/** One command a line, each with all that it needs besides the mirror. */
const commands = `
sync
sync --dry-run
sync --rebuild
sync --share readers.sqlite
watch --run-now
doctor
status
runs
changes
changes --cursor none --next next
query "SELECT 1"
show collections 1
rejected
service
report
report --out report.html
serve --port 0
verify
verify --live
share share.sqlite
backup copy.sqlite
backup --keep 2 backups
backup --check mirror.sqlite
backup --restore mirror.sqlite --database other.sqlite
backup --restore current.sqlite
erase collections 1
accept
export --out exported
publish clickhouse --url http://127.0.0.1:9 --tenant a
audit checkpoint --unsigned
audit receipts`
  .trim()
  .split('\n');
/** They read no mirror, or only that of the demo, which has its own name. */
const others = ['audit keygen', 'completion', 'demo'];

const wordsOf = (line: string) =>
  [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);

/** What is in a folder: the bytes of files, by their names. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isFile());
  return Object.fromEntries(files.map(({ name }) => [name, readFileSync(join(folder, name), 'latin1')]));
}

const make02 = (path: string) =>
  new Database(path)
    .exec('PRAGMA application_id = 1685021549; PRAGMA user_version = 5; CREATE TABLE sync_runs (id)')
    .close();

test('each command that reads or writes a mirror is tried below', async () => {
  const tried = new Set(commands.map(line => wordsOf(line).slice(0, 2).join(' ')));
  const names = (await loadCommands()).map(({ name }) => name).filter(name => !others.includes(name));
  expect(names.filter(name => ![...tried].some(line => `${line} `.startsWith(`${name} `)))).toEqual([]);
});

describe.each<[release: string, put: (path: string) => void, advice: RegExp]>([
  ['0.2', make02, /Move it away, and run "docmirror sync"/],
  ['0.3', path => putKept('mirror-0.3.0-pruned', path), /Run docmirror 0\.5 once/],
  ['0.4', path => putKept('mirror-0.4.0', path), /Run docmirror 0\.5 once/],
])('a mirror of %s', (release, put, advice) => {
  test('is refused by every command with what to do, and nothing is written', async () => {
    await using scene = await setScene({}, { exports: 1 });
    expect(await scene.run('sync', '--database', 'current.sqlite')).toMatchObject({ code: 0 });
    put(scene.database);
    scene.service.requests = [];
    const before = contents(scene.folder);
    for (const line of commands) {
      const { code, stdout, stderr } = await scene.run(...wordsOf(line));
      const isDoctor = line === 'doctor';
      expect({ line, code, stdout: isDoctor ? '' : stdout }, stderr).toEqual({ line, code: 1, stdout: '' });
      const said = isDoctor ? stdout.replaceAll(/\s+/g, ' ') : stderr;
      expect(said, line).toMatch(
        new RegExp(
          `(${scene.database}|mirror\\.sqlite) was made by docmirror ${release.replace('.', '\\.')}, `,
        ),
      );
      expect(said, line).toMatch(advice);
      if (!isDoctor) expect(said).toMatch(/^docmirror: [^\n]+ \[mirror_too_old\]\n$/);
      expect({ line, ...contents(scene.folder) }).toEqual({ line, ...before });
      // It tries everything.
      if (!isDoctor) expect(scene.service.requests).toEqual([]);
      scene.service.requests = [];
    }
    expect(await scene.run()).toMatchObject({ code: 1, stderr: expect.stringContaining('[mirror_too_old]') });
    const json = await scene.run('doctor', '--json');
    expect(JSON.parse(json.stdout).checks).toContainEqual(
      expect.objectContaining({ check: 'mirror', status: 'failed', code: 'mirror_too_old' }),
    );
    const names = ['current.sqlite', 'current.sqlite.lock', 'mirror.sqlite'];
    expect(readdirSync(scene.folder).sort()).toEqual(names);
  });

  test('is one line of many in "status"', async () => {
    await using scene = await setScene();
    put(scene.database);
    const { code, stdout } = await scene.run('status', 'mirror.sqlite', 'none.sqlite');
    expect(code).toBe(1);
    expect(stdout).toMatch(/unreadable +mirror_too_old .* mirror\.sqlite\n/);
  });

  test('is not replaced by an output, a backup or a share', async () => {
    await using scene = await setScene({}, { exports: 1 });
    expect(await scene.sync()).toMatchObject({ code: 0 });
    const path = join(scene.folder, 'old.sqlite');
    put(path);
    const before = readFileSync(path);
    expect(await scene.run('backup', path)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('[mirror_too_old]'),
    });
    for (const words of ['report --out', 'audit checkpoint --unsigned --out', 'share', 'sync --share'])
      expect(await scene.run(...words.split(' '), path)).toMatchObject({ code: 2 });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

test('the demo refuses a mirror that a demo of 0.4 left', async () => {
  await using scene = await setScene();
  const path = join(scene.folder, 'docmirror-demo.sqlite');
  putKept('mirror-0.4.0', path);
  const before = contents(scene.folder);
  expect(await scene.run('demo')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/docmirror-demo\.sqlite was made by docmirror 0\.4.*\[mirror_too_old\]\n$/),
  });
  expect(contents(scene.folder)).toEqual(before);
});

test('a server that is running says with 503 that the mirror was exchanged for one that is too old', async () => {
  await using scene = await setScene({}, { exports: 1 });
  expect(await scene.sync()).toMatchObject({ code: 0 });
  await using server = await serveScene(scene);
  expect((await server.get('/v2/webhooks')).status).toBe(200);
  for (const ending of ['-wal', '-shm']) expect(existsSync(scene.database + ending)).toBe(false);
  putKept('mirror-0.4.0', scene.database);
  const answer = await server.get('/v2/webhooks');
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringContaining('Run docmirror 0.5 once'),
  ]);
  expect(await (await server.get('/healthz')).json()).toMatchObject({
    status: 'unreadable',
    message: expect.stringContaining('The mirror was made by docmirror 0.4'),
  });
});

test('a backup of 0.4 is listed with the others of its mirror by its manifest, and goes when it is one too many', async () => {
  await using scene = await setScene({}, { exports: 1 });
  expect(await scene.sync()).toMatchObject({ code: 0 });
  const folder = join(scene.folder, 'backups');
  mkdirSync(folder);
  const [{ mirror_id: mirrorId } = {}] = sqlite(scene.database, 'SELECT mirror_id FROM _mirror');
  const older = (of: unknown, time: string) => {
    const path = join(folder, `mirror-${time}.sqlite`);
    putKept('mirror-0.4.0', path);
    const manifest = { mirrorId: of, sha256: '0'.repeat(64), at: '2026-10-01T00:00:00.000Z', bytes: 1 };
    writeFileSync(`${path}.json`, JSON.stringify(manifest));
    return path;
  };
  const own = older(mirrorId, '20261001T000000Z');
  const another = older('another', '20261002T000000Z');
  expect((await scene.run('backup', '--list', folder)).stdout).toContain(own);
  expect(await scene.run('backup', '--keep', '1', folder)).toMatchObject({ code: 0 });
  expect([existsSync(own), existsSync(another)]).toEqual([false, true]);
});

describe('a share of 0.4', () => {
  async function setShared(): Promise<Scene & { readonly share: string }> {
    const scene = await setScene({}, { exports: 1 });
    const share = join(scene.folder, 'share.sqlite');
    putKept('share-0.4.0', share);
    return { ...scene, share };
  }

  test('is refused by readers with how to make it again', async () => {
    await using scene = await setShared();
    const before = readFileSync(scene.share);
    for (const line of ['status', 'runs', 'query "SELECT 1"', 'changes', 'export --out exported']) {
      const { code, stderr } = await scene.run(...wordsOf(line), '--database', scene.share);
      expect({ line, code }).toEqual({ line, code: 2 });
      expect(stderr).toContain('is a share of an older docmirror. Make it again with "docmirror share"');
    }
    expect(readFileSync(scene.share).equals(before)).toBe(true);
  });

  test('is made again by a run of its mirror, which 0.5 had brought up to date', async () => {
    await using scene = await setShared();
    putKept('mirror-0.5.0-pruned-by-0.4', scene.database);
    scene.service.lists['document-exports'] = make(10, n => documentExport(n));
    expect(await scene.sync('--share', scene.share, '--accept-new-base-url')).toMatchObject({ code: 0 });
    expect(await scene.run('status', '--database', scene.share)).toMatchObject({ code: 0 });
    expect(sqlite(scene.share, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 10 }]);
  });

  test('stays if it is of another mirror', async () => {
    await using scene = await setShared();
    const before = readFileSync(scene.share);
    const { code, summary } = await scene.sync('--share', scene.share);
    expect({ code, summary }).toMatchObject({
      code: 3,
      summary: { share: { error: { code: 'share_of_another_mirror' } } },
    });
    expect(readFileSync(scene.share).equals(before)).toBe(true);
  });
});
