import type Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';

/** The greatest number that was given to a row of each table that counts its rows, as far as rows and history tell; 0 where none was. */
export function greatestGiven(sqlite: Database.Database): Map<string, number> {
  const greatest = (sql: string) => sqlite.prepare<[], number | null>(sql).pluck().get() ?? 0;
  const given = new Map([['sync_runs', greatest('SELECT max(id) FROM sync_runs')]]);
  for (const { table, resource, identity } of lists) {
    if (identity.by === 'id') continue;
    const ended = greatest(`SELECT max(record_id) FROM record_history WHERE resource = '${resource}'`);
    given.set(table, Math.max(greatest(`SELECT max(id) FROM ${table}`), ended));
  }
  return given;
}
