import { chmodSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';
import { codeOf, DocmirrorError, RefusedFileError, UsageError } from '../../errors.ts';
import {
  assertReplaceable,
  FileWriteError,
  makePrivateFile,
  putDatabaseInPlace,
  removeLeftovers,
  removeUnfinished,
  shareOwner,
  unfinishedPath,
} from '../file/atomic-file.ts';
import { isSameFile } from '../file/file-identity.ts';
import { mirrorIdOf } from '../file/mirror-identity.ts';
import { applicationIds, busyTimeoutMs, fileBehind } from '../file/mirror-path.ts';
import { cacheKib, openForReading, openMirrorForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { viewNames } from '../tables/views.ts';
import { copyInto } from './backup.ts';
import { type Replacements, type Selection, withheld } from './withheld.ts';

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
  const { database } = options;
  assertShareOf(database, path);
  const [built, compacted] = [unfinishedPath(path), unfinishedPath(path)];
  try {
    removeLeftovers(dirname(resolve(path)));
    const { hasFreePages, ...made } = await build(built, options);
    // Free pages still have what was deleted.
    if (hasFreePages) compact(built, compacted);
    const finished = hasFreePages ? compacted : built;
    const { size: bytes } = statSync(finished);
    shareOwner(finished, path);
    chmodSync(finished, (statSync(path, { throwIfNoEntry: false })?.mode ?? shareMode) & 0o777);
    putDatabaseInPlace(finished, path);
    return { path, bytes, ...made };
  } catch (error) {
    throw explain(error, database, path);
  } finally {
    for (const unfinished of [built, compacted]) removeUnfinished(unfinished);
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

/** Builds a share in a new file that only its owner can read, from one state of the mirror. */
async function build(path: string, { database, sql, signal, ...selection }: ShareOptions) {
  using mirror = openMirrorForReading(database);
  makePrivateFile(path);
  const sqlite = new Database(path, { timeout: busyTimeoutMs * 10 });
  try {
    // If this fails, the file is removed, so no journal is written beside it.
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF', `cache_size = -${cacheKib}`])
      sqlite.pragma(`main.${setting}`);
    sqlite.pragma('foreign_keys = OFF');
    sqlite.prepare('ATTACH ? AS mirror').run(mirror.path);
    sqlite.exec('BEGIN');
    const shape = sqlite.pragma('mirror.user_version', { simple: true });
    const replacementsIn = withheld(sqlite, selection);
    for (const table of tablesToCopy(sqlite)) {
      copyTable(sqlite, table, replacementsIn(table.name));
      // A large table takes seconds, so signals get their turn after each one.
      await nextTurn();
      signal.throwIfAborted();
    }
    const views = "SELECT sql FROM mirror.sqlite_schema WHERE type = 'view' ORDER BY rowid";
    // SQLite does not check the tables that they name.
    for (const view of sqlite.prepare<[], string>(views).pluck().all()) sqlite.exec(view);
    sqlite.exec('COMMIT; DETACH mirror');
    const runId = new EndedRuns(sqlite).newest();
    const leftOut = dropUnreadableViews(sqlite, () => true);
    if (sql !== null) leftOut.push(...runStatements(sqlite, sql));
    // The statements can have changed these, and docmirror recognizes a share by them.
    sqlite.pragma(`application_id = ${applicationIds.share}`);
    sqlite.pragma(`user_version = ${shape}`);
    return { runId, leftOut, hasFreePages: sql !== null };
  } finally {
    sqlite.close();
  }
}

function compact(built: string, compacted: string): void {
  const sqlite = new Database(built);
  try {
    copyInto(sqlite, compacted);
  } finally {
    sqlite.close();
  }
}

interface Table {
  readonly name: string;
  readonly sql: string;
}

/**
 * The tables that a share contains: docmirror's own without the internal ones, and those that somebody added. A virtual table can be
 * an index of any text, so it is left out.
 */
function tablesToCopy(sqlite: Database.Database): Table[] {
  return sqlite
    .prepare<[], Table>(
      `SELECT s.name, s.sql FROM mirror.sqlite_schema s
       JOIN pragma_table_list t ON t.schema = 'mirror' AND t.name = s.name AND t.type = 'table'
       WHERE s.type = 'table' AND s.name NOT LIKE '\\_%' ESCAPE '\\'
         AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND s.name <> 'docmirror_upgrades'
       ORDER BY s.rowid`,
    )
    .all();
}

/** Makes and fills a table. Withheld values are replaced before they are written, so no page of the file ever contains them. */
function copyTable(sqlite: Database.Database, { name, sql }: Table, replaced: Replacements | null): void {
  sqlite.exec(sql);
  const of = <Row>(query: string) => sqlite.prepare<[string], Row>(query).pluck().all(name);
  const makeIndexes = () => {
    const indexes =
      "SELECT sql FROM mirror.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL";
    for (const index of of<string>(indexes)) sqlite.exec(index);
  };
  const [table, source] = [`main.${quoted(name)}`, `mirror.${quoted(name)}`];
  const all = "SELECT name FROM pragma_table_xinfo(?, 'mirror')";
  const stored = of<string>(`${all} WHERE hidden = 0`);
  if (replaced !== null && Object.keys(replaced).length === 0 && stored.length === of(all).length) {
    // SQLite copies a table without reading each row only if the statement has no other clause and the indexes are the same.
    makeIndexes();
    sqlite.exec(`INSERT INTO ${table} SELECT * FROM ${source}`);
    return;
  }
  const values = stored.map(column => replaced?.[column] ?? quoted(column));
  if (replaced !== null)
    sqlite.exec(
      `INSERT INTO ${table} (${stored.map(quoted).join(', ')}) SELECT ${values.join(', ')} FROM ${source}`,
    );
  makeIndexes();
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
