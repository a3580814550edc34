import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { memoryFolder } from '../../support/in-process.ts';
import type { TemporaryFolder } from '../../support/run-cli.ts';
import type { Scene } from '../../support/scene.ts';
import { fullMirror } from './full-mirror.ts';
import { type Definitions, definitionsOf, redefine, withoutTypes } from './schema-editing.ts';

let scene: Scene;
let folder: TemporaryFolder;
let path: string;
/** A copy whose tables take anything. */
let lax: string;
let definitions: Definitions;
beforeAll(async () => {
  scene = await fullMirror();
  folder = memoryFolder();
  path = join(folder.path, 'copy.sqlite');
  definitions = definitionsOf(scene.database);
  lax = join(folder.path, 'lax.sqlite');
  copyFileSync(scene.database, lax);
  using database = disposable(new Database(lax));
  const triggers = database.sqlite.prepare<[], string>(
    "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
  );
  for (const trigger of triggers.pluck().all()) database.sqlite.exec(`DROP TRIGGER ${trigger}`);
  redefine(lax, new Map([...definitions].map(([name, sql]) => [name, withoutTypes(sql)])));
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Misfit {
  readonly table: string;
  readonly column: string;
  readonly found: string;
  readonly value: string;
}

/** The same in another type where that can be; it differs by its type alone. */
const values: Readonly<Record<string, (column: string) => string>> = {
  integer: () => '77',
  real: column => `${column} + 0.0`,
  text: column => `CAST(${column} AS TEXT)`,
  blob: column => `CAST(${column} AS BLOB)`,
  null: () => 'NULL',
};

/** Each column of each table with a value of each type that docmirror does not write there. */
function allMisfits(): Misfit[] {
  using database = disposable(new Database(scene.database, { readonly: true }));
  return [...definitions.keys()].flatMap(table =>
    database.sqlite
      .prepare<[string], { name: string; type: string; isNeeded: number }>(
        `SELECT name, lower(type) AS type, "notnull" OR type = '' AS isNeeded FROM pragma_table_info(?)`,
      )
      .all(table)
      .flatMap(({ name, type, isNeeded }) =>
        Object.entries(values)
          .filter(([found]) => found !== typeOf(type, name) && (found !== 'null' || isNeeded === 1))
          // What is no number can't be made a real one, and docmirror itself writes such numbers into SQLite's own table.
          .filter(([found]) => found !== 'real' || (typeOf(type, name) === 'integer' && type !== ''))
          .map(([found, value]) => ({ table, column: name, found, value: value(`"${name}"`) })),
      ),
  );
}

/** What a declared type holds in a mirror. SQLite's own table declares none. */
function typeOf(declared: string, name: string): string {
  if (declared === '') return name === 'seq' ? 'integer' : 'text';
  return ['serial', 'numeric'].includes(declared) ? 'integer' : declared;
}

function disposable(sqlite: Database.Database) {
  return { sqlite, [Symbol.dispose]: () => sqlite.close() };
}

/** Writes a value into the last row that has one; false where there is no such row, or SQLite itself refuses. */
function write({ table, column, found, value }: Misfit): boolean {
  for (const beside of ['', '-wal', '-shm']) rmSync(`${path}${beside}`, { force: true });
  copyFileSync(lax, path);
  using database = disposable(new Database(path));
  database.sqlite.pragma('foreign_keys = OFF');
  try {
    const last = `(SELECT max(rowid) FROM "${table}" WHERE "${column}" IS NOT NULL)`;
    const sql = `UPDATE "${table}" SET "${column}" = ${value} WHERE rowid = ${last}`;
    database.sqlite.prepare(sql).run();
    // A row's own number is an integer again.
    const isThere = `SELECT 1 FROM "${table}" WHERE typeof("${column}") = '${found}'`;
    return database.sqlite.prepare(isThere).get() !== undefined;
  } catch (error) {
    if (/datatype mismatch|constraint failed|cannot hold BLOB/.test(String(error))) return false;
    throw error;
  }
}

test('a value of another type, in whatever column, is found, and its row is named', {
  timeout: 120_000,
}, async () => {
  const unseen: string[] = [];
  let done = 0;
  for (const misfit of allMisfits()) {
    if (!write(misfit)) continue;
    const { table, column, found } = misfit;
    // Either the table says of itself that it takes anything, or SQLite sees what does not belong there.
    const isHidden = done++ % 2 === 0;
    if (isHidden) redefine(path, definitions);
    const { differences } = await verifyMirror(path, { limit: 100, signal: new AbortController().signal });
    const words = new RegExp(
      `\\b${column} is (an? )?${found === 'real' ? 'real number' : found}, where docmirror`,
    );
    const isNamed = differences.some(each => each.table === table && words.test(each.what));
    const hasOwnWords = ['sqlite_sequence', '__drizzle_migrations'].includes(table);
    if (!isNamed && !(hasOwnWords && differences.some(each => each.table === table)))
      unseen.push(`${table}.${column} ${found}${isHidden ? ', hidden' : ''}`);
  }
  expect(unseen).toEqual([]);
  expect(done).toBeGreaterThan(250);
});
