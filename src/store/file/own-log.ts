import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { RefusedFileError } from '../../errors.ts';
import { knownFile } from './connections.ts';
import { isMirror, namesIn } from './file-kind.ts';
import { hasLog } from './file-mark.ts';
import { readAlone } from './read-alone.ts';

/**
 * Looks at a mirror that may have a log beside it, before a connection reads the two together: SQLite asks only for the log's name, not
 * whose it is, nor whether it is of an earlier day.
 *
 * @returns what makes sure, with such a connection, that the log is the mirror's own.
 * @throws (what is returned) RefusedFileError where it is another database's, or older than the file; both are left as they are.
 */
export function lookAtLog(path: string): (sqlite: Database.Database) => void {
  // Taken before the connection's look: a run may add to both between the two.
  const alone = hasLog(path) && knownFile(path) === undefined ? readAlone(path, newestIn) : null;
  return sqlite => {
    if (!hasLog(path)) return;
    if (!holdsMirror(sqlite)) throw foreignLog(path);
    if (alone === null || !isOlder(newestIn(sqlite), alone)) return;
    throw new RefusedFileError(
      `${path}-wal lies there, which is older than ${path}: SQLite would undo with it what the newest run wrote. Both were left as they are; move the -wal away.`,
    );
  };
}

/**
 * Makes sure that the log beside a staging file, if there is any, is no other database's.
 *
 * @throws RefusedFileError where it is; both are left as they are.
 */
export function assertLogOfStaging(path: string): void {
  if (!hasLog(path) || knownFile(path) !== undefined) return;
  // It stood in the file before there was a log; where the file alone is damaged, the log may be what makes it whole.
  const own = readAlone(path, database => database.prepare('PRAGMA application_id').get()?.application_id);
  if (own !== null) assertNoForeignLog(path, sqlite => idOf(sqlite) === own);
}

/**
 * Makes sure that the log beside a mirror that is about to be replaced, if there is any, is no other database's. An older one, or one
 * that is damaged, may go with the mirror.
 *
 * @throws RefusedFileError where it is; both are left as they are.
 */
export function assertLogOfMirror(path: string): void {
  if (hasLog(path) && existsSync(path)) assertNoForeignLog(path, holdsMirror);
}

function assertNoForeignLog(path: string, isOwn: (sqlite: Database.Database) => boolean): void {
  const sqlite = new Database(path, { readonly: true, timeout: 0 });
  try {
    if (!isOwn(sqlite)) throw foreignLog(path);
  } catch (error) {
    // Somebody holds it; or it is damaged, and what replaces it is at hand.
    if (!(error instanceof Database.SqliteError)) throw error;
  } finally {
    sqlite.close();
  }
}

function holdsMirror(sqlite: Database.Database): boolean {
  return isMirror(idOf(sqlite), namesIn(sqlite));
}

function idOf(sqlite: Database.Database): unknown {
  return sqlite.pragma('application_id', { simple: true });
}

function foreignLog(path: string): RefusedFileError {
  return new RefusedFileError(
    `${path}-wal lies there, which is another database's: SQLite would write it into ${path}. Both were left as they are; move it away.`,
  );
}

/** How far a mirror has come: none of it ever goes back. */
interface Newest {
  readonly runId: number;
  readonly leafIndex: number;
  /** How many of the newest run's records are ended: its own, and those of its lists. */
  readonly ended: number;
}

function newestIn(database: { prepare(sql: string): { get(): unknown } }): Newest {
  return database.prepare(selectNewest).get() as Newest;
}

const selectNewest = `
  SELECT runId,
    (SELECT ifnull(max(leaf_index), -1) FROM sync_receipts) AS leafIndex,
    (SELECT count(completed_at) FROM sync_runs WHERE id = runId)
      + (SELECT count(completed_at) FROM sync_run_resources WHERE run_id = runId) AS ended
  FROM (SELECT ifnull(max(id), 0) AS runId FROM sync_runs)`;

function isOlder(one: Newest, other: Newest): boolean {
  const isBehind = one.runId === other.runId && one.ended < other.ended;
  return one.runId < other.runId || one.leafIndex < other.leafIndex || isBehind;
}
