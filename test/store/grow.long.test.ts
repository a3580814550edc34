import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { growDocmirror } from '../support/grown-docmirror.ts';
import { makeOutgrownMirror, type Outgrown } from '../support/outgrown-mirror.ts';
import { runNode } from '../support/program-copy.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

// Does the work of a maintainer when the service has new fields. These are one entry each in the registry, its column in the schema,
// a connection's name among the columns of the views, and "npm run db:generate". Nothing else is edited, and all tests here must pass.

let folder: TemporaryFolder;
let grown: string;
let outgrown: Outgrown;
let listed: Wire[];
let database: string;
/** The copy that the upgrade made. */
let copy: string;
let env: Record<string, string>;

const docmirror = (...args: string[]) => runNode(grown, ['src/cli.ts', ...args], env);

const upgrading = `
  import { openForWriting } from './src/store/file/open-to-write.ts';
  process.stdout.write('begun');
  openForWriting(process.argv[2]).close();`;

/** Upgrades a mirror in a process of its own, which is killed after so long; undefined lets it end. */
async function upgrade(path: string, afterMs?: number): Promise<number> {
  writeFileSync(join(grown, 'upgrade.ts'), upgrading);
  const child = spawn(process.execPath, ['upgrade.ts', path], {
    cwd: grown,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const begunAt = performance.now();
  if (afterMs !== undefined) {
    await Promise.race([wait(afterMs), ended]);
    child.kill('SIGKILL');
  }
  await ended;
  return performance.now() - begunAt;
}

/** Runs statements of another program on a mirror. */
function execute(path: string, sql: string): void {
  const mirror = new Database(path);
  mirror.exec(sql);
  mirror.close();
}

type Wire = Record<string, unknown>;

/** A record without members that are null: for a reader both are the same. */
function withoutNulls(record: Wire): Wire {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}

/** With each connection as its id alone, because the mirror keeps only the newest name. */
function withIdsAlone(record: Wire): Wire {
  const members = Object.entries(record).map(([name, value]): [string, unknown] => {
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
    return [name, id === null ? value : { id }];
  });
  return Object.fromEntries(members);
}

const byReference = (records: readonly Wire[]) =>
  records
    .map(withoutNulls)
    .map(withIdsAlone)
    .sort((a, b) => (JSON.stringify(sortKey(a)) < JSON.stringify(sortKey(b)) ? -1 : 1));
const sortKey = (record: Wire) => [record.sourceDocumentReference, record.sourceDocumentTitle];

/** The connection or value of a field that fits; null if its column cannot store it. */
const fitting = {
  language: (value: unknown) => (typeof value === 'string' ? value : null),
  page_total: (value: unknown) => (Number.isSafeInteger(value) ? value : null),
  reviewer_connection_id: (value: unknown) => (value as { id?: number } | null | undefined)?.id ?? null,
};

beforeAll(async () => {
  folder = temporaryFolder();
  grown = join(folder.path, 'docmirror');
  await growDocmirror(grown);

  outgrown = await makeOutgrownMirror(join(folder.path, 'outgrown.sqlite'));
  listed = outgrown.service.lists['document-exports'].map(item =>
    typeof item === 'string' ? JSON.parse(item) : item,
  );
  database = join(folder.path, 'mirror.sqlite');
  copy = `${database}.before-test`;
  copyFileSync(outgrown.path, database);
  const { service } = outgrown;
  env = {
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_TOKEN: service.options.token,
    DOCMIRROR_DATABASE: database,
    DOCMIRROR_LOG_LEVEL: 'error',
  };
  // A run upgrades the mirror even if the service does not answer.
  service.options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
  expect(await docmirror('sync', '--give-up-after', '0')).toMatchObject({ code: 1 });
  service.options.status = {};
}, 60_000);

afterAll(async () => {
  await outgrown[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe('after a field of each kind was added, an older mirror', () => {
  test('was copied before it was upgraded, for its owner only', () => {
    const select = 'SELECT * FROM document_exports';
    expect(sqlite(copy, select)).toEqual(sqlite(outgrown.path, select));
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(sqlite(database, 'SELECT count(*) AS n FROM docmirror_upgrades')).toEqual([{ n: 1 }]);
  });

  test('has in the new columns what had waited in _extra and fits, and the rest where it was', () => {
    const rows = sqlite(
      database,
      `SELECT source_document_reference AS sourceDocumentReference, source_document_title AS sourceDocumentTitle,
       language, page_total, reviewer_connection_id, _extra FROM document_exports`,
    );
    expect(rows).toHaveLength(listed.length);
    const expected = listed.map(item => ({
      ...Object.fromEntries(
        ['sourceDocumentReference', 'sourceDocumentTitle'].map(name => [name, item[name] ?? null]),
      ),
      language: fitting.language(item.language),
      page_total: fitting.page_total(item.pageTotal),
      reviewer_connection_id: fitting.reviewer_connection_id(item.reviewerConnection),
    }));
    const found = rows.map(({ _extra, ...row }) => row);
    const inOrder = (all: Wire[]) =>
      all.sort((a, b) => (JSON.stringify(sortKey(a)) < JSON.stringify(sortKey(b)) ? -1 : 1));
    expect(inOrder(found)).toEqual(inOrder(expected));
    const extras = rows
      .filter(({ _extra }) => _extra !== null)
      .map(row => `${row.sourceDocumentReference} ${row._extra}`);
    expect(extras.sort()).toEqual([
      'DOC-11 {"pageTotal":"eleven","language":11}',
      'DOC-13 {"reviewerConnection":{"id":null,"name":"Nobody"}}',
      'DOC-15 {"reviewerConnection":3,"free text":{"pages":[1,2]}}',
      'DOC-9 {"pageTotal":9007199254740993}',
    ]);
  });

  test('knows the connections that the new references lead to, since the run that wrote them', () => {
    const reviewers = sqlite(
      database,
      'SELECT id, name, _first_seen_run_id AS since FROM connections WHERE id >= 900 ORDER BY id',
    );
    expect(reviewers).toEqual([
      { id: 900, name: 'Reviewer 0', since: 1 },
      { id: 902, name: 'Reviewer 2', since: 1 },
    ]);
    expect(sqlite(database, 'PRAGMA foreign_key_check')).toEqual([]);
  });

  test('shows the fields in its views, and says in `changes` what it said before', () => {
    const [named] = sqlite(
      database,
      `SELECT language, page_total, reviewer_connection_id, reviewer_connection_name
       FROM document_exports_named WHERE source_document_reference = 'DOC-120'`,
    );
    expect(named).toEqual({
      language: 'de',
      page_total: 120,
      reviewer_connection_id: 900,
      reviewer_connection_name: 'Reviewer 0',
    });
    const changes = (path: string) =>
      sqlite(
        path,
        "SELECT * FROM changes WHERE NOT (resource = 'connections' AND record_id >= 900) ORDER BY run_id, resource, record_id, operation",
      ).map(({ record, ...rest }) => ({ ...rest, record: withoutNulls(JSON.parse(`${record}`)) }));
    expect(changes(database)).toEqual(changes(copy));
  });

  test('is read with the fields by docmirror/schema', async () => {
    const program = `
      import Database from 'better-sqlite3';
      import { eq } from 'drizzle-orm';
      import { drizzle } from 'drizzle-orm/better-sqlite3';
      import { documentExportsNamed as named } from './src/schema.ts';
      const rows = drizzle(new Database(process.argv[2])).select().from(named).where(eq(named.sourceDocumentReference, 'DOC-120')).all();
      console.log(rows[0].language, rows[0].reviewerConnectionId, rows[0].reviewerConnectionName);`;
    writeFileSync(join(grown, 'read.ts'), program);
    expect(await runNode(grown, ['read.ts', database])).toMatchObject({ stdout: 'de 900 Reviewer 0\n' });
  });

  test('is exported, now and as of a run, served and reported with the fields', async () => {
    const exported = async (out: string, ...flags: string[]): Promise<Wire[]> => {
      expect(await docmirror('export', '--out', join(folder.path, out), ...flags)).toMatchObject({ code: 0 });
      const lines = readFileSync(join(folder.path, out, 'document_exports.ndjson'), 'utf8').trimEnd();
      return lines.split('\n').map(line => JSON.parse(line));
    };
    const lists = await exported('now');
    expect(byReference(lists)).toEqual(byReference(listed));
    const languageThen = async (run: number) =>
      (await exported(`run-${run}`, '--as-of-run', `${run}`)).find(
        record => record.sourceDocumentReference === 'DOC-8',
      )?.language;
    expect(await languageThen(1)).toBe('de');
    expect(await languageThen(2)).toBe('fr');
    expect(await docmirror('report', '--out', join(folder.path, 'report.html'))).toMatchObject({ code: 0 });
    expect(await docmirror('changes', '--since-run', '1', '--format', 'ndjson')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"language":"fr"'),
    });
  });

  test('keeps the rows that refer to a table which was built again', () => {
    const select = 'SELECT * FROM webhook_events JOIN webhook_connections USING (webhook_id)';
    expect(sqlite(database, select)).toEqual(sqlite(copy, select));
    const [{ sql } = { sql: null }] = sqlite(
      database,
      "SELECT sql FROM sqlite_schema WHERE name = 'webhooks'",
    );
    expect(sql).toContain("DEFAULT ''");
    expect(sqlite(database, select).length).toBeGreaterThan(0);
  });

  test('has no shortcut left of the list that has grown', async () => {
    const path = join(folder.path, 'shortcuts.sqlite');
    copyFileSync(outgrown.path, path);
    const resources = (table: string) => sqlite(path, `SELECT DISTINCT resource FROM ${table}`);
    for (const table of ['_pages', '_list_states'])
      expect(resources(table)).toContainEqual({ resource: 'document-exports' });
    await upgrade(path);
    for (const table of ['_pages', '_list_states'])
      expect(resources(table)).not.toContainEqual({ resource: 'document-exports' });
  });

  test('is not changed by what only reads it: each command says what to run', async () => {
    const path = join(folder.path, 'read.sqlite');
    copyFileSync(outgrown.path, path);
    for (const command of [['status'], ['changes'], ['verify'], ['report'], ['sync', '--dry-run']]) {
      const { code, stderr, stdout } = await docmirror(...command, '--database', path);
      expect(stderr).toMatch(/^docmirror: .*was made by docmirror test\. Run "docmirror upgrade"; [^\n]*\n$/);
      expect({ command, code, stdout }).toEqual({ command, code: 2, stdout: '' });
    }
    expect(readFileSync(path).equals(readFileSync(outgrown.path))).toBe(true);
  });

  test('is no failure to doctor, which says what sync will do', async () => {
    const path = join(folder.path, 'doctor.sqlite');
    copyFileSync(outgrown.path, path);
    const { stdout } = await docmirror('doctor', '--database', path, '--json');
    const { checks }: { checks: { check: string; status: string; todo: string | null }[] } =
      JSON.parse(stdout);
    expect(checks.find(({ check }) => check === 'mirror')).toMatchObject({
      status: 'warning',
      todo: expect.stringMatching(/copies it, and then brings it up to date/),
    });
  });

  test('keeps the views that its readers made', async () => {
    const path = join(folder.path, 'views.sqlite');
    copyFileSync(outgrown.path, path);
    execute(path, 'CREATE VIEW "my ""titles" AS SELECT source_document_title FROM document_exports');
    await upgrade(path);
    expect(sqlite(path, 'SELECT count(*) AS n FROM "my ""titles"')).toEqual([{ n: listed.length }]);
  });

  test('keeps a table that refers to a record that went', async () => {
    const path = join(folder.path, 'notes.sqlite');
    copyFileSync(outgrown.path, path);
    execute(
      path,
      `PRAGMA foreign_keys = OFF; CREATE TABLE notes (about INTEGER REFERENCES document_exports (id) ON DELETE CASCADE);
       INSERT INTO notes SELECT id FROM document_exports; INSERT INTO notes VALUES (99999)`,
    );
    const notes = sqlite(path, 'SELECT * FROM notes');
    await upgrade(path);
    expect(sqlite(path, 'SELECT * FROM notes')).toEqual(notes);
    expect(await docmirror('verify', '--database', path)).toMatchObject({ code: 0 });
  });

  test('is no longer sound when two rows of before have exchanged the runs that wrote them', async () => {
    const path = join(folder.path, 'exchanged.sqlite');
    copyFileSync(outgrown.path, path);
    await upgrade(path);
    execute(
      path,
      `UPDATE document_exports SET _first_seen_run_id = 3 - _first_seen_run_id, _changed_run_id = 3 - _changed_run_id
       WHERE id IN (SELECT min(id) FROM document_exports WHERE _first_seen_run_id = _changed_run_id AND _changed_run_id IN (1, 2)
                    GROUP BY _changed_run_id)`,
    );
    const { code, stdout } = await docmirror('verify', '--database', path);
    expect(stdout).toContain('document-exports: which runs wrote the records');
    expect(code).toBe(4);
  });

  test('with a reference to nothing is left as it is, and no copy of it is left behind', async () => {
    const path = join(folder.path, 'reference.sqlite');
    copyFileSync(outgrown.path, path);
    execute(path, 'PRAGMA foreign_keys = OFF; DELETE FROM connections WHERE id = 3');
    const before = readFileSync(path);
    const { code, stderr } = await docmirror('sync', '--database', path);
    expect(stderr).toMatch(/can't be upgraded: .*refers to a row of connections that does not exist/);
    expect(code).toBe(1);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(folder.path).filter(name => name.startsWith('reference.sqlite.before'))).toEqual([]);
  });

  test('is sound before any sync, and found unchanged by one, if nothing has changed', async () => {
    expect(await docmirror('verify')).toMatchObject({ code: 0 });
    const { code, stdout } = await docmirror('sync', '--full', '--json', '--resource', 'document-exports');
    // A record that does not fit the new fields is rejected now, and stays as it was.
    expect([0, 3]).toContain(code);
    expect(JSON.parse(stdout).resources).toMatchObject([{ inserted: 0, updated: 0, removed: 0 }]);
    expect(await docmirror('verify')).toMatchObject({ code: 0 });
  });
});

describe('an upgrade that is killed', () => {
  /** A mirror whose upgrade takes a while. */
  function makeLarge(path: string): void {
    copyFileSync(outgrown.path, path);
    execute(
      path,
      `INSERT INTO document_exports (source_connection_id, source_document_reference, exported_at, _first_seen_run_id,
         _changed_run_id, _extra, _content)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
       SELECT 1, 'MANY-' || n, '2024-01-01T00:00:00Z', 1, 1,
         json_object('language', 'l' || n, 'pageTotal', n, 'reviewerConnection', json_object('id', 1000 + n % 50, 'name', 'R')),
         randomblob(16) FROM n`,
    );
  }

  const state = (path: string) => ({
    version: sqlite(path, 'PRAGMA user_version')[0]?.user_version,
    upgrades: sqlite(path, 'SELECT count(*) AS n FROM docmirror_upgrades')[0]?.n,
    columns: sqlite(
      path,
      "SELECT count(*) AS n FROM pragma_table_info('document_exports') WHERE name IN ('language', 'page_total', 'reviewer_connection_id')",
    )[0]?.n,
    views: sqlite(path, "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'view'")[0]?.n,
    waiting: sqlite(
      path,
      "SELECT count(*) AS n FROM document_exports WHERE _extra ->> 'language' LIKE 'l%'",
    )[0]?.n,
  });
  const notBegun = { version: 7, upgrades: 0, columns: 0, views: 6, waiting: 20_000 };
  const done = { version: 8, upgrades: 1, columns: 3, views: 6, waiting: 0 };

  test('is either done or not begun, and the next one ends it', async () => {
    const large = join(folder.path, 'large.sqlite');
    makeLarge(large);
    expect(state(large)).toEqual(notBegun);
    const path = join(folder.path, 'killed.sqlite');
    copyFileSync(large, path);
    const takesMs = await upgrade(path);
    expect(state(path)).toEqual(done);
    const seen = new Set<string>();
    for (let kill = 0; kill < 7; kill++) {
      for (const beside of ['', '-wal', '-shm']) rmSync(`${path}${beside}`, { force: true });
      copyFileSync(large, path);
      await upgrade(path, takesMs * (0.25 + 0.1 * kill + 0.07 * Math.random()));
      const after = state(path);
      expect([notBegun, done]).toContainEqual(after);
      seen.add(after.upgrades === 0 ? 'not begun' : 'done');
    }
    expect(seen).toContain('not begun');
    await upgrade(path);
    expect(state(path)).toEqual(done);
    expect(sqlite(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(sqlite(path, 'SELECT count(*) AS n FROM docmirror_upgrades')).toEqual([{ n: 1 }]);
  }, 120_000);
});
