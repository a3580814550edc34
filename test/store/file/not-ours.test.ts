import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import {
  type CliResult,
  runCli,
  runProcess,
  spawnCli,
  sqlite,
  temporaryFolder,
} from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** The bytes of all files of a folder, by their names. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map(name => [name, readFileSync(join(folder, name), 'hex')]));
}

/** Makes a database whose log keeps its content, as after a kill. */
function makeDatabase(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

const drizzleApplication = `
  CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
  INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('a', 1);
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
  INSERT INTO customers (name) VALUES ('Somebody');
`;

/** Expects that a file is named in one line, that the exit code is 2, and that nothing has changed. */
function expectRefused({ code, stderr, stdout }: CliResult, path: string): void {
  expect(stderr).toMatch(/^docmirror: [^\n]+\n$/);
  expect(stderr).toContain(path);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
}

async function expectUntouched(scene: Scene, path: string, ...commands: string[][]): Promise<void> {
  const before = contents(scene.folder);
  for (const command of commands) expectRefused(await scene.run(...command), path);
  expect(contents(scene.folder)).toEqual(before);
}

describe.concurrent('a file where the mirror is to be', () => {
  test.each([
    ['of another Drizzle application', drizzleApplication],
    ['of another Drizzle application, with a log', `PRAGMA journal_mode = WAL; ${drizzleApplication}`],
    ['with the id of another application', `PRAGMA application_id = 7; ${drizzleApplication}`],
    ['of another program', 'CREATE TABLE notes (text)'],
    ['without tables yet, whose version another program has set', 'PRAGMA user_version = 7'],
  ])('(a database %s) is refused, named and left as it is', async (_name, sql) => {
    await using scene = await setScene();
    makeDatabase(scene.database, sql);
    await expectUntouched(scene, scene.database, ['sync'], ['sync', '--dry-run'], ['status']);
  });

  test('(a mirror of a newer docmirror) keeps each byte', async () => {
    await using scene = await setScene();
    await scene.sync();
    const database = new Database(scene.database);
    database.exec('PRAGMA user_version = 9999');
    database.close();
    const before = readFileSync(scene.database);
    for (const command of ['sync', 'status', 'verify'])
      expectRefused(await scene.run(command), scene.database);
    expect(readFileSync(scene.database).equals(before)).toBe(true);
  });

  test.each([
    ['0.2', 'PRAGMA application_id = 1685021549; PRAGMA user_version = 5; CREATE TABLE sync_runs (id)'],
    [
      '0.1',
      'CREATE TABLE __drizzle_migrations (id); CREATE TABLE sync_runs (id); CREATE TABLE document_exports (id)',
    ],
  ])('(a mirror of docmirror %s) is refused in words that say what to do', async (_version, sql) => {
    await using scene = await setScene();
    makeDatabase(scene.database, sql);
    await expectUntouched(scene, scene.database, ['sync'], ['sync', '--dry-run'], ['status'], ['verify']);
    const { stderr } = await scene.run('sync');
    expect(stderr).toContain('was made by docmirror 0.1 or 0.2');
    expect(stderr).toContain('away, and run "docmirror sync"');
  });

  test('(a text) is refused', async () => {
    await using scene = await setScene();
    writeFileSync(scene.database, 'precious');
    await expectUntouched(scene, scene.database, ['sync'], ['status'], ['runs']);
  });

  test('(the lock of a mirror) is refused', async () => {
    await using scene = await setScene();
    await scene.sync();
    const staging = `${scene.database}.lock`;
    await expectUntouched(scene, staging, ['sync', '--database', staging], ['status', '--database', staging]);
  });

  test('(an empty one) becomes the mirror', async () => {
    await using scene = await setScene();
    for (const make of [
      () => writeFileSync(scene.database, ''),
      () => new Database(scene.database).exec('VACUUM').close(),
    ]) {
      make();
      const before = contents(scene.folder);
      expect(await scene.sync('--dry-run')).toMatchObject({ code: 0, status: 'completed' });
      expect(contents(scene.folder)).toEqual(before);
    }
    expect(await scene.sync()).toMatchObject({ code: 0 });
  });

  test.each([':memory:', '', 'file:mirror.sqlite', 'FILE:/tmp/x?mode=memory', ' mirror.sqlite'])(
    '(%j, which is none) is refused',
    async name => {
      await using scene = await setScene();
      for (const command of [['sync'], ['status'], ['backup', 'x.sqlite']]) {
        const args = [...command, '--database', name];
        const result = await runProcess(args, { env: scene.env, cwd: scene.folder });
        expect(result.stderr).toMatch(/^docmirror: .*(DOCMIRROR_DATABASE|--database).*\n$/);
        expect(result.code).toBe(2);
      }
      expect(readdirSync(scene.folder)).toEqual([]);
      expect(readdirSync('.').filter(each => each.includes('memory'))).toEqual([]);
    },
  );
});

test('a file of the name that the demo would give its mirror is refused, and left as it is', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'docmirror-demo.sqlite');
  writeFileSync(path, 'precious');
  expectRefused(await runCli(['demo'], { cwd: folder.path }), 'docmirror-demo.sqlite');
  expect(contents(folder.path)).toEqual({ 'docmirror-demo.sqlite': Buffer.from('precious').toString('hex') });
});

