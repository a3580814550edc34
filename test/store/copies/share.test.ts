import {
  chmodSync,
  chownSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { erase } from '../../../src/store/write/erase.ts';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene, startingFrom } from '../../support/scene.ts';
import { namesOf, readable, shareOf, textsIn } from '../../support/share.ts';
import { documentExport, type SampleItem, webhook } from '../../support/stand-in.ts';
import { fullMirror } from '../verify/full-mirror.ts';

describe('a share of a mirror in which there is everything', () => {
  let scene: Scene;
  let shared: string;
  beforeAll(async () => {
    scene = await fullMirror();
    shared = await shareOf(scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test("is one file in rollback journal mode, of the mirror's shape, that everybody can read", () => {
    const [header, ofMirror] = [shared, scene.database].map(path => readFileSync(path).subarray(0, 100));
    expect(header?.subarray(18, 20)).toEqual(Buffer.from([1, 1]));
    expect(header?.toString('latin1', 68, 72)).toBe('doch');
    expect(header?.readUInt32BE(60)).toBe(ofMirror?.readUInt32BE(60));
    expect(statSync(shared).mode & 0o777).toBe(0o644);
    expect(readdirSync(scene.folder).filter(name => name.includes('share'))).toEqual(['share.sqlite']);
    expect(sqlite(shared, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(sqlite(shared, 'PRAGMA foreign_key_check')).toEqual([]);
  });

  test('has all tables of the mirror except the internal ones, its views and its indexes', () => {
    const tables = namesOf(scene.database, 'table').filter(name => !name.startsWith('_'));
    expect(tables).toContain('sync_receipts');
    // One table more says how the share was made.
    expect(namesOf(shared, 'table')).toEqual(['_share', ...tables]);
    expect(namesOf(shared, 'view')).toEqual(namesOf(scene.database, 'view'));
    expect(namesOf(shared, 'index')).toEqual(namesOf(scene.database, 'index'));
  });

  test('has their rows, except endpoints and the text of rejected records', () => {
    const [mirror, copy] = [readable(scene.database), readable(shared)];
    const withoutHashes = (row: string) => row.replace(/\["leaf_hash".*|\\"[0-9a-f]{32,}\\"/g, '\\"\\"');
    /** Endpoints cut by a rule of this test, and no contents if there is one. */
    const cut = (rows: readonly string[]) =>
      rows
        // How long an endpoint is would say something of it.
        .filter(row => !row.includes('"field.endpoint"'))
        .map(row => row.replace(/https:\/\/hooks\.example\.com[^"\\]*/g, 'https://hooks.example.com'))
        .map(row => (row.includes('https') ? row.replace(/(\["_?content",)"\w+"/, '$1null') : row))
        .map(row => (row.includes('"webhooks"') ? row.replace(/(\["checksum",)"\w+"/, '$1null') : row))
        .sort();
    const { rejected_records: rejected, sync_receipts: receipts = [], _share, ...others } = copy;
    for (const [table, rows] of Object.entries(others))
      expect(rows, table).toEqual(cut(mirror[table] as string[]));
    expect(rejected).toHaveLength(mirror.rejected_records?.length ?? 0);
    // With a content, a guess of the text could be checked.
    expect(sqlite(shared, 'SELECT DISTINCT record, content, identity FROM rejected_records')).toEqual([
      { record: null, content: null, identity: null },
    ]);
    expect(receipts).toHaveLength(mirror.sync_receipts?.length ?? 0);
    const ofMirror = mirror.sync_receipts?.map(withoutHashes).sort();
    expect(receipts.map(row => withoutHashes(row.replaceAll('null', '\\"\\"'))).sort()).toEqual(
      ofMirror?.map(row => row.replaceAll('null', '\\"\\"')),
    );
    expect(copy.changes?.length).toBeGreaterThan(50);
  });
});

/** Secrets at every place of an address, and where no address is. */
const secrets = {
  path: 's3cretpath',
  query: 's3cretquery',
  fragment: 's3cretfragment',
  user: 's3cretuser',
  password: 's3cretpassword',
  text: 's3crettext',
  surrogate: 's3cretsurrogate',
  old: 's3cretold',
  gone: 's3cretgone',
  rejected: 's3cretrejected',
  renewed: 's3cretrenewed',
  further: 's3cretfurther',
  old_further: 's3cretearlier',
};

describe('of a webhook no further field, and of its endpoint no byte but scheme and host', () => {
  let base: Scene;
  let secretScene: () => Scene;
  beforeAll(async () => {
    base = await setSecretScene();
    secretScene = startingFrom(base);
  });
  afterAll(() => base[Symbol.asyncDispose]());

  /** Three runs, in which endpoints came, changed and went. */
  async function setSecretScene(): Promise<Scene> {
    const scene = await setScene({}, { exports: 5, webhooks: 0 });
    const sync = () => syncScene(scene, { allowMassRemoval: true });
    const { path, query, fragment, user, password, text, surrogate, old, gone, rejected } = secrets;
    scene.service.lists.webhooks = [
      webhook(1, {
        endpoint: `https://${user}:${password}@hooks.example.com:8443/${path}?k=${query}#${fragment}`,
        signing: { key: secrets.further },
      }),
      webhook(2, { endpoint: text }),
      `{"id":3,"endpoint":"https://hooks.example.com/${surrogate}\\ud800","events":null,"connections":[]}`,
      webhook(4, { endpoint: `https://hooks.example.com/${old}`, secret: secrets.old_further }),
      webhook(5, { endpoint: `https://hooks.example.com/${gone}` }),
      webhook(6, { endpoint: null, description: null }),
      `{"endpoint":"https://hooks.example.com/${rejected}"}`,
    ];
    await sync();
    const { webhooks } = scene.service.lists;
    (webhooks[3] as SampleItem).endpoint = `https://hooks.example.com/${secrets.renewed}`;
    webhooks[2] = webhook(3, { endpoint: 'https://other.example' });
    webhooks.splice(4, 1);
    await sync();
    webhooks.pop();
    await sync();
    expect(textsIn(scene.database, Object.values(secrets))).toEqual(Object.values(secrets));
    return scene;
  }

  test('is in a share: in rows, in history, or in free pages', async () => {
    await using scene = secretScene();
    const shared = await shareOf(scene);
    expect(textsIn(shared, Object.values(secrets))).toEqual([]);
    expect(sqlite(shared, 'SELECT id, endpoint, _extra FROM webhooks ORDER BY id')).toEqual([
      { id: 1, endpoint: 'https://hooks.example.com:8443', _extra: null },
      { id: 2, endpoint: null, _extra: null },
      { id: 3, endpoint: 'https://other.example', _extra: null },
      { id: 4, endpoint: 'https://hooks.example.com', _extra: null },
      { id: 6, endpoint: null, _extra: null },
    ]);
    const versions = "SELECT record FROM record_history WHERE resource = 'webhooks' ORDER BY record_id";
    const common = `"description":"Webhook 4","events":["document.exported"],"connections":`;
    const records = sqlite(shared, versions).map(({ record }) => String(record));
    expect(records[0]).toBe('{"id":3,"endpoint":null,"description":null,"events":[],"connections":[]}');
    expect(records[1]).toContain(`{"id":4,"endpoint":"https://hooks.example.com",${common}[{"id":5,"name":`);
    expect(records).toHaveLength(3);
  });

  test('is in one on which statements ran, or of a mirror that another program has altered', async () => {
    await using scene = secretScene();
    const sql = "DELETE FROM webhooks WHERE id < 3; UPDATE webhooks SET description = 'x'";
    expect(textsIn(await shareOf(scene, { sql }), Object.values(secrets))).toEqual([]);
    const altered = `UPDATE webhooks SET _extra = 'https://x.example/${secrets.text}'`;
    new Database(scene.database).exec(altered).close();
    expect(textsIn(await shareOf(scene), Object.values(secrets))).toEqual([]);
    const before = readFileSync(join(scene.folder, 'share.sqlite'));
    new Database(scene.database).exec("UPDATE record_history SET record = '[1]' WHERE record_id = 4").close();
    await expect(shareOf(scene)).rejects.toThrow('a record of webhooks that docmirror did not write');
    expect(readFileSync(join(scene.folder, 'share.sqlite')).equals(before)).toBe(true);
  });
});

describe('a share', () => {
  test('leaves named fields out of rows and of history, and its views go on working', async () => {
    await using scene = await setScene({}, { exports: 4, collections: 2, webhooks: 2 });
    const { lists } = scene.service;
    (lists.webhooks[0] as SampleItem).description = 'private words';
    lists.webhooks.push(webhook(3, { events: null }));
    await syncScene(scene);
    (lists.webhooks[0] as SampleItem).description = 'other words';
    lists['document-exports'].splice(0, 1);
    await syncScene(scene);
    const without = [
      'sourceDocumentTitle',
      'webhooks.description',
      'events',
      'collections.sourceConnection',
      'exportedAt',
    ];
    const shared = await shareOf(scene, { without });
    expect(textsIn(shared, ['private words', 'other words', 'Document 1', 'document.exported'])).toEqual([]);
    const views = readable(shared);
    expect(views.document_exports_named?.[0]).toContain('["source_document_title",null]');
    expect(views.webhooks_named?.join()).toContain('["events","[]"],');
    const records = sqlite(shared, "SELECT record FROM changes WHERE resource = 'webhooks'");
    expect(records).toHaveLength(4);
    for (const { record } of records)
      expect(JSON.parse(String(record))).toMatchObject({ description: null, events: [] });
    const count = (table: string) =>
      sqlite(shared, `SELECT count(source_connection_id) AS n FROM ${table}`)[0]?.n;
    const times = 'SELECT count(exported_at) + count(exported_at_ms) AS n FROM document_exports';
    expect(sqlite(shared, times)).toEqual([{ n: 0 }]);
    // The field of that name in another list stays.
    expect([count('document_exports'), count('collections')]).toEqual([3, 0]);
    // With a content, a guess of the missing text could be checked.
    const contents = sqlite(shared, 'SELECT DISTINCT _content AS hash FROM document_exports');
    expect(contents).toEqual([{ hash: null }]);
    const ended = 'SELECT DISTINCT resource, content AS hash FROM record_history ORDER BY 1';
    expect(sqlite(shared, ended)).toEqual([
      { resource: 'document-exports', hash: null },
      { resource: 'webhooks', hash: null },
    ]);
  });

  test('has no content of a version whose text was erased', async () => {
    await using scene = await setScene({}, { exports: 4, collections: 2 });
    const { lists } = scene.service;
    await syncScene(scene);
    (lists.collections[0] as SampleItem).name = 'other';
    lists.collections.splice(1, 1);
    await syncScene(scene);
    const at = new Date().toISOString();
    erase(scene.database, { resource: 'collections', recordId: 2, actor: '', at });
    const query =
      'SELECT record_id AS id, record IS NULL AS gone, content IS NULL AS isNone FROM record_history ORDER BY 1';
    expect(sqlite(await shareOf(scene), query)).toEqual([
      { id: 1, gone: 0, isNone: 0 },
      { id: 2, gone: 1, isNone: 1 },
    ]);
  });

  test('leaves out further fields, too, and keeps the digits of the others', async () => {
    await using scene = await setScene({}, { exports: 1 });
    const { lists } = scene.service;
    const item = (name: string) =>
      `{"id":70,"name":"${name}","size":1.50000000000000000001,"cost centre":"${name}5"}`;
    lists.collections.push(item('first'));
    lists['document-exports'].push(documentExport(90, { 'cost centre': 'third5' }));
    await syncScene(scene);
    lists.collections[lists.collections.length - 1] = item('second');
    await syncScene(scene);
    const of = async (...without: string[]) => {
      const shared = await shareOf(scene, { without });
      const extra = sqlite(shared, 'SELECT _extra FROM collections WHERE id = 70')[0]?._extra;
      const record = sqlite(shared, 'SELECT record FROM record_history WHERE record_id = 70')[0]?.record;
      return { extra, record, found: textsIn(shared, ['first5', 'second5', 'third5']) };
    };
    expect(await of('cost centre')).toEqual({
      extra: '{"size":1.50000000000000000001}',
      record: expect.stringMatching(/"first".*"size":1\.50000000000000000001\}$/),
      found: [],
    });
    expect((await of('collections.cost centre')).found).toEqual(['third5']);
    const words = '--without: no list has a field "webhooks.cost centre" that can be left out.';
    await expect(of('webhooks.cost centre')).rejects.toThrow(words);
  });

  test('copies tables, views and indexes of others, and leaves out views of tables that no share has', async () => {
    await using scene = await setScene({}, { exports: 4 });
    await syncScene(scene);
    const database = new Database(scene.database);
    database.exec(`
      CREATE TABLE "my ""notes""" (id INTEGER PRIMARY KEY, text TEXT, upper TEXT AS (upper(text)) STORED);
      INSERT INTO "my ""notes""" (text) VALUES ('one'), ('two');
      CREATE UNIQUE INDEX my_index ON "my ""notes""" (text);
      CREATE INDEX my_titles ON document_exports (source_document_title);
      CREATE INDEX my_endpoints ON webhooks (endpoint);
      CREATE TABLE plain (a, b, PRIMARY KEY (a)) WITHOUT ROWID;
      INSERT INTO plain VALUES (1, x'00ff');
      CREATE TRIGGER copying AFTER UPDATE ON webhooks BEGIN INSERT INTO plain VALUES (old.id + 1, old.endpoint); END;
      CREATE TABLE _hidden (a);
      CREATE VIRTUAL TABLE words USING fts5 (text);
      CREATE VIEW mine AS SELECT count(*) AS n FROM document_exports_named;
      CREATE VIEW inner_pages AS SELECT * FROM _list_states;
      CREATE VIEW outer_pages AS SELECT * FROM inner_pages`);
    database.close();
    const shared = await shareOf(scene);
    expect(sqlite(shared, 'SELECT * FROM "my ""notes"""')).toEqual([
      { id: 1, text: 'one', upper: 'ONE' },
      { id: 2, text: 'two', upper: 'TWO' },
    ]);
    expect(sqlite(shared, 'SELECT hex(b) AS b FROM plain')).toEqual([{ b: '00FF' }]);
    expect(sqlite(shared, 'SELECT n FROM mine')).toEqual([{ n: 4 }]);
    expect(namesOf(shared, 'index')).toEqual(
      expect.arrayContaining(['my_index', 'my_titles', 'my_endpoints']),
    );
    expect(namesOf(shared, 'trigger')).toEqual([]);
    expect(namesOf(shared, 'table').filter(name => /^(_|words)/.test(name))).toEqual(['_share']);
    expect(namesOf(shared, 'view').filter(name => name.endsWith('_pages'))).toEqual([]);
  });

  test('takes the place of an empty file, whose mode and owner stay, and of no file that is not a share', async () => {
    await using scene = await setScene({}, { exports: 1 });
    await syncScene(scene);
    const path = join(scene.folder, 'share.sqlite');
    writeFileSync(path, '');
    chmodSync(path, 0o640);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(path, 4_242, 4_343);
    for (const _ of [1, 2]) {
      await shareOf(scene);
      expect(statSync(path).mode & 0o777).toBe(0o640);
      if (isRoot) expect(statSync(path)).toMatchObject({ uid: 4_242, gid: 4_343 });
    }
    expect(sqlite(path, 'SELECT count(*) AS n FROM sync_runs')).toEqual([{ n: 1 }]);
    const other = join(scene.folder, 'other.sqlite');
    new Database(other).exec('CREATE TABLE customers (id)').close();
    writeFileSync(path, 'a note');
    for (const file of [path, other]) {
      const before = readFileSync(file);
      const error = {
        code: 'output_failed',
        exitCode: 2,
        message: expect.stringContaining(`${file} is not a share`),
      };
      await expect(shareOf(scene, { path: file })).rejects.toMatchObject(error);
      expect(readFileSync(file).equals(before)).toBe(true);
    }
  });
});

describe("statements of one's own", () => {
  let base: Scene;
  let syncedScene: () => Scene;
  beforeAll(async () => {
    base = await setScene({}, { exports: 30 });
    await syncScene(base);
    syncedScene = startingFrom(base);
  });
  afterAll(() => base[Symbol.asyncDispose]());

  test('drop a column, and no free page has its values; the header stays that of a share; unreadable views go', async () => {
    await using scene = syncedScene();
    const sql = `
      ALTER TABLE document_exports DROP COLUMN source_document_reference;
      CREATE TABLE totals AS SELECT count(*) AS n FROM document_exports;
      CREATE INDEX kinds ON document_exports (source_document_kind);
      CREATE VIEW mine AS SELECT x FROM y;
      PRAGMA application_id = 0;
      PRAGMA user_version = 99`;
    const plain = readFileSync(await shareOf(scene));
    // The number of free pages, in the header of the file.
    expect(plain.readUInt32BE(36)).toBe(0);
    const shared = await shareOf(scene, { sql });
    expect(textsIn(shared, ['DOC-1', 'DOC-17', 'DOC-30'])).toEqual([]);
    expect(textsIn(shared, ['Document 1'])).toEqual(['Document 1']);
    expect(sqlite(shared, 'SELECT n FROM totals')).toEqual([{ n: 30 }]);
    expect(namesOf(shared, 'view')).not.toContain('mine');
    expect(sqlite(shared, 'PRAGMA freelist_count')).toEqual([{ freelist_count: 0 }]);
    expect(readFileSync(shared).subarray(60, 72)).toEqual(plain.subarray(60, 72));
  });

  test.each([
    ['a mistake', 'SELECT 1; SELEC 1', 'near "SELEC": syntax error'],
    ['a transaction that is left open', 'BEGIN; DELETE FROM webhooks', 'a transaction is left open'],
  ])('with %s leave the old share byte for byte as it was', async (_, sql, words) => {
    await using scene = syncedScene();
    const shared = await shareOf(scene);
    const before = readFileSync(shared);
    await expect(shareOf(scene, { sql })).rejects.toThrow(/^own\.sql failed: /);
    await expect(shareOf(scene, { sql })).rejects.toMatchObject({
      code: 'share_failed',
      message: expect.stringContaining(words),
    });
    expect(readFileSync(shared).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).filter(name => name.includes('unfinished'))).toEqual([]);
  });
});

test('a share can be read by SQLite 3.31: no table is STRICT, and no view has a newer function', async () => {
  await using scene = await setScene();
  await scene.sync();
  new Database(scene.database)
    .exec(
      'CREATE TABLE mine (a INTEGER PRIMARY KEY, b TEXT) STRICT, WITHOUT ROWID; CREATE TABLE own (a TEXT) STRICT',
    )
    .close();
  const statements = join(scene.folder, 'more.sql');
  writeFileSync(
    statements,
    "CREATE TABLE notes (text TEXT DEFAULT ')') STRICT; INSERT INTO notes VALUES ('x')",
  );
  for (const words of [[], ['--sql', statements]]) {
    const path = join(scene.folder, 'share.sqlite');
    expect(await scene.run('share', path, ...words)).toMatchObject({ code: 0 });
    expect(sqlite(path, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict")).toEqual([]);
    const schema = sqlite(path, 'SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL');
    // Functions, operators and clauses that came after 3.31.
    const newer =
      /STRICT|->|\b(iif|concat|concat_ws|octet_length|unixepoch|unhex|string_agg|json_error_position|timediff|if|format|sign|ln|jsonb\w*)\s*\(|\bIS (NOT )?DISTINCT\b|MATERIALIZED|RETURNING/i;
    for (const { name, sql } of schema)
      expect([name, newer.exec(String(sql))?.[0]]).toEqual([name, undefined]);
    expect(sqlite(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(sqlite(path, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 130 }]);
    expect(sqlite(path, "SELECT wr FROM pragma_table_list WHERE name = 'mine'")).toEqual([{ wr: 1 }]);
    // A reader can choose either mode for its copy.
    for (const mode of ['wal', 'delete']) {
      const copy = join(scene.folder, `${mode}.sqlite`);
      copyFileSync(path, copy);
      const reader = new Database(copy);
      expect(reader.pragma(`journal_mode = ${mode}`, { simple: true })).toBe(mode);
      reader.close();
      const count = 'SELECT count(*) AS n FROM changes WHERE record IS NOT NULL';
      expect(sqlite(copy, count)).toEqual(sqlite(scene.database, count));
    }
  }
});
