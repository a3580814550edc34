import { chmodSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';
import { codeOf, DocmirrorError, RefusedFileError, UsageError } from '../../errors.ts';
import {
  assertReplaceable,
  FileWriteError,
  putDatabaseInPlace,
  removeLeftovers,
  removeUnfinished,
  shareOwner,
  unfinishedPath,
} from '../file/atomic-file.ts';
import { isSameFile } from '../file/file-identity.ts';
import { mirrorIdOf } from '../file/mirror-identity.ts';
import { applicationIds, fileBehind } from '../file/mirror-path.ts';
import { cacheKib, openForReading, openMirrorForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { viewNames } from '../tables/views.ts';
import { copyInto } from './backup.ts';
import { type Selection, withhold } from './withheld.ts';

/** The place of a share, and the mirror that it is made from. */
export interface SharePlace {
  readonly database: string;
  readonly target: string;
  /** The argument or setting that named the target, for errors. */
  readonly name: string;
}

/** How a share is made. */
export interface ShareOptions extends SharePlace, Selection {
  readonly sql: ShareSql | null;
  readonly signal: AbortSignal;
}

/** Statements that run on a share before it gets its place, and the file that they are from. */
export interface ShareSql {
  readonly path: string;
  readonly text: string;
}

/** A share that was made. */
export interface Share {
  readonly path: string;
  /** The newest run that it contains; null if no run has ended yet. */
  readonly runId: number | null;
  readonly bytes: number;
  /** Views that can't be read, because the share leaves something out or its statements dropped something. */
  readonly leftOut: readonly string[];
}

/** The mode of a new share: everybody can read it. */
const shareMode = 0o644;

/**
 * Makes a copy of a mirror that everybody can read, and puts it in its place in one step. A reader that has the old share open can
 * go on reading it. If it fails, the old share is unchanged. The caller has the mirror's lock, and no run is under way.
 *
 * @throws UsageError, RefusedFileError if the target must not be replaced, or the source is no mirror.
 * @throws MirrorFileError if the mirror can't be read, or the share can't be written.
 * @throws DocmirrorError with the code `share_failed` if the statements fail.
 */
export async function makeShare(options: ShareOptions): Promise<Share> {
  const path = shareTarget(options);
  const { database, signal } = options;
  assertShareOf(database, path);
  // Free pages still have what was deleted. So the first copy is only for its owner, and the second one has no free pages.
  const [whole, finished] = [unfinishedPath(path), unfinishedPath(path)];
  try {
    removeLeftovers(dirname(resolve(path)));
    copyMirror(database, whole);
    await nextTurn();
    signal.throwIfAborted();
    const made = cutDown(whole, finished, options);
    await nextTurn();
    signal.throwIfAborted();
    const { size: bytes } = statSync(finished);
    shareOwner(finished, path);
    chmodSync(finished, (statSync(path, { throwIfNoEntry: false })?.mode ?? shareMode) & 0o777);
    putDatabaseInPlace(finished, path);
    return { path, bytes, ...made };
  } catch (error) {
    throw explain(error, database, path);
  } finally {
    for (const unfinished of [whole, finished]) removeUnfinished(unfinished);
  }
}

/**
 * The file that a share replaces. A symbolic link stays, and the file that it points to is replaced.
 *
 * @throws UsageError if no file can be at the target, or it is the mirror itself.
 * @throws RefusedFileError if a mirror, a lock, a key or a folder is there.
 */
export function shareTarget({ database, target, name }: SharePlace): string {
  const path = fileBehind(target, name);
  if (isSameFile(path, fileBehind(database)))
    throw new UsageError(`${name}: ${path} is the mirror itself. Name another file.`);
  assertReplaceable(path);
  return path;
}

/** True if a share that is made now would be the same as the existing one. */
export function isCurrent(place: SharePlace): boolean {
  return stateOf(place.database) === stateOf(shareTarget(place));
}

function copyMirror(database: string, path: string): void {
  using mirror = openMirrorForReading(database);
  copyInto(mirror.sqlite, path);
}

/** Makes a share of a whole copy of a mirror, in another file. */
function cutDown(whole: string, finished: string, options: ShareOptions): Pick<Share, 'runId' | 'leftOut'> {
  const sqlite = new Database(whole);
  try {
    // If this fails, the copy is removed.
    for (const setting of ['journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF'])
      sqlite.pragma(setting);
    sqlite.pragma(`cache_size = -${cacheKib}`);
    const shape = sqlite.pragma('user_version', { simple: true });
    const runId = new EndedRuns(sqlite).newest();
    dropInternals(sqlite);
    withhold(sqlite, options);
    const leftOut = dropUnreadableViews(sqlite, () => true);
    if (options.sql !== null) leftOut.push(...runStatements(sqlite, options.sql));
    // The statements can have changed these, and docmirror recognizes a share by them.
    sqlite.pragma(`application_id = ${applicationIds.share}`);
    sqlite.pragma(`user_version = ${shape}`);
    copyInto(sqlite, finished);
    return { runId, leftOut };
  } finally {
    sqlite.close();
  }
}

/** Drops what is not for readers. A virtual table of a user can be an index of any text, so it goes, too. */
function dropInternals(sqlite: Database.Database): void {
  const objects = sqlite.prepare<[], { type: string; name: string }>(
    `SELECT type, name FROM sqlite_schema WHERE type = 'trigger'
     UNION ALL SELECT * FROM (
       SELECT 'table', name FROM pragma_table_list
       WHERE schema = 'main' AND (type = 'virtual' OR type = 'table' AND (name = 'docmirror_upgrades'
         OR name LIKE '\\_%' ESCAPE '\\' OR name LIKE 'sqlite\\_stat%' ESCAPE '\\')))`,
  );
  for (const { type, name } of objects.all()) sqlite.exec(`DROP ${type} ${quoted(name)}`);
}

/**
 * Drops views that can't be read, for example views of tables that a share does not contain.
 *
 * @returns their names.
 */
function dropUnreadableViews(sqlite: Database.Database, canGo: (name: string) => boolean): string[] {
  const dropped: string[] = [];
  // A view can read another one that is dropped.
  for (;;) {
    const unreadable = unreadableViews(sqlite).filter(({ name }) => canGo(name));
    if (unreadable.length === 0) return dropped;
    for (const { name } of unreadable) sqlite.exec(`DROP VIEW ${quoted(name)}`);
    dropped.push(...unreadable.map(({ name }) => name));
  }
}

/** The views that can't be read, each with SQLite's error message. */
function unreadableViews(sqlite: Database.Database): { name: string; why: string }[] {
  const names = sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck();
  return names.all().flatMap(name => {
    try {
      sqlite.prepare(`SELECT * FROM ${quoted(name)}`);
      return [];
    } catch (error) {
      return [{ name, why: (error as Error).message }];
    }
  });
}

/**
 * Runs the user's own statements on a share that is being made.
 *
 * @returns docmirror's views that can no longer be read, for example because a column was dropped. The share lacks them.
 * @throws DocmirrorError with the code `share_failed`, if a statement fails or leaves something half done.
 */
function runStatements(sqlite: Database.Database, { path, text }: ShareSql): string[] {
  const failed = (why: string, cause?: unknown) =>
    new DocmirrorError('share_failed', `${path} failed: ${why}. The share was not made.`, { cause });
  sqlite.pragma('journal_mode = DELETE');
  // Without this, a column that a view names could not be dropped.
  sqlite.pragma('legacy_alter_table = ON');
  try {
    sqlite.exec(text);
  } catch (error) {
    // A full disk is not the fault of the statements.
    if (/^SQLITE_(FULL|IOERR|NOMEM)/.test(codeOf(error) ?? '')) throw error;
    throw failed((error as Error).message, error);
  }
  if (sqlite.inTransaction) throw failed('a transaction is left open; end it with COMMIT');
  const own = viewNames();
  const leftOut = dropUnreadableViews(sqlite, name => own.includes(name));
  const [view] = unreadableViews(sqlite);
  if (view !== undefined) throw failed(`the view ${view.name} can't be read: ${view.why}`);
  return leftOut;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** @throws RefusedFileError if a share of another mirror is at the path: its readers would get the records of this one. */
function assertShareOf(database: string, path: string): void {
  const [own, other] = [mirrorIdOf(database), mirrorIdOfShare(path)];
  if (own === null || other === null || own === other) return;
  throw new RefusedFileError(
    `${path} is the share of another mirror (${other}) than ${database} (${own}). It was left as it is. If that mirror was lost, restore it with "docmirror backup --restore"; if its share is no longer needed, remove it; else name another file.`,
    { code: 'share_of_another_mirror' },
  );
}

/** Null if no share is there, or it can't be read. */
function mirrorIdOfShare(path: string): string | null {
  try {
    const share = new Database(path, { readonly: true, fileMustExist: true });
    try {
      const newest = "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1";
      return share.prepare<[], string | null>(newest).pluck().get() ?? null;
    } finally {
      share.close();
    }
  } catch {
    return null;
  }
}

/** The tables whose rows name the run that wrote them. */
const keptTables = [...lists.map(({ table }) => table), 'connections'];

/**
 * The state after the ended runs, as a short text that is the same in a mirror and in a share of it. A change without a run, for
 * example pruning, writes a receipt that names no run.
 */
const selectState = `SELECT json_array(
  (SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1),
  (SELECT max(leaf_index) FROM sync_receipts WHERE run_id IS NULL),
  ${keptTables.map(table => `(SELECT max(_changed_run_id) FROM ${table})`).join(', ')},
  (SELECT max(valid_to_run_id) FROM record_history),
  (SELECT json_group_array(state) FROM (
    SELECT json_array(l.resource, l.status, l.completeness, l.record_count, l.checksum, l.rejected,
      l.removals_withheld, l.reason) AS state
    FROM sync_run_resources l
    JOIN (SELECT resource, max(run_id) AS run_id FROM sync_run_resources
          WHERE status <> 'running' GROUP BY resource) newest USING (resource, run_id)
    ORDER BY l.resource)))`;

/** The state of a mirror or a share; null if it can't be read. */
function stateOf(path: string): unknown {
  try {
    using file = openForReading(path);
    return file.sqlite.prepare(selectState).pluck().get();
  } catch {
    return null;
  }
}

function explain(error: unknown, database: string, path: string): unknown {
  const code = codeOf(error) ?? '';
  if (/^E[A-Z]+$/.test(code)) return new FileWriteError(path, error);
  // SQLite failed to read the mirror, or to write the share.
  return explainSqliteError(error, /^SQLITE_(?!FULL|IOERR)/.test(code) ? database : path);
}
