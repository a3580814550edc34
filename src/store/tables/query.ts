import type Database from 'better-sqlite3';
import { type OnlyValue, prepareValue, type RowOf, type Worded } from './statement.ts';

/** The first value of the first row of a query; undefined if there is no row. The statement is made and prepared each time. */
export function firstValue<Values extends unknown[], Query extends Worded>(
  sqlite: Database.Database,
  word: (...values: Values) => Query,
  ...values: Values
): OnlyValue<RowOf<Query>> | undefined {
  return prepareValue(sqlite, word).get(...values);
}
