import type Database from 'better-sqlite3';

/** The greatest number that was given to a row of each table that counts its rows, as far as rows and history tell; 0 where none was. */
export function greatestGiven(sqlite: Database.Database): Map<string, number> {
  const greatest = (sql: string) => sqlite.prepare<[], number | null>(sql).pluck().get() ?? 0;
  const ofExports = greatest('SELECT max(id) FROM document_exports');
  const ofEnded = greatest("SELECT max(record_id) FROM record_history WHERE resource = 'document-exports'");
  return new Map([
    ['document_exports', Math.max(ofExports, ofEnded)],
    ['sync_runs', greatest('SELECT max(id) FROM sync_runs')],
  ]);
}
