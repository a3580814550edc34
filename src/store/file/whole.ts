import Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import { findOut } from './file-kind.ts';
import { hasLog } from './file-mark.ts';
import { misfitsIn } from './misfits.ts';
import { busyTimeoutMs, type MirrorFile } from './open.ts';
import { openInMemory } from './open-to-write.ts';
import { lookAtLog } from './own-log.ts';
import { type SchemaPart, schemaParts } from './schema-parts.ts';

/** What SQLite finds wrong with a file, trees and indexes; null where it is whole. It reads all of it: some 1.5 s a million rows. */
export function damageOf(sqlite: Database.Database): string | null {
  const found = sqlite.prepare<[], string>('PRAGMA integrity_check(1)').pluck().get() ?? 'ok';
  return found === 'ok' ? null : found.replaceAll(/\s+/g, ' ');
}

/**
 * Looks at a mirror together with the log beside it, before it is opened to write: whoever is the last to close it then folds that
 * log into the file, and it may be another file's.
 *
 * @returns true where there was such a log, and the two are whole: `assertWhole` would only say the same.
 * @throws RefusedFileError, SqliteError where the two don't fit; both are left as they are.
 */
export function assertLogFits(path: string): boolean {
  if (!hasLog(path) || findOut(path).kind !== 'mirror') return false;
  const assertOwnLog = lookAtLog(path);
  const sqlite = new Database(path, { readonly: true, timeout: busyTimeoutMs });
  try {
    assertOwnLog(sqlite);
    const damage = damageOf(sqlite);
    if (damage !== null) throw new Database.SqliteError(damage, 'SQLITE_CORRUPT');
    return true;
  } finally {
    sqlite.close();
  }
}

/** @throws MirrorFileError where a mirror is damaged. */
export function assertWhole({ path, sqlite }: MirrorFile): void {
  const damage = damageOf(sqlite);
  if (damage === null) return;
  throw new MirrorFileError(
    `${path} is damaged (${damage}). Restore it from a backup, or move it away, with the files beside it that begin with its name, and sync anew.`,
  );
}

/**
 * In words the first value of another type than docmirror writes, and what to do; null where there is none.
 *
 * @param isChecked true for a file that `assertWhole` let pass, which takes less time.
 */
export function misfitOf({ path, sqlite }: MirrorFile, isChecked = false): string | null {
  for (const { table, id, what } of misfitsIn(sqlite, isChecked)) {
    const row = id === null ? '' : `${id}: `;
    return `${path} holds a value that docmirror did not write (${table} ${row}${what}). "docmirror verify" names each. Restore it from a backup, or move it away and sync anew.`;
  }
  return null;
}

/**
 * Looks for each table that docmirror makes, where SQLite's own error names one that is missing, for triggers and unique indexes on
 * them that it did not make, and at the types of values in those that are no longer STRICT. It comes after `assertWhole`.
 *
 * @throws MirrorFileError where a trigger would change what a run writes, or a value is of another type than docmirror writes.
 */
export function assertComplete(file: MirrorFile): void {
  using made = openInMemory();
  const tables = made.sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'");
  for (const table of tables.pluck().all()) file.sqlite.prepare(`SELECT 1 FROM "${table}"`);
  assertNothingStrange(file, made);
  const misfit = misfitOf(file, true);
  if (misfit !== null) throw new MirrorFileError(misfit);
}

function assertNothingStrange({ path, sqlite }: MirrorFile, made: MirrorFile): void {
  const own = schemaParts(made.sqlite);
  for (const part of schemaParts(sqlite)) {
    const danger = dangerOf(part);
    const isOwn = own.some(each => each.name === part.name && each.sql === part.sql);
    if (danger === null || isOwn || !own.some(each => each.table === part.table)) continue;
    throw new MirrorFileError(
      `${path} has ${part.type === 'index' ? 'an' : 'a'} ${part.type} that docmirror did not make (${part.name} on ${part.table}), which may ${danger}. Remove it with DROP ${part.type.toUpperCase()}, and run again.`,
    );
  }
}

/** What may become of a run by a part that another program made, in words; null where nothing does. */
function dangerOf({ type, sql }: SchemaPart): string | null {
  if (type === 'trigger') return 'change what a run writes';
  return type === 'index' && /^CREATE UNIQUE/i.test(sql) ? 'refuse what a run writes' : null;
}
