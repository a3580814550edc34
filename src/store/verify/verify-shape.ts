import type Database from 'better-sqlite3';
import { openInMemory } from '../file/open-to-write.ts';
import { compareObjects } from '../file/own-objects.ts';
import type { Differences } from './differences.ts';

/** A table, view, index or trigger that docmirror did not make. */
export interface OtherObject {
  readonly type: string;
  readonly name: string;
}

/**
 * Reports each object of docmirror's that is gone or changed, and each object of others that changes or refuses what runs write.
 *
 * @returns the objects of others that are no difference.
 */
export function verifyShape(sqlite: Database.Database, differences: Differences): OtherObject[] {
  const { wrong, intrusive, others } = compareObjects(sqlite);
  for (const { type, name, table } of intrusive)
    differences.add(name, null, `docmirror did not make this ${type} on ${table}`, 'content');
  for (const { type, name, isMissing } of wrong)
    differences.add(
      name,
      null,
      isMissing ? `the ${type} is missing` : `the ${type} is not as docmirror makes it`,
      'content',
    );
  const migrations = migrationsOf(sqlite);
  freshMigrations ??= readFreshMigrations();
  if (migrations !== null && migrations !== freshMigrations)
    differences.add('__drizzle_migrations', null, 'the changes of shape it lists are not those of docmirror');
  return others.map(({ type, name }) => ({ type, name }));
}

let freshMigrations: string | null | undefined;

function readFreshMigrations(): string | null {
  using made = openInMemory();
  return migrationsOf(made.sqlite);
}

/** The migrations that a file lists, as a text; null if it has no list of them. That is reported as a missing table. */
function migrationsOf(sqlite: Database.Database): string | null {
  // By hand: SQLite's own table.
  if (sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'").get() === undefined)
    return null;
  // By hand: Drizzle's own table, which is not in the schema.
  const migrations = `SELECT id, hash, created_at, typeof(hash), typeof(created_at) FROM __drizzle_migrations
    ORDER BY created_at, hash`;
  return JSON.stringify(sqlite.prepare(migrations).raw().all());
}
