import { chmodSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';
import { codeOf, DocmirrorError } from '../../errors.ts';
import { DatabaseCopy, replaceable, shareOwner } from '../file/atomic-file.ts';
import { applicationIds, fileBehind } from '../file/mirror-path.ts';
import { cacheKib, openForReading, openMirrorForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { viewNames } from '../tables/views.ts';
import { assertOneMirror } from './backup.ts';
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
  const { database, sql, signal } = options;
  const path = shareTarget(options);
  // Its readers would get the records of this mirror.
  const advice =
    'if that mirror was lost, restore it with "docmirror backup --restore"; if its share is no longer needed, remove it; else name another file.';
  assertOneMirror(path, database, 'the share', advice, 'share_of_another_mirror');
  using built = new DatabaseCopy(path);
  using compacted = new DatabaseCopy(path);
  try {
    {
      using mirror = openMirrorForReading(database);
      built.fill(mirror.sqlite);
    }
    signal.throwIfAborted();
    const made = inFile(built.unfinished, sqlite => change(sqlite, options));
    // Free pages still have what the statements deleted.
    if (sql !== null) inFile(built.unfinished, sqlite => compacted.fill(sqlite));
    const share = sql === null ? built : compacted;
    const { size: bytes } = statSync(share.unfinished);
    shareOwner(share.unfinished, path);
    chmodSync(share.unfinished, (statSync(path, { throwIfNoEntry: false })?.mode ?? shareMode) & 0o777);
    share.putInPlace();
    return { path, bytes, ...made };
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/**
 * The file that a share replaces. A symbolic link stays, and the file that it points to is replaced.
 *
 * @throws UsageError if no file can be at the target, or it is the mirror itself.
 * @throws RefusedFileError if a mirror, a lock, a key or a folder is there.
 */
export function shareTarget({ target, name }: SharePlace): string {
  return replaceable(fileBehind(target, name));
}

/** True if a share that is made now would be the same as the existing one. */
export function isCurrent(place: SharePlace): boolean {
  return stateOf(place.database) === stateOf(shareTarget(place));
}

/** Does some work on a file over a connection of its own: a connection can copy text of pages that it has read into new ones. */
function inFile<T>(path: string, work: (sqlite: Database.Database) => T): T {
  const sqlite = new Database(path);
  try {
    // If this fails, the file is removed, so no journal is written beside it. What is removed is overwritten.
    const settings = [
      'journal_mode = MEMORY',
      'synchronous = OFF',
      'foreign_keys = OFF',
      'secure_delete = ON',
    ];
    for (const setting of [...settings, `cache_size = -${cacheKib}`]) sqlite.pragma(setting);
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

/** Makes a share of a copy of the mirror. */
function change(sqlite: Database.Database, { sql, ...selection }: ShareOptions) {
  const shape = sqlite.pragma('user_version', { simple: true });
  // Other programs' triggers would run. A virtual table can be an index of any text.
  const unwanted = sqlite.prepare<[], { type: string; name: string }>(
    `SELECT s.type, s.name FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
     WHERE s.type = 'trigger' OR t.type = 'virtual'
       OR s.type = 'table' AND (s.name LIKE '\\_%' ESCAPE '\\' OR s.name = 'docmirror_upgrades')`,
  );
  for (const { type, name } of unwanted.all()) sqlite.exec(`DROP ${type} ${quoted(name)}`);
  withhold(sqlite, selection);
  sqlite.exec('PRAGMA incremental_vacuum');
  const runId = new EndedRuns(sqlite).newest();
  const leftOut = dropUnreadableViews(sqlite, () => true);
  if (sql !== null) leftOut.push(...runStatements(sqlite, sql));
  // The statements can have changed these, and docmirror recognizes a share by them.
  sqlite.pragma(`application_id = ${applicationIds.share}`);
  sqlite.pragma(`user_version = ${shape}`);
  return { runId, leftOut };
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
