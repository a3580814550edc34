import type Database from 'better-sqlite3';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { ContentSum } from './content-sums.ts';
import { firstValue } from './query.ts';

/** SQLite's own table of the greatest number that it gave to a row of each table that counts its rows. */
export const sequences = 'sqlite_sequence';

/** The lists whose rows SQLite numbers. */
export const numberedLists: readonly ListDefinition[] = lists.filter(
  ({ identity }) => identity.by === 'content',
);

/** The greatest number that was given to a row of each table that counts its rows, as far as rows and history tell; 0 where none was. */
export function greatestGiven(sqlite: Database.Database): Map<string, number> {
  const greatest = (sql: string) => firstValue<number | null>(sqlite, sql) ?? 0;
  const given = new Map([['sync_runs', greatest('SELECT max(id) FROM sync_runs')]]);
  for (const { table, resource } of numberedLists) {
    const ended = greatest(`SELECT max(record_id) FROM record_history WHERE resource = '${resource}'`);
    given.set(table, Math.max(greatest(`SELECT max(id) FROM ${table}`), ended));
  }
  return given;
}

/** The number that SQLite says it gave last to a row of a table; undefined where it gave none. */
export function lastGiven(sqlite: Database.Database, table: string): number | undefined {
  return firstValue(sqlite, `SELECT seq FROM ${sequences} WHERE name = ?`, table);
}

/**
 * Notes which number SQLite gave last to a row of a list, for rows and history don't tell where the last ones are gone; to be called
 * when rows were written, before the transaction ends.
 */
export function noteLastGiven(sqlite: Database.Database, { table, resource }: ListDefinition): void {
  new ContentSum(sqlite, sequences, resource).replace(Sum.from(lastGiven(sqlite, table) ?? 0, ''));
}

/** What was noted of each list's table. */
export function notedLastGiven(sqlite: Database.Database): Map<string, Sum> {
  return new Map(
    numberedLists.map(({ table, resource }) => [table, new ContentSum(sqlite, sequences, resource).stored()]),
  );
}
