import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { expect, test } from 'vitest';
import { currentShape } from '../../src/store/file/open.ts';
import { version } from '../../src/version.ts';
import { makeOutgrownMirror } from '../support/outgrown-mirror.ts';
import { runCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { serveScene } from '../support/served.ts';
import { shareOf } from '../support/share.ts';

// The mirror that 0.3.0 made meets this version.

const support = join(import.meta.dirname, '../support');
const unpacked = (name: string) => gunzipSync(readFileSync(join(support, name)));
const kept = unpacked('mirror-0.3.0.sqlite.gz');

/** A scene whose mirror is of 0.3.0. Its service answers nothing. */
async function setOlder(): Promise<Scene> {
  const scene = await setScene();
  scene.service.options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
  writeFileSync(scene.database, kept, { mode: 0o600 });
  return scene;
}

/** A run that brings the mirror up to date; the service does not have to answer. */
const begin = (scene: Scene) => scene.run('sync', '--give-up-after', '0', '--accept-new-base-url');

const shapeOf = (path: string) => sqlite(path, 'PRAGMA user_version')[0]?.user_version;
/** The upgrades of a mirror, by its receipts. */
const upgrades = (path: string) =>
  sqlite(
    path,
    "SELECT receipt ->> 'docmirrorVersion' AS version FROM sync_receipts WHERE receipt ->> 'kind' = 'upgrade'",
  );
const execute = (path: string, sql: string) => new Database(path).exec(sql).close();

test('the first run brings a mirror of 0.3.0 up to date, after a copy, with all that it says', async () => {
  await using scene = await setOlder();
  const says = (path: string) =>
    [
      'SELECT * FROM record_history',
      'SELECT run_id, resource, record_id, operation, record, before FROM changes ORDER BY run_id, resource, record_id',
      'SELECT * FROM webhooks_named',
    ].map(select =>
      sqlite(path, select).map(row => {
        return {
          ...row,
          record: JSON.parse(`${row.record ?? null}`),
          before: JSON.parse(`${row.before ?? null}`),
        };
      }),
    );
  const copy = `${scene.database}.before-test`;
  const rows = sqlite(scene.database, 'SELECT * FROM document_exports ORDER BY id');
  const [before, receipts] = [says(scene.database), sqlite(scene.database, 'SELECT * FROM sync_receipts')];
  execute(scene.database, 'CREATE VIEW mine AS SELECT * FROM document_exports_named');
  expect(await begin(scene)).toMatchObject({ code: 1, stderr: expect.stringContaining(copy) });
  expect([shapeOf(scene.database), shapeOf(copy)]).toEqual([currentShape, 6]);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(says(copy)).toEqual(before);
  // A newer version can have more columns.
  expect(says(scene.database)).toMatchObject(before);
  const now = sqlite(scene.database, 'SELECT * FROM document_exports ORDER BY id');
  expect(now).toMatchObject(
    rows.map(row => ({ ...row, exported_at_ms: Date.parse(`${row.exported_at}`) || null })),
  );
  const logged = sqlite(scene.database, 'SELECT * FROM sync_receipts');
  expect(logged.slice(0, receipts.length)).toEqual(receipts);
  expect(JSON.parse(`${logged[receipts.length]?.receipt}`)).toMatchObject({
    kind: 'upgrade',
    fromVersion: 'test',
  });
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM mine')).toEqual([{ n: rows.length }]);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  // Once is enough.
  expect(await begin(scene)).toMatchObject({ code: 1 });
  expect(upgrades(scene.database)).toEqual([{ version }]);
});

test.each(readdirSync(support).filter(name => name.endsWith('.gz')))('%s becomes sound', async name => {
  await using scene = await setOlder();
  writeFileSync(scene.database, unpacked(name));
  await begin(scene);
  const isPruned = name.includes('pruned');
  const stdout = isPruned ? expect.stringContaining('weaker') : expect.not.stringContaining('weaker');
  expect(await scene.run('verify')).toMatchObject({ code: 0, stdout });
  // No content covers the name of a connection.
  const forge = "UPDATE record_history SET record = json_set(record, '$.sourceConnection.name', 'x')";
  execute(scene.database, `${forge} WHERE resource = 'document-exports'`);
  expect(await scene.run('verify')).toMatchObject({ code: 4 });
});

test('the first run brings a mirror of 0.4.0 up to date, after a copy, and its receipts stay as they are', async () => {
  await using scene = await setOlder();
  writeFileSync(scene.database, unpacked('mirror-0.4.0.sqlite.gz'), { mode: 0o600 });
  const receipts = sqlite(scene.database, 'SELECT * FROM sync_receipts');
  const refused = await scene.run('verify');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('[upgrade_needed]') });
  const copy = `${scene.database}.before-${/made by docmirror (\S+)\./.exec(refused.stderr)?.[1]}`;
  expect(await begin(scene)).toMatchObject({ code: 1, stderr: expect.stringContaining(copy) });
  expect([shapeOf(scene.database), shapeOf(copy)]).toEqual([currentShape, 7]);
  expect(sqlite(scene.database, 'SELECT * FROM sync_receipts').slice(0, receipts.length)).toEqual(receipts);
  expect(upgrades(scene.database)).toHaveLength(upgrades(copy).length + 1);
  const tables = "SELECT name FROM sqlite_schema WHERE name = 'docmirror_upgrades'";
  expect(sqlite(scene.database, tables)).toEqual([]);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('nothing is new to a mirror of 0.3.0 whose lists are as they were', async () => {
  await using scene = await setOlder();
  await using before = await makeOutgrownMirror(join(scene.folder, 'other.sqlite'));
  scene.env.DOCMIRROR_BASE_URL = before.service.url;
  const synced = await scene.sync('--accept-new-base-url');
  expect(synced).toMatchObject({ code: 0, status: 'completed' });
  const unchanged = { inserted: 0, updated: 0, removed: 0, completeness: 'proven' };
  for (const resource of ['document-exports', 'collections', 'webhooks'])
    expect(synced.of(resource)).toMatchObject(unchanged);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('no command that reads changes a mirror of 0.3.0; each says what to run', async () => {
  await using scene = await setOlder();
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
      /^docmirror: .*was made by docmirror test\. Run "docmirror sync" with version .* \[upgrade_needed\]\n$/,
    );
    expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
  }
  expect(await runCli(['status', scene.database])).toMatchObject({
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
  expect(readFileSync(scene.database).equals(kept)).toBe(true);
});

test('doctor says what the upgrade needs, and later from when its copy can go', async () => {
  await using scene = await setOlder();
  scene.service.options.status = {};
  execute(scene.database, `UPDATE sync_runs SET base_url = '${scene.service.url}'`);
  const { code, stdout } = await scene.run('doctor', '--json');
  const found = expect.stringMatching(
    /older docmirror; the next run copies it, for which [\d.]+ kB must be free/,
  );
  expect(JSON.parse(stdout)).toMatchObject({
    exitCode: code,
    checks: [{}, { check: 'mirror', status: 'ok', found }, ...Array(7).fill({})],
  });
  expect(code).toBe(0);
  await begin(scene);
  const copy = `${scene.database}.before-test`;
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
    stdout: expect.stringMatching(/^There is no backup here\.\n.*\n.*before-test.*can go from 2026-01-29\n$/),
  });
  const { copies } = JSON.parse((await scene.run('backup', '--list', 'none', '--json')).stdout);
  expect(copies).toMatchObject([{ path: copy, canGoFrom: '2026-01-29T00:00:00.000Z' }]);
});

test('a run that was killed while it brought a mirror up to date is mended by the next one', async () => {
  await using scene = await setOlder();
  const half = new Database(scene.database);
  migrate(drizzle(half), { migrationsFolder: join(import.meta.dirname, '../../migrations') });
  half.close();
  expect(await scene.run('status')).toMatchObject({ code: 2 });
  await begin(scene);
  expect(shapeOf(scene.database)).toBe(currentShape);
  // The killed run had made the copy.
  expect(existsSync(`${scene.database}.before-test`)).toBe(false);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a first run that was killed while it made the tables is mended by the next one', async () => {
  await using scene = await setScene({}, { exports: 3 });
  const half = new Database(scene.database);
  half.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = 1685021549; PRAGMA journal_mode = WAL;
    CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)`);
  migrate(drizzle(half), { migrationsFolder: join(import.meta.dirname, '../../migrations') });
  half.close();
  expect(await scene.sync()).toMatchObject({ code: 0 });
  expect(upgrades(scene.database)).toEqual([]);
  const { code, stdout } = await scene.run('verify');
  expect(code, stdout).toBe(0);
});

test.each<[what: string, sql: string, said: RegExp]>([
  [
    'that is damaged',
    "PRAGMA writable_schema = ON; CREATE INDEX mine ON collections (name); UPDATE sqlite_schema SET sql = replace(sql, '(name)', '(source_connection_id)') WHERE name = 'mine'",
    /is damaged \(/,
  ],
  [
    'whose tables are others',
    'DROP INDEX document_exports_exported_at',
    /does not have the tables that docmirror made/,
  ],
])('a mirror of 0.3.0 %s is left as it is', async (_what, sql, said) => {
  await using scene = await setOlder();
  const other = new Database(scene.database);
  other.unsafeMode().exec(sql);
  other.close();
  const says = () => sqlite(scene.database, "SELECT * FROM sqlite_schema WHERE name NOT LIKE '%drizzle%'");
  const before = says();
  const { code, stderr } = await begin(scene);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(said) });
  expect([shapeOf(scene.database), says()]).toEqual([6, before]);
});

test('the copy of before is a mirror of 0.3.0 that is restored as it is, and brought up to date again', async () => {
  await using scene = await setOlder();
  await begin(scene);
  const copy = `${scene.database}.before-test`;
  expect(await scene.run('backup', '--restore', copy)).toMatchObject({ code: 0 });
  expect(shapeOf(scene.database)).toBe(6);
  await begin(scene);
  expect([shapeOf(scene.database), shapeOf(copy)]).toEqual([currentShape, 6]);
});

test('serve answers 503 with the words until the mirror is brought up to date, and needs no restart', async () => {
  await using scene = await setOlder();
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

test('a share of another shape is refused with what to run', async () => {
  await using scene = await setScene();
  expect((await scene.sync()).code).toBe(0);
  const path = await shareOf(scene);
  execute(path, 'PRAGMA user_version = 6');
  const stderr = expect.stringContaining('older docmirror. Make it again with "docmirror share"');
  expect(await scene.run('runs', '--database', path)).toMatchObject({ code: 2, stderr });
});
