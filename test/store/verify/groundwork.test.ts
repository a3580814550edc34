import { copyFileSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FilePlace } from '../../../src/store/file/file-identity.ts';
import { GroundworkThread } from '../../../src/store/verify/groundwork-thread.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { temporaryFolder } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import type { SampleItem } from '../../support/stand-in.ts';

const signal = new AbortController().signal;

/** A mirror of over 16 MiB, by a few records that are large: an audit lays its groundwork in a thread of its own. */
let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 30, collections: 6, webhooks: 4 });
  const exports = scene.service.lists['document-exports'];
  for (const item of exports) (item as SampleItem).sourceDocumentKind = 'x'.repeat(1_000_000);
  await scene.sync();
  (exports[3] as SampleItem).sourceDocumentTitle = 'Second';
  (scene.service.lists.collections[1] as SampleItem).name = 'Second';
  scene.service.lists.collections.splice(0, 1);
  await scene.sync('--full');
});
afterAll(() => scene[Symbol.asyncDispose]());

/** The differences in a copy of the mirror that others changed, a line a difference, in the order in which they are told. */
async function differencesAfter(sql: string, limit = 100): Promise<string[]> {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'copy.sqlite');
  copyFileSync(scene.database, path);
  const database = new Database(path).unsafeMode();
  database.pragma('foreign_keys = OFF');
  database.exec(sql);
  database.close();
  const { differences } = await verifyMirror(path, { limit, signal });
  expect(readdirSync(folder.path)).toEqual(['copy.sqlite']);
  return differences.map(({ table, id, what }) => `${table} ${id}: ${what}`);
}

/** Leaves an index as it was before a row was changed. */
const damageOfIndex = `
  PRAGMA writable_schema = ON;
  CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'collections_changed_run_id';
  DELETE FROM sqlite_schema WHERE name = 'collections_changed_run_id';
  PRAGMA writable_schema = RESET;
  UPDATE collections SET _changed_run_id = 7 WHERE id = 3;
  PRAGMA writable_schema = ON;
  INSERT INTO sqlite_schema SELECT * FROM kept;
  PRAGMA writable_schema = RESET;
  DROP TABLE kept;`;

test('a large mirror that nobody changed is sound', async () => {
  expect(await scene.run('verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is sound: 8 connections, 3 versions in the history, 2 runs.'),
  });
  expect(await differencesAfter('')).toEqual([]);
});

test('what others changed in a large mirror is found', async () => {
  const found = await differencesAfter(`
    UPDATE collections SET name = 'x' WHERE id = 3;
    UPDATE document_exports SET _changed_run_id = 2 WHERE id = 9;
    DELETE FROM record_history WHERE ended_by = 'removal'`);
  expect(found).toContainEqual(expect.stringMatching(/^collections 3: a value was changed/));
  expect(found).toContainEqual(
    expect.stringMatching(/^sync_receipts null: run 2: document-exports: changes is/),
  );
  expect(found).toContainEqual(expect.stringMatching(/^sync_receipts null: run 2: collections: changes is/));
  expect(found).toContainEqual(
    expect.stringMatching(/^sync_receipts null: collections: the receipt of run 1 says 6/),
  );
});

test('what cannot be read of a large mirror is named once', async () => {
  const found = await differencesAfter(
    "UPDATE record_history SET record = '{' WHERE resource = 'document-exports'",
  );
  const named = found.filter(line => line.startsWith('record_history null: document-exports, run '));
  expect(named).toHaveLength(2);
});

test("SQLite's own findings on a large mirror come first", async () => {
  const found = await differencesAfter(damageOfIndex);
  expect(found[0]).toMatch(/^null null: SQLite's integrity check: .*collections_changed_run_id/);
  expect(found).toContainEqual(expect.stringMatching(/^collections 3: run 7 is not recorded/));
  expect(await differencesAfter(damageOfIndex, 1)).toEqual([found[0]]);
});

test('what the thread found counts where nothing was written since the audit began, and only there', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'copy.sqlite');
  copyFileSync(scene.database, path);
  const database = new Database(path);
  const still = new GroundworkThread(path, new FilePlace(path));
  const groundwork = await still.found();
  await still.end();
  expect(groundwork?.faults).toEqual([]);
  expect(groundwork?.work.of(1, 'collections')).toMatchObject({ value: { count: 6 } });
  expect(groundwork?.work.of(2, 'collections')).toMatchObject({
    value: { count: 2, began: { count: 1 }, gone: { count: 1 }, updatedAway: { count: 1 } },
  });
  expect(groundwork?.work.of(2, 'webhooks')).toMatchObject({ value: { count: 0 } });

  const disturbed = new GroundworkThread(path, new FilePlace(path));
  // The thread begins after this.
  database.exec("UPDATE collections SET name = 'x' WHERE id = 3");
  expect(await disturbed.found()).toBeNull();
  await disturbed.end();
  database.close();
});

test('what the thread found in a file that took the place of the one that is audited does not count', async () => {
  await using folder = temporaryFolder();
  const [path, other] = ['copy.sqlite', 'other.sqlite'].map(name => join(folder.path, name)) as [
    string,
    string,
  ];
  for (const copy of [path, other]) copyFileSync(scene.database, copy);
  const place = new FilePlace(path);
  const audited = new Database(path, { readonly: true });
  renameSync(other, path);
  const thread = new GroundworkThread(path, place);
  expect(await thread.found()).toBeNull();
  await thread.end();
  audited.close();
});

test('an audit of a large mirror can be given up', async () => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 5);
  await expect(verifyMirror(scene.database, { limit: 1, signal: abort.signal })).rejects.toThrow(/abort/);
});
