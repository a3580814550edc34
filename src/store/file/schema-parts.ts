import type Database from 'better-sqlite3';

// All by hand: SQLite's own tables, and objects of which Drizzle has no words.

/** A table, an index, a view or a trigger. */
export interface SchemaPart {
  readonly type: string;
  readonly name: string;
  /** The name of its table, in lower case because SQLite ignores case. */
  readonly table: string;
  /** The statement that creates it. */
  readonly sql: string;
}

/** All objects of a file except SQLite's own. */
export function schemaParts(sqlite: Database.Database): SchemaPart[] {
  return sqlite
    .prepare<[], SchemaPart>(
      `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all();
}
