import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { listed, mirrored } from '../../support/oracle.ts';
import { sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';
import { collection } from '../../support/stand-in.ts';

test('tables, views and indexes of your own survive runs, are backed up, and are listed by verify', async () => {
  await using scene = await setScene();
  await scene.sync();
  const own = new Database(scene.database);
  own.exec(`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes (text) VALUES ('mine');
    CREATE VIEW titles AS SELECT source_document_title FROM document_exports;
    CREATE INDEX exports_by_title ON document_exports (source_document_title)`);
  own.close();
  scene.service.lists.collections.push({ ...Object(scene.service.lists.collections[0]), id: 900 });
  expect(await scene.sync('--full')).toMatchObject({ code: 0, status: 'completed' });
  const copy = join(scene.folder, 'copy.sqlite');
  expect(await scene.run('backup', copy)).toMatchObject({ code: 0 });
  for (const path of [scene.database, copy]) {
    expect(sqlite(path, 'SELECT text, (SELECT count(*) FROM titles) AS titles FROM notes')).toEqual([
      { text: 'mine', titles: 130 },
    ]);
    const { code, stdout } = await scene.run('verify', '--database', path);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('index exports_by_title'),
    });
  }
});

/** The clauses of a table of your own for the removal of rows that it refers to. */
const actions = [
  '',
  'ON DELETE RESTRICT',
  'ON DELETE CASCADE',
  'ON DELETE SET NULL',
  'ON DELETE SET DEFAULT',
];

test('a table of your own that refers to records keeps its rows when the records go', async () => {
  await using scene = await setScene({}, { exports: 200, collections: 9, webhooks: 6 });
  const { lists } = scene.service;
  // A connection that goes with its collection.
  lists.collections[1] = collection(2, { sourceConnection: { id: 999, name: 'Only here' } });
  await scene.sync();
  lists.collections.splice(0, 1);
  await scene.sync('--full');
  const own = new Database(scene.database);
  // As the sqlite3 shell has it, which therefore takes any reference.
  own.pragma('foreign_keys = OFF');
  const parents = ['document_exports', 'collections', 'webhooks', 'connections', 'record_history'];
  for (const [at, action] of actions.entries())
    for (const parent of parents)
      own.exec(`CREATE TABLE notes_${parent}_${at} (about INTEGER DEFAULT 1 REFERENCES ${parent} (id) ${action}, text TEXT);
        INSERT INTO notes_${parent}_${at} SELECT id, 'mine' FROM ${parent}`);
  // No unique index leads to what this one refers to, which SQLite would refuse at each removal.
  own.exec(`CREATE TABLE by_reference (about TEXT REFERENCES document_exports (source_document_reference));
    INSERT INTO by_reference SELECT source_document_reference FROM document_exports`);
  own.close();
  const notes = (path: string) =>
    sqlite(path, "SELECT name FROM sqlite_schema WHERE name LIKE 'notes%' OR name = 'by_reference'").map(
      ({ name }) => [name, sqlite(path, `SELECT * FROM "${name}"`)],
    );
  const before = notes(scene.database);
  expect(before).toHaveLength(actions.length * parents.length + 1);
  for (const [, rows] of before) expect(rows).not.toEqual([]);

  for (const removed of [1, 2]) {
    lists['document-exports'].splice(0, 100 / removed);
    lists.collections.splice(0, 3);
    lists.webhooks.splice(0, 2);
    const synced = await scene.sync('--full', '--allow-mass-removal', '--keep-history', '1ms');
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    for (const [resource, items] of Object.entries(lists))
      expect(mirrored(scene.database, resource)).toEqual(listed(items, resource));
    expect(notes(scene.database)).toEqual(before);
  }
  for (const parent of parents)
    expect(sqlite(scene.database, `PRAGMA foreign_key_check(notes_${parent}_0)`), parent).not.toEqual([]);
  expect(await scene.run('verify')).toMatchObject({
    stderr: '',
    stdout: expect.not.stringContaining('differ'),
    code: 0,
  });

  const copy = join(scene.folder, 'copy.sqlite');
  expect(await scene.run('backup', copy)).toMatchObject({ code: 0 });
  expect(await scene.run('backup', '--restore', copy)).toMatchObject({ code: 0 });
  expect(notes(scene.database)).toEqual(before);
  expect(await scene.sync('--full')).toMatchObject({ code: 0 });
});
