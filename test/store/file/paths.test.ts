import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { AtomicFile } from '../../../src/store/file/atomic-file.ts';
import { runBound, whyNotBound } from '../../support/bound-by-rights.ts';
import { syncScene } from '../../support/in-process.ts';
import { type CliResult, runCli } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** What lies in a folder: hashes of files, by their names. */
function contents(folder: string): Record<string, unknown> {
  const entries = readdirSync(folder, { withFileTypes: true });
  const bytes = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(
    entries.map(entry => [entry.name, entry.isFile() ? bytes(entry.name) : entry.isDirectory()]),
  );
}

function execute(path: string, sql: string): void {
  new Database(path).exec(sql).close();
}

/** A scene with a mirror of one run. */
async function setSynced(): Promise<Scene> {
  const scene = await setScene({}, { exports: 3, collections: 1, webhooks: 1 });
  await syncScene(scene);
  return scene;
}

/** One line that names what is wrong, in words, with exit code 2 and nothing on standard output. */
function expectRefused({ code, stderr, stdout }: CliResult, ...words: (string | RegExp)[]): void {
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^docmirror: [^\n]+\n$/);
  for (const each of words) expect(stderr).toMatch(each);
}

const drizzleApplication = `
  CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
  INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('a', 1);
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)`;
const made02 = 'PRAGMA application_id = 1685021549; PRAGMA user_version = 5; CREATE TABLE sync_runs (id)';
const made01 =
  'CREATE TABLE __drizzle_migrations (id); CREATE TABLE sync_runs (id); CREATE TABLE document_exports (id)';
const tooOld = /was made by docmirror 0\.1 or 0\.2.*away, and run "docmirror sync"/;

const database = (sql: string) => (path: string) => execute(path, sql);

test.each<[what: string, said: RegExp, make: (path: string, scene: Scene) => void]>([
  ['another Drizzle application', /another program/, database(drizzleApplication)],
  ['one with a log', /another program/, database(`PRAGMA journal_mode = WAL; ${drizzleApplication}`)],
  ['one with an id of its own', /./, database(`PRAGMA application_id = 7; ${drizzleApplication}`)],
  ['another program', /another program/, database('CREATE TABLE notes (text)')],
  ['nobody yet, whose version a program has set', /./, database('PRAGMA user_version = 7')],
  ['docmirror 0.2', tooOld, database(made02)],
  ['docmirror 0.1', tooOld, database(made01)],
  [
    'a newer docmirror',
    /newer docmirror/,
    (path, scene) => moveTo(path, scene, 'PRAGMA user_version = 9999'),
  ],
  ['a lock', /lock/, (path, scene) => copyFileSync(`${scene.database}.lock`, path)],
  ['no SQLite, because it is a text', /not an SQLite database/, path => writeFileSync(path, 'precious')],
  ['a link to nothing', /./, (path, { folder }) => symlinkSync(join(folder, 'nowhere', 'x.sqlite'), path)],
  ['a mirror with two names', /hard link/, (path, { database }) => linkSync(database, path)],
])(
  'a file at the path of the mirror is refused, named and left as it is: of %s',
  async (_what, said, make) => {
    await using scene = await setSynced();
    const path = join(scene.folder, 'x.sqlite');
    make(path, scene);
    scene.service.requests = [];
    const before = contents(scene.folder);
    for (const command of ['sync', 'sync --dry-run', 'status', 'backup copy.sqlite'])
      expectRefused(await scene.run(...command.split(' '), '--database', path), path, said);
    expect(contents(scene.folder)).toMatchObject(before);
    expect(scene.service.requests).toEqual([]);
  },
);

/** Copies the mirror of a scene, and alters the copy. */
function moveTo(path: string, { database: from }: Scene, sql: string): void {
  copyFileSync(from, path);
  execute(path, sql);
}

test('an empty file becomes the mirror, for its owner alone; a dry run leaves it as it is', async () => {
  await using scene = await setScene({}, { exports: 1 });
  for (const make of [() => writeFileSync(scene.database, ''), () => execute(scene.database, 'VACUUM')]) {
    make();
    chmodSync(scene.database, 0o644);
    const before = contents(scene.folder);
    expect(await scene.sync('--dry-run')).toMatchObject({ code: 0, status: 'completed' });
    expect(contents(scene.folder)).toEqual(before);
  }
  expect(await scene.sync()).toMatchObject({ code: 0 });
  expect(statSync(scene.database).mode & 0o777).toBe(0o600);
});

