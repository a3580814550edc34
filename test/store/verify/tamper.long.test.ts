import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { MirrorFileError } from '../../../src/errors.ts';
import { factKindOf } from '../../../src/store/tables/service-facts.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { memoryFolder } from '../../support/in-process.ts';
import type { Row } from '../../support/run-cli.ts';
import { fullMirror, wornMirror } from './full-mirror.ts';
import { tamper } from './tamper.ts';

/** Rows of a table that are tampered with: the first and last ones, and some between. */
const rowsMax = 4;

/** Tables and columns that verify does not check, as docs/audit.md says. */
const unseenTables = "'sqlite_sequence', '_connection_names', 'unknown_fields'";
const unseenColumns: Readonly<Record<string, readonly string[]>> = {
  rejected_records: ['last_run_id', 'identity'],
  // The key of the hashes in shares: no receipt can have it.
  _mirror: ['share_key'],
  // That a record came back in another run than it says is not seen; that it did not come back at all is.
  record_history: ['id', 'returned_run_id'],
};

interface Tampering {
  readonly name: string;
  readonly sql: string;
}

interface Column {
  readonly name: string;
  readonly type: string;
}

function tamperings(database: Database.Database): Tampering[] {
  const tables = database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN (${unseenTables})`,
    )
    .pluck()
    .all();
  return tables.flatMap(table => ofTable(database, table));
}

function deleted(table: string, { _row }: Row): Tampering {
  return { name: `${table} delete ${_row}`, sql: `DELETE FROM "${table}" WHERE rowid = ${_row}` };
}

/** Rows that verify does not check: times and rates of the service. */
const isUnseen = (row: Row) => factKindOf(String(row.fact ?? ''))?.isMeasured === true;

function ofTable(database: Database.Database, table: string): Tampering[] {
  const columns = database
    .prepare<[string], Column>('SELECT name, type FROM pragma_table_info(?)')
    .all(table);
  const rows = database
    .prepare<[], Row>(`SELECT rowid AS _row, * FROM "${table}" ORDER BY rowid`)
    .all()
    .filter(row => !isUnseen(row));
  const step = Math.max(1, Math.ceil(rows.length / rowsMax));
  const sample = rows.filter((_, at) => at % step === 0 || at === rows.length - 1);
  const unseen = unseenColumns[table] ?? [];
  return sample.flatMap((row, at) => {
    const other = sample[at + 1];
    const seen = columns.filter(({ name }) => !unseen.includes(name));
    return [
      ...seen.map(column => changed(table, column, row)),
      deleted(table, row),
      doubled(table, columns, row),
      ...swapped(table, seen, row, other),
    ];
  });
}

function changed(table: string, { name, type }: Column, row: Row): Tampering {
  const other =
    type === 'BLOB'
      ? `zeroblob(16)`
      : /INT|SERIAL|numeric/i.test(type)
        ? `coalesce("${name}", 0) + 1`
        : `coalesce("${name}", '') || 'x'`;
  const sql = `UPDATE "${table}" SET "${name}" = ${other} WHERE rowid = ${row._row}`;
  return { name: `${table}.${name} ${row._row}`, sql };
}

/** The row once more, under keys that are free. */
function doubled(table: string, columns: readonly Column[], { _row }: Row): Tampering {
  const isKey = (name: string) =>
    ['id', 'leaf_index', 'position', 'place', 'mirror_id', 'resource'].includes(name);
  const value = ({ name, type }: Column) =>
    !isKey(name)
      ? `"${name}"`
      : type === 'TEXT'
        ? `"${name}" || '2'`
        : `(SELECT max("${name}") + 1 FROM "${table}")`;
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  return {
    name: `${table} double ${_row}`,
    sql: `INSERT INTO "${table}" (${names}) SELECT ${columns.map(value).join(', ')} FROM "${table}" WHERE rowid = ${_row}`,
  };
}

function swapped(table: string, columns: readonly Column[], row: Row, other: Row | undefined): Tampering[] {
  if (other === undefined) return [];
  const pairs = columns.filter(({ name }) => JSON.stringify(row[name]) !== JSON.stringify(other[name]));
  return pairs.map(({ name }) => ({
    name: `${table} swap ${name} ${row._row} ${other._row}`,
    sql: `CREATE TEMP TABLE kept AS SELECT rowid AS r, "${name}" AS v FROM "${table}" WHERE rowid IN (${row._row}, ${other._row});
      UPDATE "${table}" SET "${name}" = (SELECT v FROM kept WHERE r <> "${table}".rowid) WHERE rowid IN (${row._row}, ${other._row});`,
  }));
}

/** Whether the audit finds a difference, or refuses the file in words. */
async function isFoundIn(path: string): Promise<boolean> {
  try {
    const { differenceCount } = await verifyMirror(path, { limit: 1, signal: new AbortController().signal });
    return differenceCount > 0;
  } catch (error) {
    if (error instanceof MirrorFileError) return true;
    throw error;
  }
}

test.each([
  ['in which there is everything', fullMirror],
  ['that was pruned and rebuilt, and of which texts were erased', () => wornMirror(async () => {})],
])(
  'whatever is changed, deleted, doubled or swapped is found in a mirror %s',
  { timeout: 480_000 },
  async (_, make) => {
    await using scene = await make();
    await using folder = memoryFolder();
    const source = new Database(scene.database, { readonly: true });
    const all = tamperings(source);
    source.close();
    const { signal } = new AbortController();
    const path = join(folder.path, 'copy.sqlite');
    const sound = await verifyMirror(scene.database, { limit: 20, signal });
    expect(sound.differences).toEqual([]);
    const unseen: string[] = [];
    let done = 0;
    for (const { name, sql } of all) {
      copyFileSync(scene.database, path);
      if (!tamper(path, sql)) continue;
      done++;
      const isFound = await isFoundIn(path);
      if (!isFound) unseen.push(name);
    }
    expect(unseen).toEqual([]);
    expect(done).toBeGreaterThan(300);
  },
);
