import type Database from 'better-sqlite3';
import { type OnlyValue, prepareValue, type RowOf, type Worded } from './statement.ts';

/** The first value of the first row that a query gives; undefined if it gives no row. It is worded and prepared each time. */
export function firstValue<Values extends unknown[], Query extends Worded>(
  sqlite: Database.Database,
  word: (...values: Values) => Query,
  ...values: Values
): OnlyValue<RowOf<Query>> | undefined {
  return prepareValue(sqlite, word).get(...values);
}
