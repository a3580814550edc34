import {
  existsSync,
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
import { type CliResult, runCli, spawnCli, sqlite, temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** The bytes of all files of a folder, by their names. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder).sort();
  return Object.fromEntries(names.map(name => [name, readFileSync(join(folder, name), 'hex')]));
}

/** Makes a database; what stands in its log stays there, as after a kill. */
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
    [
      "that bears docmirror's id, with other tables",
      'PRAGMA application_id = 1685021549; CREATE TABLE notes (text)',
    ],
    ['without tables yet, whose version another program has set', 'PRAGMA user_version = 7'],
  ])('(a database %s) is refused, named and left as it is', async (_name, sql) => {
    await using scene = await setScene();
    makeDatabase(scene.database, sql);
    await expectUntouched(scene, scene.database, ['sync'], ['sync', '--dry-run'], ['status']);
  });

  test('(a database of another program, which was killed) keeps its log and its journal', async () => {
    await using scene = await setScene();
    const path = join(scene.folder, 'alive.sqlite');
    const database = new Database(path);
    database.exec(`PRAGMA journal_mode = WAL; ${drizzleApplication}`);
    for (const beside of ['', '-wal']) writeFileSync(scene.database + beside, readFileSync(path + beside));
    database.close();
    await expectUntouched(scene, scene.database, ['sync'], ['status'], ['verify'], ['runs'], ['report']);
  });

  test('(a mirror of a newer docmirror) keeps each byte, also where it is no log file yet', async () => {
    await using scene = await setScene();
    await scene.sync();
    const database = new Database(scene.database);
    database.exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 9999');
    database.close();
    const before = readFileSync(scene.database);
    for (const command of ['sync', 'status', 'verify'])
      expectRefused(await scene.run(command), scene.database);
    expect(readFileSync(scene.database).equals(before)).toBe(true);
  });

  test('(a text) is refused', async () => {
    await using scene = await setScene();
    writeFileSync(scene.database, 'precious');
    await expectUntouched(scene, scene.database, ['sync'], ['status'], ['runs']);
  });

  test('(the staging file of a mirror) is refused', async () => {
    await using scene = await setScene();
    await scene.sync();
    const staging = `${scene.database}.staging`;
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
        const result = await scene.run(...command, '--database', name);
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

test.each(['-wal', '-shm'])(
  "a file of the name of what SQLite keeps beside the demo's mirror (%s) is left as it is",
  async name => {
    await using folder = temporaryFolder();
    const path = join(folder.path, `docmirror-demo.sqlite${name}`);
    writeFileSync(path, 'precious');
    expectRefused(await runCli(['demo'], { cwd: folder.path }), `docmirror-demo.sqlite${name}`);
    expect(readFileSync(path, 'utf8')).toBe('precious');
  },
);

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

describe.concurrent('a file where the staging file is to be', () => {
  const lies: [name: string, make: (path: string) => void][] = [
    ['a database', path => makeDatabase(path, 'CREATE TABLE precious (x); INSERT INTO precious VALUES (1)')],
    ['a text', path => writeFileSync(path, 'precious')],
    ['one byte', path => writeFileSync(path, 'x')],
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
    const staging = `${scene.database}.staging`;
    make(staging);
    const before = name === 'a folder' ? {} : contents(scene.folder);
    expectRefused(await scene.run('sync'), staging);
    if (name === 'a folder') expect(readdirSync(scene.folder)).toEqual(['mirror.sqlite.staging']);
    else expect(contents(scene.folder)).toEqual(before);
  });
});

describe.concurrent('a file of the name of what SQLite keeps beside a mirror', () => {
  test.each(['-wal', '-shm', '-journal', '.staging-wal', '.staging-shm', '.staging-journal'])(
    '(%s) is left as it is, whether there is a mirror or not',
    async name => {
      await using scene = await setScene();
      const path = `${scene.database}${name}`;
      writeFileSync(path, 'mine\n');
      expect(await scene.run('sync')).toMatchObject({ code: 2, stderr: expect.stringContaining(path) });
      expect(readFileSync(path, 'utf8')).toBe('mine\n');
      rmSync(path);
      expect(await scene.run('sync')).toMatchObject({ code: 0 });
      writeFileSync(path, 'mine\n');
      const { code, stderr } = await scene.run('sync');
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(path) });
      expect(readFileSync(path, 'utf8')).toBe('mine\n');
    },
  );
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
    expect(readdirSync(target).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.staging']);
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
    expect(readdirSync(scene.folder)).not.toContain('other.sqlite.staging');
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

/** Leaves a journal behind as a program that was killed in a transaction does. */
function leaveJournal(path: string, beside: string): void {
  const other = new Database(path);
  other.exec(
    'CREATE TABLE t (a); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i FROM n',
  );
  // A cache of a few pages writes the journal and the pages before the transaction ends.
  other.exec('PRAGMA cache_size = 5; BEGIN; UPDATE t SET a = a + 1');
  writeFileSync(beside, readFileSync(`${path}-journal`));
  other.exec('ROLLBACK');
  other.close();
}

describe.concurrent('a journal beside a file, which SQLite would roll back into it', () => {
  test.each([
    ['a mirror', ['verify', 'status', 'runs', 'sync', 'export --out lists', 'backup copy.sqlite']],
    [
      'a backup',
      [
        'verify',
        'status',
        'runs',
        'sync',
        'doctor',
        'backup --check FILE',
        'backup --restore FILE --database other.sqlite',
      ],
    ],
  ])('is named, and %s is left as it is', async (what, commands) => {
    await using scene = await setScene();
    await scene.sync();
    const file = what === 'a mirror' ? scene.database : join(scene.folder, 'backup.sqlite');
    if (what === 'a backup') await scene.run('backup', file);
    leaveJournal(join(scene.folder, 'other-program.db'), `${file}-journal`);
    const before = readFileSync(file);
    for (const command of commands) {
      const words = command.replace('FILE', file).split(' ');
      const database = words.includes('--database') || words.includes('--check') ? [] : ['--database', file];
      const { code, stdout, stderr } = await scene.run(...words, ...database);
      expect(code, command).toBe(2);
      expect(`${stdout}${stderr}`, command).toContain(`${file}-journal`);
      expect(readFileSync(file).equals(before), command).toBe(true);
    }
    expect(existsSync(`${file}-journal`)).toBe(true);
  });
});

test.each(['a mirror', 'a backup'])(
  "another database's log beside %s is named, and written into nothing",
  async what => {
    await using scene = await setScene();
    await scene.sync();
    const file = what === 'a mirror' ? scene.database : join(scene.folder, 'backup.sqlite');
    if (what === 'a backup') await scene.run('backup', file);
    const other = new Database(join(scene.folder, 'other-program.db'));
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    writeFileSync(`${file}-wal`, readFileSync(`${other.name}-wal`));
    other.close();
    const before = [file, `${file}-wal`].map(path => readFileSync(path));
    const commands = ['status', 'verify', 'doctor', 'sync --dry-run', 'sync', 'backup copy.sqlite'];
    for (const command of [...commands, `backup --check ${file}`]) {
      const place = command.includes('--check') ? [] : ['--database', file];
      const { code, stdout, stderr } = await scene.run(...command.split(' '), ...place);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(`${stdout}${stderr}`, command).toContain(`${file}-wal lies there, which is another database's`);
      const now = [file, `${file}-wal`].map(path => readFileSync(path));
      expect(now.every((bytes, at) => bytes.equals(before[at] as Buffer))).toBe(true);
    }
  },
);

test("another mirror's log beside a mirror is not written into it", async () => {
  await using scene = await setScene();
  await using elsewhere = await setScene();
  await scene.sync();
  await elsewhere.sync();
  const other = new Database(elsewhere.database);
  // Its pages stand in other places from here on.
  other.exec('CREATE TABLE t (a); INSERT INTO t SELECT hex(zeroblob(9000)) FROM document_exports');
  other.exec('PRAGMA wal_checkpoint(TRUNCATE); UPDATE collections SET name = hex(zeroblob(9000))');
  writeFileSync(`${scene.database}-wal`, readFileSync(`${other.name}-wal`));
  other.close();
  const before = readFileSync(scene.database);
  const { code, stderr } = await scene.run('sync');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('-wal is not its own') });
  expect(readFileSync(scene.database).equals(before)).toBe(true);
  rmSync(`${scene.database}-wal`);
  rmSync(`${scene.database}-shm`, { force: true });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a journal that a run left while it began to write to a restored mirror is rolled back by the next one', async () => {
  await using scene = await setScene();
  await scene.sync();
  const restored = join(scene.folder, 'restored.sqlite');
  await scene.run('backup', restored);
  const journal = journalOfSwitchToLog(restored);
  writeFileSync(`${restored}-journal`, journal);
  expect(await scene.sync('--database', restored)).toMatchObject({ code: 0, status: 'completed' });
  expect(await scene.run('verify', '--database', restored)).toMatchObject({ code: 0 });
});

