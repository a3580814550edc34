import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { runBound, whyNotBound } from '../support/bound-by-rights.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, connection, type SampleItem } from '../support/stand-in.ts';

/** A scene whose runs make a share. */
async function setSharedScene(...options: Parameters<typeof setScene>): Promise<Scene & { path: string }> {
  const scene = await setScene(...options);
  const path = join(scene.folder, 'share.sqlite');
  scene.env.DOCMIRROR_SHARE = path;
  return { ...scene, path };
}

describe.concurrent('docmirror share', () => {
  test('prints what it made, as text and as JSON, and writes nothing to the mirror', async () => {
    await using scene = await setScene({}, { exports: 3 });
    await syncScene(scene);
    const before = readFileSync(scene.database);
    const path = join(scene.folder, 'share.sqlite');
    const text = await scene.run('share', path);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/share\.sqlite: the mirror as of run 1, [\d.]+ kB\.\n$/);
    const json = JSON.parse((await scene.run('share', path, '--json')).stdout);
    expect(json).toEqual({ path, runId: 1, bytes: statSync(path).size, leftOut: [] });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    const names = ['mirror.sqlite', 'mirror.sqlite.lock', 'share.sqlite'];
    expect(readdirSync(scene.folder).sort()).toEqual(names);
  });

  test('makes what DOCMIRROR_SHARE names, if no file is named, and asks for one otherwise', async () => {
    await using scene = await setSharedScene({}, { exports: 1 });
    await syncScene(scene);
    expect(await scene.run('share')).toMatchObject({ code: 0 });
    expect(existsSync(scene.path)).toBe(true);
    delete scene.env.DOCMIRROR_SHARE;
    const words = expect.stringContaining('Name the file to write');
    expect(await scene.run('share')).toMatchObject({ code: 2, stderr: words });
  });

  test('--without leaves a field out, and one that no list has is refused', async () => {
    await using scene = await setSharedScene({}, { exports: 3 });
    await syncScene(scene);
    const fields = ['--without', 'sourceDocumentTitle', '--without', 'webhooks.description'];
    expect(await scene.run('share', ...fields)).toMatchObject({ code: 0 });
    const count =
      'SELECT count(source_document_title) AS t, count(source_document_kind) AS k FROM document_exports';
    expect(sqlite(scene.path, count)).toEqual([{ t: 0, k: 3 }]);
    expect(sqlite(scene.path, 'SELECT count(description) AS n FROM webhooks')).toEqual([{ n: 0 }]);
    const unknown = await scene.run('share', '--without', 'sourceDocumentTitel');
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Expected one of sourceConnection'),
    });
  });

  test('--without-history leaves out what has ended, and a list as of an earlier run is then refused', async () => {
    await using scene = await setSharedScene({}, { exports: 4 });
    await syncScene(scene);
    scene.service.lists['document-exports'].splice(0, 1);
    await syncScene(scene);
    expect(await scene.run('share', '--without-history')).toMatchObject({ code: 0 });
    expect(sqlite(scene.path, 'SELECT count(*) AS n FROM record_history')).toEqual([{ n: 0 }]);
    expect(sqlite(scene.path, 'SELECT DISTINCT operation FROM changes')).toEqual([{ operation: 'insert' }]);
    const out = ['--out', join(scene.folder, 'x'), '--database', scene.path];
    expect(await scene.run('export', ...out, '--as-of-run', '2')).toMatchObject({ code: 0 });
    const refused = await scene.run('export', ...out, '--as-of-run', '1');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no history') });
  });

  test('--sql runs statements on the copy; if they fail, it exits with 1 and names file and fault', async () => {
    await using scene = await setSharedScene({}, { exports: 1 });
    await syncScene(scene);
    const sql = join(scene.folder, 'own.sql');
    writeFileSync(sql, 'CREATE VIEW mine AS SELECT 1 AS one');
    expect(await scene.run('share', '--sql', sql)).toMatchObject({ code: 0 });
    expect(sqlite(scene.path, 'SELECT one FROM mine')).toEqual([{ one: 1 }]);
    writeFileSync(sql, 'SELEC');
    const failed = await scene.run('share', '--sql', sql);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toBe(
      `docmirror: ${sql} failed: near "SELEC": syntax error. The share was not made. [share_failed]\n`,
    );
    expect(sqlite(scene.path, 'SELECT one FROM mine')).toEqual([{ one: 1 }]);
  });

  test('says that its folder can not be written, and does not send its maker to a share', async ({
    skip,
  }) => {
    if (whyNotBound !== null) skip(whyNotBound);
    await using scene = await setScene({}, { exports: 1 });
    await syncScene(scene);
    const folder = join(scene.folder, 'closed');
    mkdirSync(folder, { mode: 0o555 });
    const path = join(folder, 'share.sqlite');
    const { status, stderr } = runBound(['share', path], scene.env);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `docmirror: ${path} can't be written: EACCES. Nothing was put in its place. [output_failed]\n`,
    });
  });

  test('names the views of others that it left out', async () => {
    await using scene = await setSharedScene({}, { exports: 1 });
    await syncScene(scene);
    const database = new Database(scene.database);
    database.exec('CREATE VIEW pages AS SELECT * FROM _pages');
    database.close();
    expect((await scene.run('share')).stdout).toContain('The view pages was left out');
    expect(JSON.parse((await scene.run('share', '--json')).stdout)).toMatchObject({ leftOut: ['pages'] });
  });
});

