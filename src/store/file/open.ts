import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { MirrorFileError, UsageError } from '../../errors.ts';
import { upgradeToContents } from '../tables/recompute-contents.ts';
import * as schema from '../tables/schema.ts';
import { connectToRead } from './read-connection.ts';
import { explainSqliteError } from './sqlite-errors.ts';

/** A mirror's file, open. Bulk work goes through `sqlite`, everything else through `orm`; both are one connection. */
export interface MirrorFile {
  readonly path: string;
  readonly sqlite: Database.Database;
  readonly orm: BetterSQLite3Database<typeof schema>;
  close(): void;
}

const migrationsFolder = join(import.meta.dirname, '..', '..', '..', 'migrations');

/** When the migration to contents was generated, in milliseconds since 1970. */
const contentsSince = migrationTime('0002_contents');

/** How long a statement waits for another program's lock before it fails, in milliseconds. */
const busyTimeoutMs = 1_000;
const cacheKib = 16 * 1024;

/**
 * Opens a mirror to write: makes the file where there is none, and brings its tables up to date in one transaction.
 *
 * @throws UsageError where its folder does not exist.
 * @throws MirrorFileError where the file is no mirror, is damaged, or was made by a newer docmirror; it is left untouched.
 */
export function openForWriting(path: string): MirrorFile {
  assertIsMirrorOrNew(path);
  return opening(path, () => {
    const sqlite = new Database(path, { timeout: busyTimeoutMs });
    try {
      assertNotForeign(path, sqlite);
      setUp(sqlite);
      const orm = drizzle(sqlite, { schema });
      const applied = appliedMigration(sqlite);
      migrate(orm, { migrationsFolder });
      if (applied > 0 && applied < contentsSince) upgradeToContents(sqlite);
      return { path, sqlite, orm, close: () => sqlite.close() };
    } catch (error) {
      sqlite.close();
      throw error;
    }
  });
}

/** A mirror in memory that ends with its connection, for a run that must leave nothing behind. */
export function openInMemory(): MirrorFile {
  const sqlite = new Database(':memory:');
  sqlite.pragma('foreign_keys = ON');
  const orm = drizzle(sqlite, { schema });
  migrate(orm, { migrationsFolder });
  return { path: ':memory:', sqlite, orm, close: () => sqlite.close() };
}

/**
 * Opens a mirror to read; never makes a file.
 *
 * @throws MirrorFileError where there is no file, or it is no mirror, or its tables are of another version.
 */
export function openForReading(path: string): MirrorFile {
  if (!existsSync(path)) {
    throw new MirrorFileError(
      `There is no mirror at ${path} yet. Make it with "docmirror sync", or name it with --database.`,
    );
  }
  assertIsMirrorOrNew(path);
  return opening(path, () => {
    const { sqlite, close } = connectToRead(path, busyTimeoutMs * 10);
    try {
      sqlite.pragma('query_only = ON');
      assertNotForeign(path, sqlite);
      if (sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) {
        throw new MirrorFileError(`${path} is empty. Fill it with "docmirror sync".`);
      }
      if (appliedMigration(sqlite) < newestMigration()) {
        throw new MirrorFileError(
          `${path} was made by an older docmirror. Run "docmirror sync" once; it brings the file up to date.`,
        );
      }
      sqlite.pragma(`cache_size = -${cacheKib}`);
      return { path, sqlite, orm: drizzle(sqlite, { schema }), close };
    } catch (error) {
      close();
      throw error;
    }
  });
}

/**
 * Refuses, before anything is opened or made beside it, a path that can't become or be a mirror.
 *
 * @throws UsageError where its folder does not exist, or it is a folder itself.
 * @throws MirrorFileError where the file is not an SQLite database.
 */
export function assertIsMirrorOrNew(path: string): void {
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) {
    throw new UsageError(
      `DOCMIRROR_DATABASE: the folder ${folder} does not exist. Make it, or name another file.`,
    );
  }
  if (!existsSync(path)) return;
  if (statSync(path).isDirectory()) {
    throw new UsageError(`DOCMIRROR_DATABASE: ${path} is a folder. Name a file in it.`);
  }
  const header = opening(path, () => readHeader(path));
  if (header !== '' && header !== sqliteHeader) {
    throw new MirrorFileError(
      `${path} is not an SQLite database. It was left as it is; name another file for the mirror.`,
    );
  }
}

const sqliteHeader = 'SQLite format 3\0';

/** True where a file begins as an SQLite database does. */
export function hasSqliteHeader(path: string): boolean {
  return opening(path, () => readHeader(path)) === sqliteHeader;
}

function readHeader(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(16);
    return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

function assertNotForeign(path: string, sqlite: Database.Database): void {
  const tables = sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  if (tables.length > 0 && !tables.includes('__drizzle_migrations')) {
    throw new MirrorFileError(
      `${path} is an SQLite database of another program. It was left as it is; name another file for the mirror.`,
    );
  }
  if (appliedMigration(sqlite) > newestMigration()) {
    throw new MirrorFileError(`${path} was made by a newer docmirror. Update docmirror to use it.`);
  }
}

/** When the newest migration that the file has was generated, in milliseconds since 1970; 0 where it has none. */
function appliedMigration(sqlite: Database.Database): number {
  const exists = sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get();
  if (exists === undefined) return 0;
  const newest = sqlite.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get();
  return Number(newest ?? 0);
}

function newestMigration(): number {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8'),
  );
  return Math.max(...journal.entries.map(entry => entry.when));
}

function migrationTime(tag: string): number {
  const journal: { entries: { when: number; tag: string }[] } = JSON.parse(
    readFileSync(join(migrationsFolder, 'meta', '_journal.json'), 'utf8'),
  );
  return journal.entries.find(entry => entry.tag === tag)?.when ?? 0;
}

function setUp(sqlite: Database.Database): void {
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma(`cache_size = -${cacheKib}`);
}

function opening<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}
