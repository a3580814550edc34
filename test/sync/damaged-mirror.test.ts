import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Random } from '../../examples/sample-service/random.ts';
import { DocmirrorError } from '../../src/errors.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const flips = 20;
const flippedBytes = 16;

/** The titles in the lists, read row by row without an index. */
function titles(path: string): unknown {
  return sqlite(
    path,
    'SELECT source_document_reference AS r, source_document_title AS t, exported_at AS e FROM document_exports NOT INDEXED',
  );
}

/** Overwrites some bytes anywhere behind the file's header, as a bad disk would. */
function damage(path: string, chance: Random): void {
  const bytes = readFileSync(path);
  const at = 100 + Math.floor(chance.fraction() * (bytes.length - 100 - flippedBytes));
  for (let byte = 0; byte < flippedBytes; byte++) bytes[at + byte] = Math.floor(chance.fraction() * 256);
  writeFileSync(path, bytes);
}

test('a run over a damaged mirror says so in words, or leaves a file that is whole', async () => {
  await using scene = await setScene({ maxPageSize: 50 }, { exports: 400 });
  await syncScene(scene);
  scene.service.lists['document-exports']?.splice(3, 5);
  await syncScene(scene);
  const before = titles(scene.database);
  const chance = new Random(5);
  const ended = new Map<string, number>();
  const note = (how: string) => ended.set(how, (ended.get(how) ?? 0) + 1);
  for (let flip = 0; flip < flips; flip++) {
    const database = join(scene.folder, `${flip}.sqlite`);
    copyFileSync(scene.database, database);
    damage(database, chance);
    try {
      const { code, summary } = await syncScene({ service: scene.service, database });
      const errors = [summary.error, ...summary.resources.map(({ error }) => error)];
      expect(errors.flatMap(error => (error === null ? [] : [error.code]))).not.toContain('internal');
      note(`exit ${code}`);
      if (code !== 0) continue;
      expect(sqlite(database, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(titles(database)).toEqual(before);
    } catch (error) {
      if (!(error instanceof DocmirrorError)) throw error;
      note('refused');
    }
  }
  // Free room and history are no part of what a run looks at; all else is.
  expect(ended.get('refused')).toBeGreaterThan(flips / 10);
});

test('a table that is not as docmirror made it gives a clear message', async () => {
  await using scene = await setScene();
  await scene.sync();
  const database = new Database(scene.database);
  database.exec('ALTER TABLE sync_run_resources RENAME COLUMN completed_at TO completed_as');
  database.close();
  const { code, stderr } = await scene.sync();
  expect(code).not.toBe(0);
  expect(stderr).toContain('does not have the tables that docmirror made');
  expect(stderr).not.toContain('    at ');
});