test('no command that reads makes a mirror', async () => {
  await using scene = await setScene();
  for (const words of ['status', 'runs', 'serve --port 0'])
    expect(await scene.run(...words.split(' '))).toMatchObject({ code: 1, stdout: '' });
  expect(await scene.sync('--dry-run')).toMatchObject({ code: 0 });
  expect(readdirSync(scene.folder)).toEqual([]);
});

/** In bytes; what nearly every file system takes. */
const nameBytesMax = 255;

const readers = ['status', 'runs', 'changes', 'show webhooks 1', 'verify', 'export --out lists', 'serve'];
const writers = ['sync', 'sync --dry-run', 'verify --live', 'backup copy.sqlite', 'share share.sqlite'];

test.each<[what: string, said: RegExp, nameIn: (folder: string) => string]>([
  ['longer than the file system takes', /./, folder => join(folder, 'm'.repeat(300))],
  ['too long for what lies beside it', /./, folder => join(folder, 'm'.repeat(nameBytesMax - 10))],
  ["a folder's that is not there", /./, folder => `${join(folder, 'newdir')}/`],
  ["a mirror's, as if it were a folder", /./, folder => `${join(folder, 'mirror.sqlite')}/`],
  ["below a mirror's", /leads through a file/, folder => join(folder, 'mirror.sqlite', 'other.sqlite')],
  ['a link to itself', /./, folder => join(folder, 'loop')],
  ['in memory', /not a file on a disk/, () => ':memory:'],
  ['an address', /DOCMIRROR_DATABASE/, () => 'file:mirror.sqlite?mode=memory'],
])('a name that can not be of a mirror is refused by every command: %s', async (_what, said, nameIn) => {
  await using scene = await setSynced();
  symlinkSync('loop', join(scene.folder, 'loop'));
  const before = contents(scene.folder);
  scene.env.DOCMIRROR_DATABASE = nameIn(scene.folder);
  for (const words of [...readers, ...writers])
    expectRefused(await runCli(words.split(' '), { env: scene.env }), 'DOCMIRROR_DATABASE: ', said);
  expect(contents(scene.folder)).toEqual(before);
});

test('a mirror whose name is as long as can be is kept, read and backed up', async () => {
  await using scene = await setScene({}, { exports: 1 });
  mkdirSync(join(scene.folder, 'backups'));
  scene.env.DOCMIRROR_DATABASE = join(scene.folder, 'm'.repeat(nameBytesMax - '.lock-journal'.length));
  for (const words of ['sync', 'status', 'verify', 'doctor', 'backup backups/copy.sqlite']) {
    const { code, stderr } = await scene.run(...words.split(' '));
    expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  }
});

test.each<[what: string, make: (path: string) => void]>([
  ['a database', path => execute(path, 'CREATE TABLE precious (x)')],
  ['a database with tables as the lock of 0.1', path => execute(path, 'CREATE TABLE pages (x)')],
  ['a text', path => writeFileSync(path, 'precious')],
  ['a folder', path => mkdirSync(path)],
  ['a link to a text', path => symlinkSync(join(dirname(path), 'text'), path)],
])('a file at the path of the lock is refused, named and left as it is: %s', async (_what, make) => {
  await using scene = await setScene({}, { exports: 1 });
  writeFileSync(join(scene.folder, 'text'), 'precious');
  make(`${scene.database}.lock`);
  const before = contents(scene.folder);
  expectRefused(await scene.run('sync'), `${scene.database}.lock`);
  expect(contents(scene.folder)).toEqual(before);
});

