import type Database from 'better-sqlite3';

type Bound = string | number;

/** The first value of the first row that a query gives; undefined where it gives no row. It is prepared anew each time. */
export function firstValue<T>(sqlite: Database.Database, sql: string, ...bound: Bound[]): T | undefined {
  const statement = sqlite.prepare<Bound[], T>(sql).pluck();
  return statement.get(...bound);
}

/** The first value of each row that a query gives. It is prepared anew each time. */
export function firstValues<T>(sqlite: Database.Database, sql: string, ...bound: Bound[]): T[] {
  const statement = sqlite.prepare<Bound[], T>(sql).pluck();
  return statement.all(...bound);
}
