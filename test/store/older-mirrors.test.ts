import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currentShape } from '../../src/store/file/open.ts';
import { putKept } from '../support/kept.ts';
import { laterDocmirror, laterVersion } from '../support/later-docmirror.ts';
import { makeOutgrownMirror } from '../support/outgrown-mirror.ts';
import { runCli, sqlite, type TemporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene, withProgram } from '../support/scene.ts';
import { serveScene } from '../support/served.ts';

// Mirrors that 0.5.0 made meet this version, and one that has a migration more.

const kept = ['mirror-0.5.0', 'mirror-0.5.0-pruned', 'mirror-0.5.0-pruned-by-0.4'];
/** The shape that 0.5.0 wrote. */
const shapeOf05 = 8;

/** A scene with a mirror of 0.5.0. Its service answers nothing. */
async function setOlder(name = 'mirror-0.5.0'): Promise<Scene> {
  const scene = await setScene();
  scene.service.options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
  putKept(name, scene.database);
  return scene;
}

/** A run that brings the mirror up to date; the service does not have to answer. */
const begin = (scene: Scene) => scene.run('sync', '--give-up-after', '0', '--accept-new-base-url');

const shapeOf = (path: string) => sqlite(path, 'PRAGMA user_version')[0]?.user_version;
const receiptsOf = (path: string) => sqlite(path, 'SELECT * FROM sync_receipts');
/** The upgrades of a mirror, by its receipts. */
const upgradesOf = (path: string) =>
  sqlite(
    path,
    `SELECT receipt ->> 'fromVersion' AS "from", receipt ->> 'docmirrorVersion' AS "to" FROM sync_receipts
     WHERE receipt ->> 'kind' = 'upgrade'`,
  );
const execute = (path: string, sql: string) => new Database(path).exec(sql).close();