test('the demo leaves a file of the name of its mirror alone, and a mirror that no demo made', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const path = join(scene.folder, 'docmirror-demo.sqlite');
  writeFileSync(path, 'precious');
  expectRefused(await scene.run('demo'), 'docmirror-demo.sqlite');
  expect(readFileSync(path, 'utf8')).toBe('precious');
  expect(readdirSync(scene.folder)).toEqual(['docmirror-demo.sqlite']);
  writeFileSync(path, '');
  expect(await scene.run('sync', '--database', path)).toMatchObject({ code: 0 });
  const before = readFileSync(path);
  expectRefused(await scene.run('demo'), 'no demo made');
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('a symbolic link to a mirror has the lock of the mirror, and all is beside that', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const target = join(scene.folder, 'elsewhere');
  mkdirSync(target);
  const [real, link] = [join(target, 'mirror.sqlite'), join(scene.folder, 'link.sqlite')];
  expect(await scene.sync('--database', real)).toMatchObject({ code: 0 });
  symlinkSync(real, link);
  let during: Promise<CliResult> | undefined;
  scene.service.onRequest = async () => {
    during ??= scene.run('sync', '--database', link);
    await during;
  };
  expect(await scene.sync('--full', '--database', real)).toMatchObject({ code: 0 });
  expect(await during).toMatchObject({ code: 11 });
  scene.service.onRequest = undefined;
  for (const command of ['sync', 'verify'])
    expect(await scene.run(command, '--database', link)).toMatchObject({ code: 0 });
  expect(readdirSync(scene.folder).sort()).toEqual(['elsewhere', 'link.sqlite']);
  expect(readdirSync(target).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
});

const skipped = whyNotBound === null ? '' : ` (skipped: ${whyNotBound})`;

test.skipIf(whyNotBound !== null)(
  `who can read a mirror but not write is shown the way to a share${skipped}`,
  async () => {
    await using scene = await setSynced();
    chmodSync(scene.database, 0o440);
    chmodSync(scene.folder, 0o550);
    const { status, stderr } = runBound(['status', '--database', scene.database]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^docmirror: .*"docmirror share FILE" makes one, .*\n$/),
    });
    chmodSync(scene.folder, 0o750);
  },
);

test('a mirror is damaged if its header names a format that no SQLite has', async () => {
  await using scene = await setSynced();
  const file = openSync(scene.database, 'r+');
  writeSync(file, Buffer.alloc(4, 0xff), 0, 4, 44);
  closeSync(file);
  for (const words of ['status', 'sync', 'backup copy.sqlite']) {
    const { code, stderr } = await scene.run(...words.split(' '));
    expect({ words, code }).toEqual({ words, code: 1 });
    expect(stderr).toContain(`${scene.database} is damaged. Restore it from a backup`);
  }
});

test.each<[words: string, setting: string, name: string]>([
  ['export --out', '--out', 'LONG'],
  ['export --out', '--out', 'LONG/below'],
  ['changes --out', '--out', 'loop/below'],
  ['export --out', '--out', 'mirror.sqlite/below'],
  ['report --out', '--out', 'LONG'],
  ['report --out', '--out', 'missing/report.html'],
  ['report --out', '--out', ''],
  ['audit checkpoint --unsigned --out', '--out', 'missing/checkpoint'],
  ['audit checkpoint --unsigned --out', '--out', ''],
  ['audit keygen', 'FILE', 'LONG'],
  ['audit keygen', 'FILE', 'missing/key.pem'],
  ['audit keygen', 'FILE', ''],
  ['backup', 'DEST', 'LONG'],
  ['backup', 'DEST', 'loop'],
  ['backup', 'DEST', 'mirror.sqlite/copy.sqlite'],
  ['backup --keep 2', 'DEST', 'LONG'],
  ['backup --restore', '--restore', 'LONG'],
  ['backup --check', '--check', 'LONG'],
  ['export --out', '--out', '/proc/docmirror/below'],
  ['backup --keep 2', 'DEST', '/proc/docmirror'],
])('%s names %s if the name can not be written to: %s', async (words, setting, name) => {
  await using scene = await setSynced();
  symlinkSync('loop', join(scene.folder, 'loop'));
  const path =
    name === '' || name.startsWith('/') ? name : join(scene.folder, name.replace('LONG', 'x'.repeat(300)));
  const said = name === '' ? 'it is empty' : dirname(path);
  expectRefused(await scene.run(...words.split(' '), path), `${setting}: `, said);
});

