import type Database from 'better-sqlite3';

/** A table, an index, a view or a trigger. */
export interface SchemaPart {
  readonly type: string;
  readonly name: string;
  /** The table that it belongs to, or itself, in lower case: SQLite takes either. */
  readonly table: string;
  /** What makes it; white space says nothing in it. */
  readonly sql: string;
}

/** What a file is made of, but for what SQLite and Litestream keep for themselves. */
export function schemaParts(sqlite: Database.Database): SchemaPart[] {
  return sqlite
    .prepare<[], SchemaPart>(
      `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
       WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ('_litestream_seq', '_litestream_lock')`,
    )
    .all()
    .map(part => ({ ...part, sql: part.sql.replaceAll(/\s+/g, ' ').trim() }));
}
