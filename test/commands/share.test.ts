import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullMirror } from '../store/verify/full-mirror.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { setSharedScene, shareOf } from '../support/share.ts';
import { collection, connection, type SampleItem } from '../support/stand-in.ts';

function alter(path: string, sql: string): void {
  new Database(path).exec(sql).close();
}

describe('docmirror share', () => {
  test('prints what it made, as text and as JSON, and writes nothing to the mirror', async () => {
    await using scene = await setScene({}, { exports: 3 });
    await syncScene(scene);
    alter(scene.database, 'CREATE VIEW pages AS SELECT * FROM _list_states');
    const before = readFileSync(scene.database);
    const text = await scene.run('share', 'share.sqlite');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/share\.sqlite: the mirror as of run 1, [\d.]+ kB\.\n/);
    expect(text.stdout).toContain('The view pages was left out');
    const path = join(scene.folder, 'share.sqlite');
    const json = JSON.parse((await scene.run('share', path, '--json')).stdout);
    expect(json).toEqual({ path, runId: 1, bytes: statSync(path).size, leftOut: ['pages'] });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).sort()).toEqual(['mirror.sqlite', 'mirror.sqlite.lock', 'share.sqlite']);
  });

  test('--without leaves a field out, and one that no list has is refused', async () => {
    await using scene = await setSharedScene({}, { exports: 3 });
    await syncScene(scene);
    // It makes what DOCMIRROR_SHARE names, if no file is named.
    expect(await scene.run('share', '--without', 'sourceDocumentTitle')).toMatchObject({ code: 2 });
    scene.env.DOCMIRROR_SHARE_WITHOUT = 'sourceDocumentTitle';
    expect(await scene.run('share')).toMatchObject({ code: 0 });
    const count =
      'SELECT count(source_document_title) AS t, count(source_document_kind) AS k FROM document_exports';
    expect(sqlite(scene.path, count)).toEqual([{ t: 0, k: 3 }]);
    const words = expect.stringContaining('no list has a field "sourceDocumentTitel"');
    const unknown = await scene.run('share', 'x.sqlite', '--without', 'sourceDocumentTitel');
    expect(unknown).toMatchObject({ code: 2, stderr: words });
  });

  test('--without-history leaves out what has ended, and a list as of an earlier run is then refused', async () => {
    await using scene = await setSharedScene({}, { exports: 4 });
    await syncScene(scene);
    scene.service.lists['document-exports'].splice(0, 1);
    await syncScene(scene);
    scene.env.DOCMIRROR_SHARE_WITHOUT = 'history';
    expect(await scene.run('share', '--without-history')).toMatchObject({ code: 0 });
    expect(sqlite(scene.path, 'SELECT count(*) AS n FROM record_history')).toEqual([{ n: 0 }]);
    expect(sqlite(scene.path, 'SELECT DISTINCT operation FROM changes')).toEqual([{ operation: 'insert' }]);
    const out = ['--out', 'x', '--database', scene.path];
    expect(await scene.run('export', ...out, '--as-of-run', '2')).toMatchObject({ code: 0 });
    const refused = await scene.run('export', ...out, '--as-of-run', '1');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no history') });
  });

  test('--sql runs statements on the copy; if they fail, it exits with 1 and names file and fault', async () => {
    await using scene = await setSharedScene({}, { exports: 1 });
    await syncScene(scene);
    const sql = join(scene.folder, 'own.sql');
    writeFileSync(sql, 'CREATE VIEW mine AS SELECT 1 AS one');
    scene.env.DOCMIRROR_SHARE_SQL = sql;
    expect(await scene.run('share', '--sql', sql)).toMatchObject({ code: 0 });
    writeFileSync(sql, 'SELEC');
    expect(await scene.run('share', '--sql', sql)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `docmirror: ${sql} failed: near "SELEC": syntax error. The share was not made. [share_failed]\n`,
    });
    expect(sqlite(scene.path, 'SELECT one FROM mine')).toEqual([{ one: 1 }]);
  });
});