describe('a mirror of 0.5.0', () => {
  test.each(kept)('is kept and sound: %s, and its receipts stay as they are', async name => {
    await using scene = await setOlder(name);
    const receipts = receiptsOf(scene.database);
    await begin(scene);
    expect(receiptsOf(scene.database).slice(0, receipts.length)).toEqual(receipts);
    const isPruned = name.includes('pruned');
    // The receipts of 0.3 and 0.4 about what they deleted say less.
    const stdout = isPruned ? expect.stringContaining('weaker') : expect.not.stringContaining('weaker');
    expect(await scene.run('verify')).toMatchObject({ code: 0, stdout });
    // No content covers the name of a connection.
    const forge = "UPDATE record_history SET record = json_set(record, '$.sourceConnection.name', 'x')";
    execute(scene.database, `${forge} WHERE resource = 'document-exports'`);
    expect(await scene.run('verify')).toMatchObject({ code: 4 });
  });

  test('has nothing new if its lists are as they were', async () => {
    await using scene = await setOlder();
    await using before = await makeOutgrownMirror(join(scene.folder, 'other.sqlite'));
    scene.env.DOCMIRROR_BASE_URL = before.service.url;
    const synced = await scene.sync('--full', '--accept-new-base-url');
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    const unchanged = { inserted: 0, updated: 0, removed: 0, completeness: 'proven' };
    for (const resource of ['document-exports', 'collections', 'webhooks'])
      expect(synced.of(resource)).toMatchObject(unchanged);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  const mirrorId = '044f0332-2e6a-4d51-a13c-b35a8f523bab';
  const earlier = [
    [4, 'f8db85c1dc6cf15f'],
    [3, '2514171a761a4004'],
    [2, '4a88b94514acaad3'],
    [1, 'cb7d7b24b02648ab'],
  ];
  test.each<[release: string, cursor: object, runs: readonly number[]]>([
    [
      '0.4.0, from before 0.5.0 brought the mirror up to date',
      {
        mirrorId,
        runId: 5,
        leafIndex: 5,
        leafHash: '3cf96844cc749d04a1e5bf28da6e63bb598f2752fcd7f8098e39d81d291ef9ef',
        after: null,
        earlier,
      },
      [6, 7, 8],
    ],
    [
      '0.5.0',
      {
        mirrorId,
        runId: 8,
        leafHash: '20d0cfea121c1a22a75cef754b4edeb8ed32b04e7b426a7ee21d68aeec61b721',
        leafIndex: 9,
        after: null,
        begunAfter: '9688e09c4f9409ce20b7bb0c3abf67e69e4aa2eb7758c23852bd0f172272cf81',
        earlier: [[7, '3f0732f6eab4c2e0'], [6, 'dbf5b22dfc65a760'], [5, '3cf96844cc749d04'], ...earlier],
      },
      [],
    ],
  ])('goes on for a cursor of %s', async (_release, cursor, runs) => {
    await using scene = await setOlder('mirror-0.5.0-pruned-by-0.4');
    await begin(scene);
    writeFileSync(join(scene.folder, 'c'), JSON.stringify(cursor));
    const { code, stdout } = await scene.run('changes', '--cursor', 'c', '--next', 'n', '--format', 'ndjson');
    expect(code).toBe(0);
    const told = stdout.split('\n').filter(line => line !== '');
    expect([...new Set(told.map(line => JSON.parse(line).runId))]).toEqual(runs);
  });
});

test('a first run that was killed while it made the tables is mended by the next one', async () => {
  await using scene = await setScene({}, { exports: 3 });
  const half = new Database(scene.database);
  half.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 1685021549; PRAGMA journal_mode = WAL;
    CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)`);
  migrate(drizzle(half), { migrationsFolder: join(import.meta.dirname, '../../migrations') });
  half.close();
  expect(await scene.sync()).toMatchObject({ code: 0 });
  expect(upgradesOf(scene.database)).toEqual([]);
  const { code, stdout } = await scene.run('verify');
  expect(code, stdout).toBe(0);
});

describe('a version with a migration more', () => {
  let program: TemporaryFolder;
  beforeAll(() => {
    program = laterDocmirror();
  });
  afterAll(() => program[Symbol.asyncDispose]());

  /** A scene with a mirror of 0.5.0 and the later program. */
  const setLater = async (name?: string) => withProgram(await setOlder(name), program.path);
  const laterShape = currentShape + 1;
  const copyOf = (scene: Scene) => `${scene.database}.before-0.5.0`;

  test.each(kept)(
    'brings %s up to date in its first run, after a copy, with all that it says',
    async name => {
      await using scene = await setLater(name);
      const says = (path: string) =>
        [
          'SELECT * FROM document_exports ORDER BY id',
          'SELECT * FROM record_history',
          'SELECT run_id, resource, record_id, operation, record, before FROM changes ORDER BY run_id, resource, record_id',
          'SELECT * FROM webhooks_named',
          'SELECT * FROM rejected_records',
        ].map(select => sqlite(path, select));
      const [before, receipts] = [says(scene.database), receiptsOf(scene.database)];
      const upgrades = upgradesOf(scene.database);
      execute(scene.database, 'CREATE VIEW mine AS SELECT * FROM document_exports_named');
      const copy = copyOf(scene);
      expect(await begin(scene)).toMatchObject({ code: 1, stderr: expect.stringContaining(copy) });
      expect([shapeOf(scene.database), shapeOf(copy)]).toEqual([laterShape, shapeOf05]);
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      expect(says(copy)).toEqual(before);
      // A newer version can have more columns.
      expect(says(scene.database)).toMatchObject(before);
      expect(receiptsOf(scene.database).slice(0, receipts.length)).toEqual(receipts);
      expect(upgradesOf(scene.database)).toEqual([...upgrades, { from: '0.5.0', to: laterVersion }]);
      expect(sqlite(scene.database, 'SELECT count(*) AS n FROM mine')).toEqual([{ n: before[0]?.length }]);
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
      // Once is enough.
      expect(await begin(scene)).toMatchObject({ code: 1 });
      expect(upgradesOf(scene.database)).toHaveLength(upgrades.length + 1);
    },
  );

  test('changes nothing before that; each command that reads says what to run', async () => {
    await using scene = await setLater();
    const bytes = readFileSync(scene.database);
    for (const words of [
      'status',
      'changes',
      'verify',
      'report',
      'share x.sqlite',
      'sync --dry-run --accept-new-base-url',
    ]) {
      const { code, stderr, stdout } = await scene.run(...words.split(' '));
      expect(stderr).toMatch(
        /^docmirror: .*was made by docmirror 0\.5\.0\. Run "docmirror sync" with version 99\.0\.0.* \[upgrade_needed\]\n$/,
      );
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
    }
    expect(await runCli(['status', scene.database], { program: program.path })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/unreadable +upgrade_needed/),
    });
    expect((await scene.run('doctor', '--json')).stdout).toContain('docmirror sync');
    const check = await scene.run('backup', '--check', scene.database);
    expect(check).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/It can be restored with "docmirror backup/),
    });
    expect(check.stderr).not.toContain('Run "docmirror sync"');
    expect(readFileSync(scene.database).equals(bytes)).toBe(true);
  });

  test('says in "doctor" what it needs for that, and later from when the copy can go', async () => {
    await using scene = await setLater();
    scene.service.options.status = {};
    execute(scene.database, `UPDATE sync_runs SET base_url = '${scene.service.url}'`);
    const { code, stdout } = await scene.run('doctor', '--json');
    const found = expect.stringMatching(
      /older docmirror; the next run copies it, for which [\d.]+ kB must be free/,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: code,
      checks: expect.arrayContaining([expect.objectContaining({ check: 'mirror', status: 'ok', found })]),
    });
    expect(code).toBe(0);
    await begin(scene);
    const copy = copyOf(scene);
    const copyIn = async () => {
      const { checks } = JSON.parse((await scene.run('doctor', '--json')).stdout);
      return checks.find(({ check }: { check: string }) => check === 'copy');
    };
    const at = new Date('2026-01-01T00:00:00.000Z');
    expect(await copyIn()).toMatchObject({ status: 'ok', found: expect.stringContaining(copy) });
    utimesSync(copy, at, at);
    const old = { status: 'warning', found: expect.stringContaining('can go from 2026-01-29 on') };
    expect(await copyIn()).toMatchObject(old);
    mkdirSync(join(scene.folder, 'none'));
    const listed = await scene.run('backup', '--list', 'none');
    expect(listed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^There is no backup here\.\n.*\n.*before-0\.5\.0.*can go from 2026-01-29\n$/,
      ),
    });
    const { copies } = JSON.parse((await scene.run('backup', '--list', 'none', '--json')).stdout);
    expect(copies).toMatchObject([{ path: copy, canGoFrom: '2026-01-29T00:00:00.000Z' }]);
  });

  test('mends a mirror whose run was killed while it brought it up to date', async () => {
    await using scene = await setLater();
    const half = new Database(scene.database);
    migrate(drizzle(half), { migrationsFolder: join(program.path, 'migrations') });
    half.close();
    expect(await scene.run('status')).toMatchObject({ code: 2 });
    await begin(scene);
    expect(shapeOf(scene.database)).toBe(laterShape);
    // The killed run had made the copy.
    expect(existsSync(copyOf(scene))).toBe(false);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test.each<[what: string, sql: string, said: RegExp]>([
    [
      'that is damaged',
      "PRAGMA writable_schema = ON; CREATE INDEX mine ON collections (name); UPDATE sqlite_schema SET sql = replace(sql, '(name)', '(source_connection_id)') WHERE name = 'mine'",
      /is damaged \(/,
    ],
    ['whose tables are others', 'DROP TABLE _list_states', /does not have the tables that docmirror made/],
  ])('leaves a mirror %s as it is', async (_what, sql, said) => {
    await using scene = await setLater();
    const other = new Database(scene.database);
    other.unsafeMode().exec(sql);
    other.close();
    const { code, stderr } = await begin(scene);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(said) });
    expect([shapeOf(scene.database), upgradesOf(scene.database)]).toEqual([shapeOf05, []]);
  });

  test('restores the copy of before as it is, which the older version goes on with', async () => {
    await using scene = await setLater();
    const before = receiptsOf(scene.database);
    await begin(scene);
    const copy = copyOf(scene);
    expect(await scene.run('backup', '--restore', copy)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('not verified, because an older docmirror made it'),
    });
    expect([shapeOf(scene.database), receiptsOf(scene.database)]).toEqual([shapeOf05, before]);
    await begin(scene);
    expect([shapeOf(scene.database), shapeOf(copy)]).toEqual([laterShape, shapeOf05]);
  });

  test('answers in "serve" with 503 and the words until then, and needs no restart', async () => {
    await using scene = await setLater();
    await using server = await serveScene(scene);
    const lists = ['/v2/webhooks', '/v2/changes?sinceRun=0', '/', '/search?q=a'];
    for (const at of lists) {
      const answer = await server.get(at);
      expect([at, answer.status, answer.headers.get('retry-after')]).toEqual([at, 503, '60']);
      expect(await answer.text()).toContain('Run \\"docmirror sync\\"');
    }
    expect((await server.get('/healthz')).status).toBe(503);
    await begin(scene);
    for (const at of lists) expect([at, (await server.get(at)).status]).toEqual([at, 200]);
  });

  test('writes what the version before refuses, and leaves as it is', async () => {
    await using scene = await setLater();
    await begin(scene);
    const bytes = readFileSync(scene.database);
    const present = await runCli(['verify'], { env: scene.env, cwd: scene.folder });
    expect(present).toMatchObject({ code: 2, stderr: expect.stringContaining('made by a newer docmirror') });
    expect(readFileSync(scene.database).equals(bytes)).toBe(true);
  });
});
