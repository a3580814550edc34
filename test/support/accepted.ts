import Database from 'better-sqlite3';

/** Writes to a mirror as another program would. */
export function executeIn(path: string, statements: string): void {
  const sqlite = new Database(path);
  sqlite.exec(statements);
  sqlite.close();
}