/** What SQLite keeps of the first page while it switches a database to a log; it then switches it. */
function journalOfSwitchToLog(path: string): Buffer {
  const page = readFileSync(path).subarray(0, 4096);
  const head = Buffer.alloc(512);
  head.write('d9d505f920a163d7', 'hex');
  const pages = statSync(path).size / page.length;
  for (const [at, value] of [1, 0, pages, head.length, page.length].entries())
    head.writeUInt32BE(value, 8 + 4 * at);
  const [number, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  number.writeUInt32BE(1);
  // Every two hundredth byte from the end counts.
  let total = 0;
  for (let at = page.length - 200; at > 0; at -= 200) total += page[at] ?? 0;
  sum.writeUInt32BE(total);
  new Database(path).exec('PRAGMA journal_mode = WAL').close();
  return Buffer.concat([head, number, page, sum]);
}

test("a journal that its program has ended, by clearing its beginning, is in nobody's way", async () => {
  await using scene = await setScene();
  await scene.sync();
  writeFileSync(`${scene.database}-journal`, Buffer.alloc(512));
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

/** Somebody who reads: while they do, the log stays, and grows with each run. */
function heldLog(path: string): Disposable {
  const reader = new Database(path);
  reader.exec('BEGIN; SELECT 1 FROM sync_runs');
  return { [Symbol.dispose]: () => reader.close() };
}

test.each([
  'whole',
  'cut off after its first commit',
  'cut off in its second run',
  'cut off in the newest run',
])("a mirror's own log of earlier, %s, does not undo what came later", async how => {
  await using scene = await setScene();
  await scene.sync();
  const reader = heldLog(scene.database);
  scene.service.lists.collections.pop();
  await scene.sync();
  const endOfRun = statSync(`${scene.database}-wal`).size;
  if (how === 'cut off in its second run') await scene.sync();
  const log = readFileSync(`${scene.database}-wal`);
  reader[Symbol.dispose]();
  scene.service.lists.collections.pop();
  if (how === 'whole' || how === 'cut off after its first commit') await scene.sync();
  const cutAfter = {
    'cut off after its first commit': 32,
    'cut off in its second run': endOfRun,
    'cut off in the newest run': 32,
  }[how];
  const old = cutAfter === undefined ? log : log.subarray(0, endOfCommit(log, cutAfter));
  writeFileSync(`${scene.database}-wal`, old);
  const before = readFileSync(scene.database);
  for (const command of ['status', 'verify', 'doctor', 'sync --dry-run', 'sync', 'backup copy.sqlite']) {
    const { code, stdout, stderr } = await scene.run(...command.split(' '));
    expect({ command, code }).toEqual({ command, code: 2 });
    expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' '), command).toContain(
      '-wal lies there, which is older than',
    );
    expect(readFileSync(scene.database).equals(before), command).toBe(true);
    expect(readFileSync(`${scene.database}-wal`).equals(old), command).toBe(true);
  }
  rmSync(`${scene.database}-wal`);
  rmSync(`${scene.database}-shm`, { force: true });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

/** Where the transaction of a log ends whose first frame stands at `from`. Source: SQLite's format of the log; a frame that ends one tells of the database's size. */
function endOfCommit(log: Buffer, from: number): number {
  const frameBytes = 24 + log.readUInt32BE(8);
  for (let at = from; at + frameBytes <= log.length; at += frameBytes)
    if (log.readUInt32BE(at + 4) > 0) return at + frameBytes;
  throw new Error('the log has no transaction');
}

test.each([
  ['a database', '-shm'],
  ['a text', '-shm'],
  ['a database', '.staging-shm'],
  ['a text', '.staging-shm'],
])('%s that bears the name of the index of a log (%s) is left as it is', async (what, ending) => {
  await using scene = await setScene();
  await scene.sync();
  const path = `${scene.database}${ending}`;
  if (what === 'a text') writeFileSync(path, 'precious'.repeat(4096));
  else makeDatabase(path, 'CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(90000))');
  const before = readFileSync(path);
  const commands =
    ending === '-shm' ? ['status', 'verify', 'backup copy.sqlite', 'doctor', 'sync'] : ['doctor', 'sync'];
  for (const command of commands) {
    const { code, stdout, stderr } = await scene.run(...command.split(' '));
    expect({ command, code }).toEqual({ command, code: 2 });
    expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' '), command).toContain(`${ending} lies there`);
    expect(readFileSync(path).equals(before), command).toBe(true);
  }
});

test("another program's journal beside the lock is rolled back into nothing", async () => {
  await using scene = await setScene();
  await scene.sync();
  // A log beside the mirror makes its readers ask whether a run holds the lock.
  using _reader = heldLog(scene.database);
  await scene.sync();
  expect(statSync(`${scene.database}-wal`).size).toBeGreaterThan(0);
  const lock = `${scene.database}.staging`;
  leaveJournal(join(scene.folder, 'other-program.db'), `${lock}-journal`);
  const before = readFileSync(lock);
  for (const command of ['status', 'verify', 'doctor', 'sync']) {
    const { code } = await scene.run(command);
    expect({ command, code }).toEqual({ command, code: /doctor|sync/.test(command) ? 2 : 0 });
    expect(readFileSync(lock).equals(before), command).toBe(true);
    expect(existsSync(`${lock}-journal`), command).toBe(true);
  }
});

test("another database's log beside the lock is written into nothing", async () => {
  await using scene = await setScene();
  await scene.sync();
  const lock = `${scene.database}.staging`;
  const other = new Database(join(scene.folder, 'other-program.db'));
  other.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)');
  writeFileSync(`${lock}-wal`, readFileSync(`${other.name}-wal`));
  other.close();
  const before = [lock, `${lock}-wal`].map(path => readFileSync(path));
  for (const command of ['doctor', 'sync']) {
    const { code, stdout, stderr } = await scene.run(command);
    expect({ command, code }).toEqual({ command, code: 2 });
    expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' ')).toContain('.staging-wal lies there');
    const now = [lock, `${lock}-wal`].map(path => readFileSync(path));
    expect(now.every((bytes, at) => bytes.equals(before[at] as Buffer))).toBe(true);
  }
});

