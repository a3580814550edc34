import type Database from 'better-sqlite3';
import { codeOf } from '../../errors.ts';
import { misfitsIn } from '../file/misfits.ts';
import type { Differences } from './differences.ts';

/**
 * Names each value of another type than docmirror writes, and returns how many there are. It comes last: where nothing was found
 * before, there is none, for SQLite's own check finds one in a table that is STRICT, and a table that is not has another shape.
 *
 * @param failure what ended the audit early, null where nothing did; it is thrown, unless it stumbled over such a value.
 */
export function verifyTypes(sqlite: Database.Database, differences: Differences, failure: unknown): number {
  const before = differences.count;
  if (failure === null && before === 0) return 0;
  for (const { table, id, what } of misfitsIn(sqlite)) differences.add(table, id, what);
  const found = differences.count - before;
  const isOfSqlite = codeOf(failure)?.startsWith('SQLITE_') === true;
  if (failure !== null && (found === 0 || isOfSqlite)) throw failure;
  if (failure !== null) differences.add(null, null, 'values of such types ended the audit early');
  return found;
}