describe('a share that follows runs', () => {
  test('is made after a run that changed something, and left alone after one that did not', async () => {
    await using scene = await setSharedScene({}, { exports: 20 });
    const { path, service } = scene;
    let inode = 0;
    /** Whether the run made the share again. */
    const isMade = async (...args: string[]) => {
      const { summary, code } = await scene.sync('--give-up-after', '0', ...args);
      expect(summary.share).toEqual({ path, error: null });
      expect(code).toBe(service.options.status.webhooks === undefined ? 0 : 3);
      const before = inode;
      inode = statSync(path).ino;
      return inode !== before;
    };
    expect(await isMade()).toBe(true);
    expect(await isMade()).toBe(false);
    service.lists.collections.push(collection(50));
    expect(await isMade()).toBe(true);
    (service.lists.collections[0] as SampleItem).sourceConnection = { ...connection(2), name: 'New' };
    expect(await isMade('--full')).toBe(true);
    service.options.status = { webhooks: 500 };
    expect(await isMade()).toBe(true);
    const status = "SELECT last_run_status AS status FROM sync_status WHERE resource = 'webhooks'";
    expect(sqlite(path, status)).toEqual([{ status: 'failed' }]);
    expect(await isMade()).toBe(false);
    service.options.status = {};
    expect(await isMade()).toBe(true);
    expect(await isMade('--keep-history', '1ms')).toBe(true);
    expect(sqlite(path, 'SELECT count(*) AS n FROM record_history')).toEqual([{ n: 0 }]);
  });

  test('--share and --share-sql name it and its statements; changed statements make it again', async () => {
    await using scene = await setScene({}, { exports: 3 });
    const [path, sql] = [join(scene.folder, 'share.sqlite'), join(scene.folder, 'own.sql')];
    writeFileSync(sql, 'CREATE VIEW mine AS SELECT 1 AS one');
    utimesSync(sql, 0, 0);
    const flags = ['--share', path, '--share-sql', sql];
    expect(await scene.sync(...flags)).toMatchObject({ code: 0 });
    expect(sqlite(path, 'SELECT * FROM mine')).toEqual([{ one: 1 }]);
    const first = statSync(path).ino;
    await scene.sync(...flags);
    expect(statSync(path).ino).toBe(first);
    writeFileSync(sql, 'CREATE VIEW mine AS SELECT 2 AS two');
    await scene.sync(...flags);
    expect(sqlite(path, 'SELECT * FROM mine')).toEqual([{ two: 2 }]);
  });

  test('stays as it is if its statements fail; the run says so in summary, JSON and log, and exits with 3', async () => {
    await using scene = await setSharedScene({}, { exports: 3 });
    const { path } = scene;
    const sql = join(scene.folder, 'own.sql');
    await scene.sync();
    const before = readFileSync(path);
    writeFileSync(sql, 'CREATE VIEW mine AS SELECT 1;\nSELEC 2');
    scene.env.DOCMIRROR_SHARE_SQL = sql;
    const said = `${sql} failed: near "SELEC": syntax error.`;
    scene.service.lists.collections.push(collection(50));
    const { code, summary, stderr } = await scene.sync();
    expect({ code, status: summary.status }).toEqual({ code: 3, status: 'completed' });
    const error = { code: 'share_failed', message: expect.stringContaining(said) };
    expect(summary.share).toEqual({ path, error });
    expect(JSON.parse(stderr)).toMatchObject({ level: 'error', path, error });
    const text = await scene.run('sync');
    expect(text.code).toBe(3);
    expect(text.stdout).toContain(`The share ${path} could not be made: ${said}`);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).filter(name => name.includes('unfinished'))).toEqual([]);
  });

  test('is refused before a run, if it can never be made: exit 2, and no request', async () => {
    await using scene = await setSharedScene();
    scene.env.DOCMIRROR_SHARE_SQL = join(scene.folder, 'none.sql');
    const words = /DOCMIRROR_SHARE_SQL: .*none\.sql can't be read/;
    expect(await scene.sync()).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
    expect(scene.service.requests).toEqual([]);
  });
});

test("another mirror's share is left as it is: by hand exit 2, after a run exit 3", async () => {
  await using scene = await setSharedScene({}, { exports: 2 });
  await scene.sync();
  const before = readFileSync(scene.path);
  const args = ['--database', join(scene.folder, 'other.sqlite')];
  const { code, summary } = await scene.sync(...args);
  expect({ code, status: summary.status }).toEqual({ code: 3, status: 'completed' });
  const message = expect.stringMatching(/is of another mirror .*restore it with .*remove it/);
  expect(summary.share).toMatchObject({ error: { code: 'share_of_another_mirror', message } });
  const stderr = expect.stringContaining('[share_of_another_mirror]');
  expect(await scene.run('share', ...args)).toMatchObject({ code: 2, stderr });
  expect(readFileSync(scene.path).equals(before)).toBe(true);
  rmSync(scene.path);
  expect(await scene.sync(...args)).toMatchObject({ code: 0 });
});

describe('a share as --database', () => {
  let scene: Scene;
  let shared: string;
  beforeAll(async () => {
    scene = await fullMirror();
    shared = await shareOf(scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test.each([
    'status --database',
    'runs --json --database',
    'changes --since-run 0 --resource document-exports --format csv --database',
    'show collections 2 --json --database',
    'show document-exports DOC-3 --database',
    'audit receipts --json --database',
    'export --out FOLDER --format csv --as-of-run 1 --database',
    'report --out FOLDER.html --database',
    '--database',
  ])('answers as the mirror does: %s', async words => {
    const answerOf = async (database: string, out: string) => {
      const args = words.replace('FOLDER', join(scene.folder, out)).split(' ');
      const { code, stdout, stderr } = await scene.run(...args, database);
      const text = stdout
        .replaceAll(out, 'out')
        .replaceAll(database, 'FILE')
        .replace(/(\d+ \w+ )?[\d.]+ \w+ ago/g, 'AGO')
        .replace(/[ ─]+/g, ' ')
        .replace(/[\d.]+ (kB|bytes)/g, '');
      return { code, stderr, text: text.split('\n').filter(line => !line.includes('webhooks')) };
    };
    const answer = await answerOf(shared, 'out-1');
    expect(answer, answer.stderr).toMatchObject({ code: 0 });
    expect(answer).toEqual(await answerOf(scene.database, 'out-2'));
  });

  test.each([
    'sync',
    'sync --dry-run',
    'watch',
    'verify',
    'backup copy.sqlite',
    'backup --check share.sqlite',
    'backup --restore share.sqlite',
    'share other.sqlite',
    'audit checkpoint --unsigned',
    'publish clickhouse --url http://127.0.0.1:9 --tenant acme',
  ])('is refused by what needs the mirror itself: %s', async words => {
    const before = [readFileSync(shared), readdirSync(scene.folder)];
    const { code, stdout, stderr } = await scene.run(...words.split(' '), '--database', shared);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^docmirror: \S*share\.sqlite is a share, a copy for readers\. Name the mirror that it was made from\. \[mirror_file\]\n$/,
    );
    expect([readFileSync(shared), readdirSync(scene.folder)]).toEqual(before);
  });
});