test('a note in the lock that can not be read is as none', async () => {
  await using scene = await setScene();
  await scene.sync();
  new Database(`${scene.database}.staging`)
    .exec("UPDATE mirror_mark SET suspects = 'document-exports'")
    .close();
  expect(await scene.sync()).toMatchObject({ code: 0 });
});

test.each(['a folder', 'a link', 'a link to itself'])(
  '%s in the place of a log is refused by all commands',
  async what => {
    await using scene = await setScene();
    await scene.sync();
    const path = `${scene.database}-wal`;
    if (what === 'a folder') mkdirSync(path);
    else symlinkSync(what === 'a link' ? join(scene.folder, 'other') : path, path);
    writeFileSync(join(scene.folder, 'other'), 'precious');
    for (const command of ['status', 'doctor', 'sync']) {
      const { code, stdout, stderr } = await scene.run(command);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(`${stdout}${stderr}`.replaceAll(/\s+/g, ' '), command).toContain('-wal');
    }
  },
);

describe.concurrent('a name that belongs to what lies beside a mirror', () => {
  test.each(['-wal', '-shm', '-journal', '.staging', '.staging-wal', '.staging-shm', '.staging-journal'])(
    '(%s) is refused as the name of any other file',
    async ending => {
      await using scene = await setScene();
      await scene.sync();
      const path = `${scene.database}${ending}`;
      const before = contents(scene.folder);
      for (const command of [
        ['sync', '--database', path],
        ['backup', path],
        ['report', '--out', path],
        ['audit', 'checkpoint', '--unsigned', '--out', path],
        ['audit', 'keygen', path],
      ])
        expectRefused(await scene.run(...command), path);
      // No mirror need be there yet: a key stays where it is for long.
      const later = join(scene.folder, `later.sqlite${ending}`);
      expectRefused(await scene.run('audit', 'keygen', later), later);
      expect(contents(scene.folder)).toEqual(before);
    },
  );
});