describe.concurrent('a share that follows runs', () => {
  test('is made after a run that changed something, and left alone after one that did not', async () => {
    await using scene = await setSharedScene({}, { exports: 20 });
    const { path, service } = scene;
    const inodes: number[] = [];
    const sync = async (...args: string[]) => {
      const synced = await scene.sync(...args);
      expect(synced.summary.share).toEqual({ path, error: null });
      inodes.push(statSync(path).ino);
      return synced;
    };
    const isKept = () => inodes.at(-1) === inodes.at(-2);
    expect(await sync()).toMatchObject({ code: 0 });
    await sync();
    expect(isKept()).toBe(true);
    service.lists.collections.push(collection(50));
    await sync();
    expect(isKept()).toBe(false);
    (service.lists.collections[0] as SampleItem).sourceConnection = { ...connection(2), name: 'New' };
    await sync('--full');
    expect(isKept()).toBe(false);
    service.options.status = { webhooks: 500 };
    expect(await sync('--give-up-after', '0')).toMatchObject({ code: 3 });
    expect(isKept()).toBe(false);
    const status = "SELECT last_run_status AS status FROM sync_status WHERE resource = 'webhooks'";
    expect(sqlite(path, status)).toEqual([{ status: 'failed' }]);
    await sync('--give-up-after', '0');
    expect(isKept()).toBe(true);
    service.options.status = {};
    await sync();
    expect(isKept()).toBe(false);
    await sync('--keep-history', '1ms');
    expect(isKept()).toBe(false);
    expect(sqlite(path, 'SELECT count(*) AS n FROM record_history')).toEqual([{ n: 0 }]);
  });

  test('is made after a run that changed something and then took longer than its deadline', async () => {
    await using scene = await setSharedScene({}, { exports: 130, collections: 1, webhooks: 1 });
    expect(await scene.sync()).toMatchObject({ code: 0 });
    Object.assign(scene.service.lists.webhooks[0] as object, { description: 'after' });
    scene.service.options.faults = ({ resource }) =>
      resource === 'document-exports' ? { kind: 'stall', ms: 60_000 } : undefined;
    expect(await scene.sync('--deadline', '2s', '--full')).toMatchObject({ code: 1 });
    expect(sqlite(scene.path, 'SELECT description FROM webhooks')).toEqual([{ description: 'after' }]);
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

  test('is not mentioned if none is set or the run is dry', async () => {
    await using scene = await setScene({}, { exports: 1 });
    expect((await scene.sync()).summary.share).toBeNull();
    const path = join(scene.folder, 'share.sqlite');
    expect((await scene.sync('--dry-run', '--share', path)).summary.share).toBeNull();
    expect(existsSync(path)).toBe(false);
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

  test('is not asked for before a run, if it can never be made: exit 2, and no request', async () => {
    await using scene = await setSharedScene();
    scene.env.DOCMIRROR_SHARE_SQL = join(scene.folder, 'none.sql');
    const words = /DOCMIRROR_SHARE_SQL: .*none\.sql can't be read/;
    expect(await scene.sync()).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
    delete scene.env.DOCMIRROR_SHARE_SQL;
    scene.env.DOCMIRROR_SHARE = scene.folder;
    expect(await scene.sync()).toMatchObject({ code: 2, stderr: expect.stringContaining('is a folder') });
    expect(scene.service.requests).toEqual([]);
  });
});

describe.concurrent('doctor', () => {
  test('looks whether the share could be made', async () => {
    await using scene = await setSharedScene({}, { exports: 1 });
    chmodSync(scene.folder, 0o755);
    const checked = async () => {
      const { code, stdout } = await scene.run('doctor', '--json');
      const checks: { check: string; status: string; found: string }[] = JSON.parse(stdout).checks;
      return { ...checks.find(({ check }) => check === 'share'), code };
    };
    expect(await checked()).toMatchObject({ code: 0, status: 'ok' });
    scene.env.DOCMIRROR_SHARE = join(scene.folder, 'nowhere', 'share.sqlite');
    expect(await checked()).toMatchObject({ code: 2, found: expect.stringContaining('does not exist') });
    scene.env.DOCMIRROR_SHARE = scene.path;
    scene.env.DOCMIRROR_SHARE_SQL = join(scene.folder, 'none.sql');
    expect(await checked()).toMatchObject({ code: 2, status: 'failed' });
    delete scene.env.DOCMIRROR_SHARE;
    expect(await checked()).toMatchObject({ code: 0, status: 'skipped' });
    rmSync(scene.path, { force: true });
  });
});
