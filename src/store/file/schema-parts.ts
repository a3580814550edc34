import type Database from 'better-sqlite3';

/** A table, an index, a view or a trigger. */
export interface SchemaPart {
  readonly type: string;
  readonly name: string;
  /** The table that it belongs to, or itself, in lower case: SQLite takes either. */
  readonly table: string;
  /** What makes it, with one space for any white space that says nothing. */
  readonly sql: string;
}

/** What a file is made of, but for what SQLite and Litestream keep for themselves, which is not known by its name alone: a trigger may have any. */
export function schemaParts(sqlite: Database.Database): SchemaPart[] {
  return sqlite
    .prepare<[], SchemaPart>(
      `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND NOT (type = 'table' AND name IN
         ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4', '_litestream_seq', '_litestream_lock'))`,
    )
    .all()
    .map(part => ({ ...part, sql: inOneLine(part.sql) }));
}

/** What is quoted, and comments: a line break ends one of these, so it says something there. */
const literal = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*\n?|\/\*.*?\*\//gs;

function inOneLine(sql: string): string {
  const kept = sql.match(literal) ?? [];
  return sql
    .split(literal)
    .map((part, at) => part.replaceAll(/\s+/g, ' ') + (kept[at] ?? ''))
    .join('')
    .trim();
}
