import type Database from 'better-sqlite3';

/** A connection to a mirror, or to a copy of one. */
export type Sqlite = Database.Database;

/** All rows of a statement, with their columns as members. */
export function allRows<Row>(sqlite: Sqlite, sql: string, ...bound: unknown[]): Row[] {
  return sqlite.prepare<unknown[], Row>(sql).all(...bound);
}

/** The first row of a statement; undefined if there is none. */
export function firstRow<Row>(sqlite: Sqlite, sql: string, ...bound: unknown[]): Row | undefined {
  return sqlite.prepare<unknown[], Row>(sql).get(...bound);
}

/** The first column of all rows of a statement. */
export function allValues<Value>(sqlite: Sqlite, sql: string, ...bound: unknown[]): Value[] {
  const statement = sqlite.prepare<unknown[], Value>(sql).pluck();
  return statement.all(...bound);
}

/** The first column of the first row of a statement; null if there is no row. */
export function firstValue<Value>(sqlite: Sqlite, sql: string, ...bound: unknown[]): Value | null {
  const statement = sqlite.prepare<unknown[], Value>(sql).pluck();
  return statement.get(...bound) ?? null;
}
