import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { openForWriting, openInMemory } from '../../../src/store/file/open-to-write.ts';
import { version } from '../../../src/version.ts';
import { oldLists, oldMirrorPath, putOldMirror } from '../../fixtures/0.1.0/old-mirror.ts';
import { type Row, sqlite, temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';

/** A scene with a mirror of 0.1.0, and the service that it is of. */
async function setOldScene(): Promise<Scene> {
  const scene = await setScene({ maxPageSize: 10 });
  Object.assign(scene.service.lists, oldLists());
  putOldMirror(scene.database, scene.service.url);
  return scene;
}

/** All rows of all tables that 0.1.0 knew and that are for everyone, and of its views, as JSON. */
function contentOf(path: string): Record<string, string> {
  const relations = sqlite(
    oldMirrorPathCopy,
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name GLOB '[a-z]*' AND name NOT GLOB 'sqlite_*'",
  );
  return Object.fromEntries(
    relations.map(({ name }) => {
      const columns = sqlite(oldMirrorPathCopy, `SELECT name FROM pragma_table_info('${name}')`)
        .map(column => `${column.name}`)
        .filter(column => !/^_(key|occurrence|fingerprint)$|^age_seconds$/.test(column));
      return [`${name}`, JSON.stringify(sqlite(path, `SELECT ${columns.join(', ')} FROM ${name}`))];
    }),
  );
}

const shared = temporaryFolder();
const oldMirrorPathCopy = join(shared.path, 'old.sqlite');
writeFileSync(oldMirrorPathCopy, readFileSync(oldMirrorPath));
afterAll(() => shared[Symbol.asyncDispose]());

/** What tells two shapes apart: tables, views and indexes with their columns. */
function shapeOf(database: Database.Database): Row[] {
  return database
    .prepare<[], Row>(
      `SELECT s.type, s.name, s.tbl_name, coalesce(c.name, i.name) AS column, c.type AS kind, c.pk, c."notnull", f."table" AS parent
       FROM sqlite_schema s LEFT JOIN pragma_table_xinfo(s.name) c ON s.type <> 'index'
       LEFT JOIN pragma_index_info(s.name) i ON s.type = 'index'
       LEFT JOIN pragma_foreign_key_list(s.name) f ON f."from" = c.name AND s.type = 'table'
       WHERE s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY 1, 2, 3, 4`,
    )
    .all();
}

describe.concurrent('a mirror of 0.1.0', () => {
  test('is copied, and upgraded at the next run, even where the service does not answer then', async () => {
    await using scene = await setOldScene();
    const before = readFileSync(scene.database);
    const content = contentOf(scene.database);
    scene.service.options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
    expect(await scene.sync('--retries', '0')).toMatchObject({ code: 1 });
    const copy = `${scene.database}.before-0.1.0`;
    expect(contentOf(copy)).toEqual(content);
    expect(sqlite(copy, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(readdirSync(scene.folder).sort()).toEqual([
      'mirror.sqlite',
      'mirror.sqlite.before-0.1.0',
      'mirror.sqlite.staging',
    ]);
    const upgraded = new Database(scene.database);
    upgraded.exec(
      'PRAGMA foreign_keys = OFF; DELETE FROM sync_run_resources WHERE run_id = 8; DELETE FROM sync_runs WHERE id = 8',
    );
    upgraded.close();
    expect(contentOf(scene.database)).toEqual(content);
    expect(sqlite(scene.database, 'SELECT version FROM docmirror_upgrades')).toEqual([{ version }]);
    expect(sqlite(scene.database, 'PRAGMA application_id')).toEqual([{ application_id: 0x646f636d }]);
    expect(before.readUInt32BE(68)).toBe(0);
  });

  test('has then the shape of one that is made anew', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    putOldMirror(path, 'https://service.example');
    const upgraded = openForWriting(path);
    const fresh = openInMemory();
    expect(shapeOf(upgraded.sqlite)).toEqual(shapeOf(fresh.sqlite));
    expect(upgraded.sqlite.pragma('user_version')).toEqual(fresh.sqlite.pragma('user_version'));
    expect(upgraded.sqlite.pragma('foreign_keys', { simple: true })).toBe(1);
    expect(fresh.sqlite.prepare('SELECT count(*) FROM docmirror_upgrades').pluck().get()).toBe(0);
    upgraded.close();
    fresh.close();
    openForWriting(path).close();
    expect(readdirSync(folder.path).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.before-0.1.0']);
  });

  test('is sound after its upgrade', async () => {
    await using scene = await setOldScene();
    openForWriting(scene.database).close();
    expect(await scene.run('verify')).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([
    [
      'two rows exchange the runs that wrote them',
      `UPDATE document_exports SET _first_seen_run_id = 7 - _first_seen_run_id, _changed_run_id = 7 - _changed_run_id
       WHERE id IN (SELECT min(id) FROM document_exports WHERE _changed_run_id IN (1, 6) GROUP BY _changed_run_id)`,
    ],
    [
      'two rows exchange their ids',
      `UPDATE document_exports SET id = -id WHERE id IN (40, 41);
       UPDATE document_exports SET id = CASE id WHEN -40 THEN 41 ELSE 40 END WHERE id < 0`,
    ],
    ['a row has another id', 'UPDATE document_exports SET id = -9 WHERE id = 40'],
  ])('is no longer sound where %s, also when later runs went by', async (_what, change) => {
    await using scene = await setOldScene();
    scene.service.lists.collections.pop();
    for (const at of [0, 1]) scene.service.lists['document-exports'].splice(10 * at, 1);
    expect(await scene.sync('--full')).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    const mirror = new Database(scene.database);
    mirror.pragma('foreign_keys = OFF');
    expect(mirror.prepare('SELECT count(*) FROM document_exports WHERE id IN (40, 41)').pluck().get()).toBe(
      2,
    );
    mirror.exec(change);
    mirror.close();
    const { code, stdout } = await scene.run('verify');
    expect(stdout).toContain('document-exports: which runs wrote the records');
    expect(code).toBe(4);
  });

  test('is sound still where its last run was killed', async () => {
    await using scene = await setOldScene();
    const old = new Database(scene.database);
    old.exec("UPDATE sync_runs SET status = 'running', completed_at = NULL WHERE id = 7");
    old.close();
    openForWriting(scene.database).close();
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('is sound still when its history is deleted', async () => {
    await using scene = await setOldScene();
    expect(await scene.sync('--full')).toMatchObject({ code: 0 });
    // Up to the run before this one, which has a receipt.
    expect(await scene.sync('--full', '--keep-history', '1ms')).toMatchObject({ code: 0 });
    scene.service.lists['document-exports'].splice(10, 2);
    expect(await scene.sync('--full')).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    expect(await scene.sync('--full', '--keep-history', '1ms')).toMatchObject({ code: 0 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('is sound, too, where further fields stand as the service wrote them', async () => {
    await using scene = await setOldScene();
    const old = new Database(scene.database);
    const extra = String.raw`{"n":1.50,"k":"\u0041","7":[1e2,12345678901234567890]}`;
    for (const table of ['collections', 'connections'])
      old.prepare(`UPDATE ${table} SET _extra = ? WHERE id = (SELECT min(id) FROM ${table})`).run(extra);
    old.close();
    openForWriting(scene.database).close();
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    for (const table of ['collections', 'connections'])
      expect(sqlite(scene.database, `SELECT _extra FROM ${table} ORDER BY id LIMIT 1`)).toEqual([
        { _extra: '{"n":1.5,"k":"A","7":[100,12345678901234567890]}' },
      ]);
  });

  test('is synced as one that was always of this docmirror', async () => {
    await using scene = await setOldScene();
    const synced = await scene.sync('--full');
    expect(synced.stderr).toBe('');
    expect(synced.of('document-exports')).toMatchObject({
      inserted: 0,
      updated: 0,
      removed: 0,
      unchanged: 131,
    });
    expect(synced.of('webhooks')).toMatchObject({ inserted: 0, updated: 0, removed: 0, unchanged: 3 });
    expect(await scene.run('verify', '--live')).toMatchObject({ code: 0 });
  });

  test('is not changed by what only reads it: each command says what to run', async () => {
    await using scene = await setOldScene();
    const before = readFileSync(scene.database);
    const commands = [
      ['status'],
      ['runs'],
      ['changes'],
      ['verify'],
      ['report'],
      ['backup', 'x.sqlite'],
      ['export', '--out', 'x'],
      ['sync', '--dry-run'],
    ];
    for (const command of commands) {
      const { code, stderr, stdout } = await scene.run(...command);
      expect(stderr).toMatch(
        /^docmirror: .*was made by docmirror 0\.1\.0\. Run "docmirror sync" once; [^\n]*\n$/,
      );
      expect({ command, code, stdout }).toEqual({ command, code: 2, stdout: '' });
    }
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder)).toEqual(['mirror.sqlite']);
  });

  test('never loses an older copy: the next one has a number', async () => {
    await using scene = await setOldScene();
    for (const name of ['before-0.1.0', 'before-0.1.0-2'])
      writeFileSync(`${scene.database}.${name}`, 'precious');
    const content = contentOf(scene.database);
    openForWriting(scene.database).close();
    expect(readFileSync(`${scene.database}.before-0.1.0`, 'utf8')).toBe('precious');
    expect(readFileSync(`${scene.database}.before-0.1.0-2`, 'utf8')).toBe('precious');
    expect(contentOf(`${scene.database}.before-0.1.0-3`)).toEqual(content);
  });

  test('keeps the views that its readers made', async () => {
    await using scene = await setOldScene();
    const mirror = new Database(scene.database);
    mirror.exec('CREATE VIEW "my ""titles" AS SELECT source_document_title FROM document_exports');
    mirror.close();
    openForWriting(scene.database).close();
    expect(sqlite(scene.database, 'SELECT count(*) AS n FROM "my ""titles"')).toEqual([{ n: 131 }]);
  });

  test('with a reference to nothing is left as it is', async () => {
    await using scene = await setOldScene();
    const mirror = new Database(scene.database);
    mirror.exec('PRAGMA foreign_keys = OFF; DELETE FROM connections WHERE id = 3');
    mirror.close();
    const content = contentOf(scene.database);
    const { code, stderr } = await scene.run('sync');
    expect(stderr).toMatch(/^docmirror: .*can't be upgraded: .*reference to a row of connections[^\n]*\n$/);
    expect(code).toBe(1);
    expect(contentOf(scene.database)).toEqual(content);
    expect(await scene.run('status')).toMatchObject({ code: 2, stderr: expect.stringContaining('0.1.0') });
  });

  test.each([
    [
      'a reference to nothing',
      'PRAGMA foreign_keys = OFF; DELETE FROM connections WHERE id = 3',
      'reference',
    ],
    ['an index gone', 'DROP INDEX document_exports_exported_at', 'not as docmirror made them'],
    ['its migrations forgotten', 'DELETE FROM __drizzle_migrations', 'not as docmirror made them'],
  ])('with %s says so each time, and leaves no copy behind', async (_what, damage, words) => {
    await using scene = await setOldScene();
    const mirror = new Database(scene.database);
    mirror.exec(damage);
    mirror.close();
    const content = contentOf(scene.database);
    for (const _try of [1, 2]) {
      const { code, stderr } = await scene.run('sync');
      expect(stderr).toMatch(/^docmirror: .*can't be upgraded: [^\n]*\n$/);
      expect(stderr).toContain(words);
      expect(code).toBe(1);
    }
    expect(contentOf(scene.database)).toEqual(content);
    expect(readdirSync(scene.folder).filter(name => name.includes('.before-'))).toEqual([]);
  });

  const canMount = process.platform === 'linux' && process.getuid?.() === 0;
  test.skipIf(!canMount)(
    'without room for its copy is left as it is (skipped where no file system can be mounted)',
    async context => {
      await using scene = await setOldScene();
      const full = join(scene.folder, 'full');
      mkdirSync(full);
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=480k', 'tmpfs', full], { stdio: 'ignore' });
      } catch {
        return context.skip();
      }
      try {
        const path = join(full, 'mirror.sqlite');
        writeFileSync(path, readFileSync(oldMirrorPath));
        const { code, stderr } = await scene.run('sync', '--accept-new-base-url', '--database', path);
        expect(stderr).toMatch(
          /^docmirror: .*takes \d{3} KiB beside it [^\n]*; \d{2,3} KiB are free\. Nothing was changed; free some room[^\n]*\n$/,
        );
        expect(code).toBe(1);
        expect(readFileSync(path).equals(readFileSync(oldMirrorPath))).toBe(true);
        expect(
          readdirSync(full).filter(name => name.includes('before') || name.includes('unfinished')),
        ).toEqual([]);
      } finally {
        execFileSync('umount', [full]);
      }
    },
  );
});

describe.concurrent('a mirror of a later shape', () => {
  test.each([
    ['by its version', 'PRAGMA user_version = 9999'],
    ['by its migrations', "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 99999999999999)"],
  ])('is refused in words, and left as it is (%s)', async (_name, sql) => {
    await using scene = await setScene();
    await scene.sync();
    const mirror = new Database(scene.database);
    mirror.exec(sql);
    mirror.close();
    const before = readFileSync(scene.database);
    for (const command of [['sync'], ['status'], ['verify'], ['sync', '--dry-run']]) {
      const { code, stderr, stdout } = await scene.run(...command);
      expect(stderr).toMatch(
        /^docmirror: .*mirror\.sqlite was made by a newer docmirror\. Update docmirror[^\n]*\n$/,
      );
      expect({ command, code, stdout }).toEqual({ command, code: 2, stdout: '' });
    }
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).some(name => name.includes('before'))).toBe(false);
  });
});
