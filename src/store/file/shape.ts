import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { packageFolder } from '../../version.ts';
import { applicationIds } from './file-kind.ts';

const migrationsFolder = join(packageFolder, 'migrations');

/** One step from a shape to the next, as drizzle-kit generated it. */
interface Migration {
  /** When it was generated, in milliseconds since 1970. A file that has it has all that are older. */
  readonly when: number;
  readonly statements: readonly string[];
  /** The SHA-256 of its text, as Drizzle notes it down. */
  readonly hash: string;
}

interface Journal {
  readonly entries: readonly { readonly when: number; readonly tag: string }[];
}

let journal: Journal | undefined;

/** What drizzle-kit says of the migrations, the oldest first. */
function readJournal(): Journal {
  journal ??= JSON.parse(readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8')) as Journal;
  return journal;
}

/** The shape that this docmirror writes, as it stands in a file's `user_version`: how many migrations there are. */
function currentShape(): number {
  return readJournal().entries.length;
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

/** How a mirror's tables stand to those that this docmirror knows. */
export type Shape = 'empty' | 'older' | 'current' | 'later';

/** Looks at the shape of a mirror; the connection may be in a transaction. */
export function shapeOf(sqlite: Database.Database): Shape {
  if (sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return 'empty';
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  // A share has no list of migrations: nothing in it is ever upgraded.
  if (isShare(sqlite) && version <= currentShape()) return version === currentShape() ? 'current' : 'older';
  const [newest] = readJournal().entries.slice(-1);
  const newestHere = newestMigrationOf(sqlite);
  const isLonger = newestHere > (newest?.when ?? 0) && countOfMigrations(sqlite) > currentShape();
  if (version > currentShape() || isLonger) return 'later';
  // An upgrade makes this table last. Others may have changed the header, the list of migrations or the table; hardly two of them.
  const signs = [isStamped(sqlite), newestHere === newest?.when, hasTable(sqlite, '_mirror')];
  return signs.filter(Boolean).length > 1 ? 'current' : 'older';
}

/** True if a database is a share. */
export function isShare(sqlite: Database.Database): boolean {
  return sqlite.pragma('application_id', { simple: true }) === applicationIds.share;
}

/** True where the file's header says what docmirror writes there. */
export function isStamped(sqlite: Database.Database): boolean {
  const hasId = sqlite.pragma('application_id', { simple: true }) === applicationIds.mirror;
  return hasId && sqlite.pragma('user_version', { simple: true }) === currentShape();
}

/** Says in the file's header whose it is, and which shape it has. */
export function stamp(sqlite: Database.Database): void {
  sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  sqlite.pragma(`user_version = ${currentShape()}`);
}

/** When the newest migration that a mirror has was generated, in milliseconds since 1970; 0 where it has none. */
export function newestMigrationOf(sqlite: Database.Database): number {
  if (!hasTable(sqlite, '__drizzle_migrations')) return 0;
  return Number(sqlite.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get() ?? 0);
}

function countOfMigrations(sqlite: Database.Database): number {
  return Number(sqlite.prepare('SELECT count(*) FROM __drizzle_migrations').pluck().get());
}

/** The docmirror whose shape a mirror has: that of its last upgrade, else that of its first run. */
export function versionOf(sqlite: Database.Database): string {
  const queries = hasTable(sqlite, 'docmirror_upgrades')
    ? [
        'SELECT version FROM docmirror_upgrades ORDER BY rowid DESC LIMIT 1',
        'SELECT docmirror_version FROM sync_runs ORDER BY id LIMIT 1',
      ]
    : [];
  for (const query of queries) {
    const version = sqlite.prepare(query).pluck().get();
    if (typeof version === 'string') return version;
  }
  return '0.1.0';
}

function hasTable(sqlite: Database.Database, name: string): boolean {
  return (
    sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
  );
}

/** What to say of a mirror that a later docmirror wrote. */
export function laterShape(path: string): string {
  return `${path} was made by a newer docmirror. Update docmirror to use it.`;
}