test('a file of the name of the note that a watch leaves is left as it is', async () => {
  await using scene = await setScene();
  const path = `${scene.database}.watch`;
  writeFileSync(path, 'precious');
  await using watching = spawnCli(['watch', '--run-now'], { env: scene.env });
  await expect.poll(() => scene.service.requests.length, { timeout: 20_000 }).toBeGreaterThan(2);
  watching.child.kill('SIGTERM');
  expect(await watching.done).toMatchObject({ code: 143 });
  expect(readFileSync(path, 'utf8')).toBe('precious');
});

describe.concurrent('a file at the path of the lock', () => {
  const lies: [name: string, make: (path: string) => void][] = [
    ['a database', path => makeDatabase(path, 'CREATE TABLE precious (x); INSERT INTO precious VALUES (1)')],
    [
      'a database of another program with the tables that the lock of 0.1 had',
      path => makeDatabase(path, 'CREATE TABLE walks (x); CREATE TABLE pages (x)'),
    ],
    ['a text', path => writeFileSync(path, 'precious')],
    ['a folder', path => mkdirSync(path)],
    [
      'a link to a text',
      path => {
        writeFileSync(`${path}.target`, 'precious');
        symlinkSync(`${path}.target`, path);
      },
    ],
  ];

  test.each(lies)('(%s) is refused, named and left as it is', async (name, make) => {
    await using scene = await setScene();
    const staging = `${scene.database}.lock`;
    make(staging);
    const before = name === 'a folder' ? {} : contents(scene.folder);
    expectRefused(await scene.run('sync'), staging);
    if (name === 'a folder') expect(readdirSync(scene.folder)).toEqual(['mirror.sqlite.lock']);
    else expect(contents(scene.folder)).toEqual(before);
  });
});

test('a mirror that no demo made is left as it is by the demo', async () => {
  await using scene = await setScene();
  const path = join(scene.folder, 'docmirror-demo.sqlite');
  const demo = () => runCli(['demo'], { cwd: scene.folder });
  expect(await scene.run('sync', '--database', path)).toMatchObject({ code: 0 });
  const before = readFileSync(path);
  expect(await demo()).toMatchObject({ code: 2, stderr: expect.stringContaining('no demo made') });
  expect(readFileSync(path).equals(before)).toBe(true);
  rmSync(path);
  expect(await demo()).toMatchObject({ code: 0 });
  expect(await demo()).toMatchObject({ code: 0 });
});

describe.concurrent('a mirror with two names', () => {
  test('(a symbolic link) has one lock, and one file that all is beside', async () => {
    await using scene = await setScene();
    const target = join(scene.folder, 'elsewhere');
    mkdirSync(target);
    const link = join(scene.folder, 'link.sqlite');
    scene.env.DOCMIRROR_DATABASE = join(target, 'mirror.sqlite');
    expect(await scene.sync()).toMatchObject({ code: 0 });
    symlinkSync(join(target, 'mirror.sqlite'), link);
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    scene.service.onRequest = () => {
      asked.resolve();
      return answered.promise;
    };
    await using first = spawnCli(['sync'], { env: scene.env });
    await asked.promise;
    expect(await scene.run('sync', '--database', link)).toMatchObject({ code: 11 });
    answered.resolve();
    expect(await first.done).toMatchObject({ code: 0 });
    expect(await scene.run('sync', '--database', link)).toMatchObject({ code: 0 });
    expect(await scene.run('verify', '--database', link)).toMatchObject({ code: 0 });
    expect(readdirSync(scene.folder).sort()).toEqual(['elsewhere', 'link.sqlite']);
    expect(readdirSync(target).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock']);
  });

  test('(a symbolic link to nothing) is refused', async () => {
    await using scene = await setScene();
    symlinkSync(join(scene.folder, 'nowhere', 'mirror.sqlite'), scene.database);
    expectRefused(await scene.run('sync'), scene.database);
  });

  test('(a hard link) is refused, for both names', async () => {
    await using scene = await setScene();
    await scene.sync();
    const other = join(scene.folder, 'other.sqlite');
    linkSync(scene.database, other);
    const rows = sqlite(scene.database, 'SELECT count(*) AS n FROM sync_runs');
    for (const name of [scene.database, other])
      for (const command of ['sync', 'status'])
        expectRefused(await scene.run(command, '--database', name), name);
    expect(statSync(other).nlink).toBe(2);
    expect(sqlite(scene.database, 'SELECT count(*) AS n FROM sync_runs')).toEqual(rows);
    expect(readdirSync(scene.folder)).not.toContain('other.sqlite.lock');
  });

  test('(a backup that is kept under two names) is checked all the same', async () => {
    await using scene = await setScene();
    await scene.sync();
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.run('backup', backup);
    linkSync(backup, join(scene.folder, 'yesterday.sqlite'));
    expect(await scene.run('backup', '--check', backup)).toMatchObject({ code: 0 });
  });
});
