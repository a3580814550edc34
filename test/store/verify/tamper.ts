import Database from 'better-sqlite3';

/** Alters a mirror as someone with the file and an hour can: without its triggers. False if SQLite itself refuses. */
export function tamper(path: string, sql: string): boolean {
  const database = new Database(path);
  try {
    database.pragma('foreign_keys = OFF');
    const triggers = database
      .prepare<[], { name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
      )
      .all();
    for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
    database.exec(sql);
    for (const trigger of triggers) database.exec(trigger.sql);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT'))
      return false;
    throw error;
  } finally {
    database.close();
  }
}
