import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { applicationIds, busyTimeoutMs } from '../file/file-kind.ts';
import { openMirrorForReading } from '../file/open.ts';
import { makePrivateFile } from '../file/private-file.ts';
import { addFunctions, copyTable, type Selection, tablesToCopy } from './copied-tables.ts';
import { copyViews, dropUnreadableViews } from './copied-views.ts';
import { runsUnderWay, takeBackRun } from './take-back-run.ts';

// All by hand: Drizzle has no ATTACH.

/** The result of building a share. */
export interface BuiltShare {
  /** Views that somebody added and that can't be read without the columns or tables that a share leaves out. */
  readonly leftOut: readonly string[];
  /** True if rows were taken back, so that pages are free. */
  readonly hasFreePages: boolean;
}

/** With SQLite's default of 2 MiB, it takes longer to make the indexes of many rows. */
const cacheKib = 16 * 1024;

/**
 * Builds the share of a mirror in a new file, from one state of the mirror. No file is made beside it. Its journal is in memory and
 * stays small, because there is no earlier state to go back to.
 *
 * @throws MirrorFileError, RefusedFileError if the mirror can't be read.
 */
export async function buildShare(
  path: string,
  database: string,
  { selection, signal }: { readonly selection: Selection; readonly signal: AbortSignal },
): Promise<BuiltShare> {
  using mirror = openMirrorForReading(database);
  makePrivateFile(path);
  const sqlite = new Database(path, { timeout: busyTimeoutMs * 10 });
  try {
    for (const pragma of ['main.journal_mode = MEMORY', 'main.synchronous = OFF', 'foreign_keys = OFF'])
      sqlite.pragma(pragma);
    sqlite.pragma(`main.cache_size = -${cacheKib}`);
    addFunctions(sqlite, selection.withheld);
    sqlite.prepare('ATTACH ? AS mirror').run(mirror.path);
    sqlite.exec('BEGIN');
    sqlite.pragma(`main.application_id = ${applicationIds.share}`);
    sqlite.pragma(`main.user_version = ${sqlite.pragma('mirror.user_version', { simple: true })}`);
    for (const table of tablesToCopy(sqlite)) {
      copyTable(sqlite, table, selection);
      // A large table takes seconds, so signals get their turn after each one.
      await nextTurn();
      signal.throwIfAborted();
    }
    const underWay = runsUnderWay(sqlite);
    for (const runId of underWay) takeBackRun(sqlite, runId, selection);
    copyViews(sqlite);
    sqlite.exec('COMMIT');
    sqlite.exec('DETACH mirror');
    return { leftOut: dropUnreadableViews(sqlite, 'others'), hasFreePages: underWay.length > 0 };
  } finally {
    sqlite.close();
  }
}
