import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';

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
