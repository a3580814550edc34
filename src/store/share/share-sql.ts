import Database from 'better-sqlite3';
import { codeOf, DocmirrorError } from '../../errors.ts';
import { makePrivateFile } from '../file/private-file.ts';
import { dropUnreadableViews, unreadableViews } from './copied-views.ts';

// All by hand: Drizzle has no VACUUM.

/** Statements that run on a share before it gets its place. */
export interface ShareSql {
  /** The file that they are from, for errors. */
  readonly path: string;
  readonly text: string;
}

/**
 * Runs the user's own statements on a share that is being made.
 *
 * @returns docmirror's views that can no longer be read, for example because a column was dropped. The share lacks them.
 * @throws DocmirrorError with the code `share_failed`, if a statement fails or leaves something half done. It names the file of the
 *   statements.
 */
export function runStatements(share: string, { path, text }: ShareSql): string[] {
  const sqlite = new Database(share);
  try {
    sqlite.pragma('synchronous = OFF');
    // Without this, a column that a view names could not be dropped.
    sqlite.pragma('legacy_alter_table = ON');
    const [id, version] = headerOf(sqlite);
    execute(sqlite, path, text);
    if (sqlite.inTransaction) throw failed(path, 'a transaction is left open; end it with COMMIT');
    const leftOut = dropUnreadableViews(sqlite, 'own');
    const [view] = unreadableViews(sqlite);
    if (view !== undefined) throw failed(path, `the view ${view.name} can't be read: ${view.why}`);
    // The statements can have changed these, and docmirror recognizes a share by them.
    sqlite.pragma(`application_id = ${id}`);
    sqlite.pragma(`user_version = ${version}`);
    return leftOut;
  } finally {
    sqlite.close();
  }
}

function headerOf(sqlite: Database.Database): unknown[] {
  return ['application_id', 'user_version'].map(name => sqlite.pragma(name, { simple: true }));
}

function execute(sqlite: Database.Database, path: string, text: string): void {
  try {
    sqlite.exec(text);
  } catch (error) {
    // A full disk is not the fault of the statements.
    if (/^SQLITE_(FULL|IOERR|NOMEM)/.test(codeOf(error) ?? '')) throw error;
    throw failed(path, (error as Error).message, error);
  }
}

function failed(path: string, why: string, cause?: unknown): DocmirrorError {
  return new DocmirrorError('share_failed', `${path} failed: ${why}. The share was not made.`, { cause });
}

/** Writes a share into another new file without its free pages, because these can still contain deleted data. */
export function compact(share: string, target: string): void {
  makePrivateFile(target);
  const sqlite = new Database(share);
  try {
    sqlite.pragma('synchronous = OFF');
    sqlite.prepare('VACUUM INTO ?').run(target);
  } finally {
    sqlite.close();
  }
}