/** What no output may replace, and where it is in a scene. */
async function precious(scene: Scene): Promise<Record<string, string>> {
  const at = (name: string) => join(scene.folder, name);
  for (const words of ['audit keygen key.pem', 'backup backup.sqlite', 'sync --database other.sqlite'])
    expect(await scene.run(...words.split(' '))).toMatchObject({ code: 0 });
  writeFileSync(at('remarked.pem'), `Bag Attributes\n${readFileSync(at('key.pem'), 'utf8')}`);
  writeFileSync(at('gone.sqlite-wal'), 'a log');
  copyFileSync(`${scene.database}.lock`, at('lock'));
  symlinkSync(scene.database, at('link'));
  const { database: mirror, folder } = scene;
  const names = [
    'backup.sqlite',
    'other.sqlite',
    'key.pem',
    'remarked.pem',
    'gone.sqlite-wal',
    'lock',
    'link',
  ];
  const files = Object.fromEntries(names.map(name => [name, at(name)]));
  return { mirror, 'its lock': `${mirror}.lock`, ...files, 'a folder': folder, 'a device': '/dev/null' };
}

test.each<[command: string, mayReplace: readonly string[]]>([
  ['report --out', []],
  ['audit checkpoint --unsigned --out', []],
  ['share', []],
  ['sync --share', []],
  ['watch --share', []],
  ['backup', ['backup.sqlite']],
  ['backup --restore backup.sqlite --database', ['mirror', 'backup.sqlite', 'link']],
])('%s replaces no mirror, lock, log or key', async (command, mayReplace) => {
  await using scene = await setSynced();
  for (const [what, path] of Object.entries(await precious(scene))) {
    if (mayReplace.includes(what)) continue;
    const before = lstatSync(path).isFile() ? readFileSync(path) : null;
    const { code, stderr } = await scene.run(...command.split(' '), path);
    expect({ what, code }, stderr).toEqual({ what, code: 2 });
    expect(stderr).toContain(dirname(path));
    if (before !== null) expect(readFileSync(path).equals(before), what).toBe(true);
  }
});

test('an export replaces its own files, and no key', async () => {
  await using scene = await setSynced();
  const path = join(scene.folder, 'out', 'collections.ndjson');
  mkdirSync(dirname(path));
  writeFileSync(path, 'mine\n');
  expect(await scene.run('export', '--out', 'out')).toMatchObject({ code: 0 });
  expect(readFileSync(path, 'utf8')).toContain('"id":1');
  await scene.run('audit', 'keygen', 'key.pem');
  copyFileSync(join(scene.folder, 'key.pem'), path);
  expectRefused(await scene.run('export', '--out', 'out'), path);
  expect(readFileSync(path, 'utf8')).toContain('PRIVATE KEY');
});

test.each(['report --out', 'audit checkpoint --unsigned --out'])(
  '%s makes a file for its owner, keeps the mode of one that it replaces, and follows a link',
  async command => {
    await using scene = await setSynced();
    const [file, link] = [join(scene.folder, 'file'), join(scene.folder, 'link')];
    const write = (path: string) => scene.run(...command.split(' '), path);
    symlinkSync(file, link);
    expectRefused(await write(link), link);
    expect(await write(file)).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    expect(await write(link)).toMatchObject({ code: 0 });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(file)).toMatchObject({ mode: 0o100644, size: expect.any(Number) });
    expect(statSync(file).size).toBeGreaterThan(0);
  },
);

test('a file that is being written is no leftover of a killed process, whatever the clock says meanwhile', async () => {
  await using scene = await setScene();
  const path = join(scene.folder, 'one.ndjson');
  const one = new AtomicFile(path);
  const leftover = join(scene.folder, 'other.ndjson.01234567.docmirror-unfinished');
  const mine = join(scene.folder, 'notes.docmirror-unfinished');
  for (const each of [leftover, mine]) writeFileSync(each, '{');
  for (const name of readdirSync(scene.folder)) utimesSync(join(scene.folder, name), 1, 1);
  new AtomicFile(join(scene.folder, 'two.ndjson')).discard();
  one.finish();
  one.putInPlace();
  expect([path, leftover, mine].map(each => existsSync(each))).toEqual([true, false, true]);
});
