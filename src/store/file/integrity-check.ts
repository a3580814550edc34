import type Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';

/**
 * SQLite's report of damage in a file's trees and indexes; null if there is none. It reads the whole file: about 1.5 s a million
 * rows.
 */
export function damageOf(sqlite: Database.Database): string | null {
  const found = String(sqlite.pragma('integrity_check(1)', { simple: true }) ?? 'ok');
  return found === 'ok' ? null : found.replaceAll(/\s+/g, ' ');
}

/** @throws MirrorFileError if a mirror is damaged. */
export function assertWhole(path: string, sqlite: Database.Database): void {
  const damage = damageOf(sqlite);
  if (damage === null) return;
  throw new MirrorFileError(
    `${path} is damaged (${damage}). Restore it from a backup, or move it away, with the files beside it that begin with its name, and sync again.`,
  );
}
