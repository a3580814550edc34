import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { fileBehind } from '../../../src/store/file/open.ts';
import { syncScene } from '../../support/in-process.ts';
import { type CliResult, spawnCli } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

// What can be at a path, and what each command then does.

/** What is in a folder: the bytes of files, by their names. */
function contents(folder: string): Record<string, unknown> {
  const entries = readdirSync(folder, { withFileTypes: true });
  return Object.fromEntries(
    entries.map(entry => [
      entry.name,
      entry.isFile() ? readFileSync(join(folder, entry.name), 'latin1') : entry.isDirectory(),
    ]),
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

const foreign = 'CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)';
const database = (sql: string) => (path: string) => execute(path, sql);

test.each<[what: string, said: RegExp, make: (path: string, scene: Scene) => void]>([
  ['a database of another program', /another program/, database(foreign)],
  ['one with a log', /another program/, database(`PRAGMA journal_mode = WAL; ${foreign}`)],
  ['one with an id of its own', /another program/, database('PRAGMA application_id = 7; CREATE TABLE x (y)')],
  ['an empty one whose version a program has set', /another program/, database('PRAGMA user_version = 7')],
  [
    'a mirror of a newer docmirror',
    /newer docmirror/,
    (path, scene) => {
      copyFileSync(scene.database, path);
      execute(path, 'PRAGMA user_version = 9999');
    },
  ],
  ['a lock', /is the lock of a mirror/, (path, scene) => copyFileSync(`${scene.database}.lock`, path)],
  ['a text', /not an SQLite database/, path => writeFileSync(path, 'precious')],
  ['a folder', /not a regular file/, path => mkdirSync(path)],
  [
    'a link into a folder that is not there',
    /is a symbolic link to .*there is no folder/,
    path => symlinkSync('nowhere/x.sqlite', path),
  ],
  ['a mirror with two names', /hard link/, (path, { database }) => linkSync(database, path)],
])('%s at the path of the mirror is refused, named and left as it is', async (_what, said, make) => {
  await using scene = await setSynced();
  const path = join(scene.folder, 'x.sqlite');
  make(path, scene);
  scene.service.requests = [];
  const before = contents(scene.folder);
  for (const command of ['sync', 'sync --dry-run', 'status', 'backup copy.sqlite'])
    expectRefused(await scene.run(...command.split(' '), '--database', path), path, said);
  expect(contents(scene.folder)).toMatchObject(before);
  expect(scene.service.requests).toEqual([]);
});

test.each<[what: string, said: RegExp, nameIn: (folder: string) => string]>([
  ['that is too long', /ENAMETOOLONG/, folder => join(folder, 'm'.repeat(300))],
  ['in a folder that is not there', /does not exist/, folder => join(folder, 'newdir', 'x.sqlite')],
  ['below a mirror', /does not exist/, folder => join(folder, 'mirror.sqlite', 'other.sqlite')],
  ['of a link to itself', /ELOOP/, folder => join(folder, 'loop')],
])('a name %s is refused by every command', async (_what, said, nameIn) => {
  await using scene = await setSynced();
  symlinkSync('loop', join(scene.folder, 'loop'));
  const before = contents(scene.folder);
  scene.env.DOCMIRROR_DATABASE = nameIn(scene.folder);
  for (const words of [
    'status',
    'changes',
    'verify',
    'serve',
    'sync',
    'sync --dry-run',
    'share share.sqlite',
  ])
    expectRefused(await scene.run(...words.split(' ')), 'DOCMIRROR_DATABASE: ', said);
  expect(contents(scene.folder)).toEqual(before);
});

test.each([':memory:', '', ' x.sqlite'])('"%s" is no name of a file', name => {
  expect(() => fileBehind(name)).toThrow(UsageError);
});

test.each<[what: string, make: (path: string) => void]>([
  ['a database', path => execute(path, 'CREATE TABLE precious (x)')],
  ['a text', path => writeFileSync(path, 'precious')],
  ['a link to a text', path => symlinkSync(join(dirname(path), 'text'), path)],
])('%s at the path of the lock is refused, named and left as it is', async (_what, make) => {
  await using scene = await setScene({}, { exports: 1 });
  writeFileSync(join(scene.folder, 'text'), 'precious');
  make(`${scene.database}.lock`);
  const before = contents(scene.folder);
  expectRefused(await scene.run('sync'), `${scene.database}.lock`);
  expect(contents(scene.folder)).toEqual(before);
});

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

test('the demo leaves a file of the name of its mirror alone, and a mirror that no demo made', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const path = join(scene.folder, 'docmirror-demo.sqlite');
  writeFileSync(path, 'precious');
  expectRefused(await scene.run('demo'), 'docmirror-demo.sqlite');
  expect(readFileSync(path, 'utf8')).toBe('precious');
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

test.each([
  'export --out LONG',
  'export --out mirror.sqlite/below',
  'report --out LONG',
  'report --out missing/report.html',
  'report --out ',
  'audit checkpoint --unsigned --out missing/checkpoint',
  'audit keygen missing/key.pem',
  'backup LONG',
  'backup --keep 2 mirror.sqlite/below',
  'backup --restore LONG',
])('%s is refused if the name can not be written to', async words => {
  await using scene = await setSynced();
  expectRefused(await scene.run(...words.replace('LONG', 'x'.repeat(300)).split(' ')));
});

test('a private key is written over no file, and for its owner alone', async () => {
  await using scene = await setScene();
  const [there, fresh] = [join(scene.folder, 'there.pem'), join(scene.folder, 'fresh.pem')];
  writeFileSync(there, 'precious');
  expectRefused(await scene.run('audit', 'keygen', there), there);
  expect(readFileSync(there, 'utf8')).toBe('precious');
  expect(await scene.run('audit', 'keygen', fresh)).toMatchObject({ code: 0 });
  expect(statSync(fresh).mode & 0o777).toBe(0o600);
});

/** What no output may replace, and where it is in a scene. */
async function precious(scene: Scene): Promise<Record<string, string>> {
  const at = (name: string) => join(scene.folder, name);
  for (const words of ['backup backup.sqlite', 'sync --database other.sqlite'])
    expect(await scene.run(...words.split(' '))).toMatchObject({ code: 0 });
  writeFileSync(at('gone.sqlite-wal'), 'a log');
  symlinkSync(scene.database, at('link'));
  // One of its own: without the guard, root would replace that of the machine.
  const isMade = ['mknod device c 1 3', 'mkfifo device'].some(words => {
    const [command = '', ...args] = words.split(' ');
    return spawnSync(command, args, { cwd: scene.folder }).status === 0;
  });
  expect(isMade).toBe(true);
  const names = ['backup.sqlite', 'other.sqlite', 'gone.sqlite-wal', 'link'];
  const files = Object.fromEntries(names.map(name => [name, at(name)]));
  const { database: mirror, folder } = scene;
  return { mirror, 'its lock': `${mirror}.lock`, ...files, 'a folder': folder, 'a device': at('device') };
}

test.each<[command: string, mayReplace: readonly string[]]>([
  ['report --out', []],
  ['audit checkpoint --unsigned --out', []],
  ['share', []],
  ['sync --share', []],
  ['watch --share', []],
  ['backup', ['backup.sqlite']],
  ['backup --restore backup.sqlite --database', ['mirror', 'backup.sqlite', 'link']],
])('%s replaces no mirror, lock or log', async (command, mayReplace) => {
  await using scene = await setSynced();
  for (const [what, path] of Object.entries(await precious(scene))) {
    if (mayReplace.includes(what)) continue;
    const before = lstatSync(path).isFile() ? readFileSync(path) : null;
    const { code, stderr } = await scene.run(...command.split(' '), path);
    expect({ what, code }, stderr).toEqual({ what, code: 2 });
    expect(stderr).toContain(dirname(path));
    // The command can have taken the lock.
    if (before !== null && what !== 'its lock') expect(readFileSync(path).equals(before), what).toBe(true);
  }
});

test.each(['report --out', 'audit checkpoint --unsigned --out'])(
  '%s makes a file for its owner, keeps the mode of one that it replaces, and follows a link',
  async command => {
    await using scene = await setSynced();
    const [file, link] = [join(scene.folder, 'file'), join(scene.folder, 'link')];
    const write = (path: string) => scene.run(...command.split(' '), path);
    symlinkSync(file, link);
    expect(await write(link)).toMatchObject({ code: 0 });
    expect(await write(file)).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    expect(await write(link)).toMatchObject({ code: 0 });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(file).mode).toBe(0o100644);
    expect(statSync(file).size).toBeGreaterThan(0);
    expect(existsSync(`${file}.lock`)).toBe(false);
  },
);

test('temporary files of SQLite are in the folder of the mirror, also behind a link', async () => {
  await using scene = await setSynced();
  mkdirSync(join(scene.folder, 'linked'));
  const link = join(scene.folder, 'linked', 'mirror.sqlite');
  symlinkSync(scene.database, link);
  const sorted = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200000)
    SELECT x, randomblob(100) AS b FROM n ORDER BY b LIMIT 1 OFFSET 199999`;
  await using query = spawnCli(['query', sorted, '--database', link], { env: scene.env });
  const opened = `/proc/${query.child.pid}/fd`;
  const temporary = () =>
    readdirSync(opened)
      .map(fd => readlinkSync(join(opened, fd)))
      .find(path => path.endsWith(' (deleted)'));
  await expect.poll(temporary, { timeout: 20_000, interval: 5 }).toContain(`${scene.folder}/#`);
  expect(await query.done).toMatchObject({ code: 0 });
});
