import type Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import type { MirrorFile } from './open.ts';
import { openInMemory } from './open-to-write.ts';
import { schemaParts } from './schema-parts.ts';

/** What SQLite finds wrong with a file, trees and indexes; null if nothing is. It reads all of it: some 1.5 s a million rows. */
export function damageOf(sqlite: Database.Database): string | null {
  const found = sqlite.prepare<[], string>('PRAGMA integrity_check(1)').pluck().get() ?? 'ok';
  return found === 'ok' ? null : found.replaceAll(/\s+/g, ' ');
}

/** @throws MirrorFileError if a mirror is damaged. */
export function assertWhole({ path, sqlite }: MirrorFile): void {
  const damage = damageOf(sqlite);
  if (damage === null) return;
  throw new MirrorFileError(
    `${path} is damaged (${damage}). Restore it from a backup, or move it away, with the files beside it that begin with its name, and sync again.`,
  );
}

/**
 * Looks for each table that docmirror makes (SQLite's own error names one that is missing), and for triggers and unique indexes on
 * them that it did not make.
 *
 * @throws MirrorFileError if one of these would change or refuse what a run writes.
 */
export function assertComplete({ path, sqlite }: MirrorFile): void {
  using made = openInMemory();
  const own = schemaParts(made.sqlite);
  for (const { type, name } of own) if (type === 'table') sqlite.prepare(`SELECT 1 FROM "${name}"`);
  for (const part of schemaParts(sqlite)) {
    const { type, name, table, sql } = part;
    const isOwn = own.some(each => each.name === name && each.sql === sql);
    if (isOwn || !own.some(each => each.table === table) || !isIntrusive(part)) continue;
    throw new MirrorFileError(
      `${path} has ${type === 'trigger' ? 'a trigger' : 'an index'} that docmirror did not make (${name} on ${table}), which can ${type === 'trigger' ? 'change' : 'refuse'} what a run writes. Remove it with DROP ${type.toUpperCase()}, and run again.`,
    );
  }
}

/** True for an object that changes or refuses what others write to its table: a trigger, or a unique index. */
export function isIntrusive({ type, sql }: { readonly type: string; readonly sql: string }): boolean {
  return type === 'trigger' || (type === 'index' && /^CREATE UNIQUE/i.test(sql));
}
