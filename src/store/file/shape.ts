import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { OtherShapeError } from '../../errors.ts';
import { packageFolder } from '../../version.ts';
import { applicationIds, firstShape } from './file-kind.ts';

// All by hand: SQLite's own tables, and tables of a mirror of any shape.

const migrationsFolder = join(packageFolder, 'migrations');

/** One step from a shape to the next, as drizzle-kit generated it. */
interface Migration {
  /** When it was generated, in milliseconds since 1970. A file that has it has all older ones. */
  readonly when: number;
  readonly statements: readonly string[];
  /** The SHA-256 of its text, as Drizzle notes it down. */
  readonly hash: string;
}

interface Journal {
  readonly entries: readonly { readonly when: number; readonly tag: string }[];
}

let journal: Journal | undefined;

/** The migrations as drizzle-kit lists them, the oldest first. */
function readJournal(): Journal {
  journal ??= JSON.parse(readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8')) as Journal;
  return journal;
}

/**
 * The shape that this docmirror writes, as `user_version` in a file: the number of all migrations so far, of which 0.2 had five.
 */
function currentShape(): number {
  return firstShape - 1 + readJournal().entries.length;
}

/** The migrations that come after one that was generated at that time, the oldest first. */
export function migrationsAfter(when: number): Migration[] {
  return readJournal()
    .entries.filter(entry => entry.when > when)
    .map(entry => {
      const text = readFileSync(join(migrationsFolder, `${entry.tag}.sql`), 'utf8');
      return {
        when: entry.when,
        statements: text.split('--> statement-breakpoint'),
        hash: createHash('sha256').update(text).digest('hex'),
      };
    });
}

/** How the shape of a mirror's tables compares with the current one. */
export type Shape = 'empty' | 'older' | 'current' | 'later';

/** Finds the shape of a mirror; the connection can be in a transaction. */
export function shapeOf(sqlite: Database.Database): Shape {
  if (sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table'").get() === undefined) return 'empty';
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  if (version === currentShape()) return 'current';
  return version > currentShape() ? 'later' : 'older';
}

/** Writes into the file's header that it is a mirror, and which shape it has. */
export function stamp(sqlite: Database.Database): void {
  sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  sqlite.pragma(`user_version = ${currentShape()}`);
}

/** When the newest migration that a mirror has was generated, in milliseconds since 1970; 0 if it has none. */
export function newestMigrationOf(sqlite: Database.Database): number {
  if (shapeOf(sqlite) === 'empty') return 0;
  return Number(sqlite.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get() ?? 0);
}

/** The version of docmirror that upgraded a mirror last, or else of its first run. */
export function versionOf(sqlite: Database.Database): string {
  const version = sqlite
    .prepare<[], string>(
      `SELECT coalesce((SELECT version FROM docmirror_upgrades ORDER BY rowid DESC LIMIT 1),
         (SELECT docmirror_version FROM sync_runs ORDER BY id LIMIT 1), 'an older version')`,
    )
    .pluck()
    .get();
  return version as string;
}

/** The error for a mirror that a later docmirror wrote. */
export function laterShape(path: string): OtherShapeError {
  return new OtherShapeError(path, 'was made by a newer docmirror. Update docmirror to use it.');
}
