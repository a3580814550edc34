import type Database from 'better-sqlite3';
import { openInMemory } from '../file/open-to-write.ts';
import { type SchemaPart, schemaParts } from '../file/schema-parts.ts';
import { isIntrusive } from '../file/whole.ts';
import type { Differences } from './differences.ts';

/** A table, view, index or trigger that docmirror did not make. */
export interface OtherObject {
  readonly type: string;
  readonly name: string;
}

/**
 * Compares tables, indexes, views and triggers with those of a mirror that was just made. Objects of others are left alone; a
 * trigger or a unique index on a table of docmirror's is a difference, because it changes or refuses what a run writes.
 *
 * @returns the objects of others that are no difference.
 */
export function verifyShape(sqlite: Database.Database, differences: Differences): OtherObject[] {
  fresh ??= readFresh();
  const wanted = new Map(fresh.parts.map(part => [part.name, part]));
  const ownTables = new Set(fresh.parts.map(({ table }) => table));
  const others: OtherObject[] = [];
  for (const part of schemaParts(sqlite)) {
    const { type, name, table, sql } = part;
    const should = wanted.get(name);
    wanted.delete(name);
    if (should !== undefined) {
      if (should.sql !== sql)
        differences.add(name, null, `the ${type} is not as docmirror makes it`, 'content');
    } else if (isIntrusive(part) && ownTables.has(table)) {
      differences.add(name, null, `docmirror makes no such ${type} on ${table}`, 'content');
    } else others.push({ type, name });
  }
  for (const { type, name } of wanted.values())
    differences.add(name, null, `the ${type} is missing`, 'content');
  const migrations = migrationsOf(sqlite);
  // A missing table was named above.
  if (migrations !== null && migrations !== fresh.migrations) {
    differences.add('__drizzle_migrations', null, 'the changes of shape it lists are not those of docmirror');
  }
  return others;
}

/** How a mirror is that was made just now; that does not change while docmirror runs. */
let fresh: { readonly parts: readonly SchemaPart[]; readonly migrations: string | null } | undefined;

function readFresh() {
  using made = openInMemory();
  return { parts: schemaParts(made.sqlite), migrations: migrationsOf(made.sqlite) };
}

/** Which migrations a file lists, as a text; null where it has no list of them. */
function migrationsOf(sqlite: Database.Database): string | null {
  if (!schemaParts(sqlite).some(({ name }) => name === '__drizzle_migrations')) return null;
  const migrations = `SELECT id, hash, created_at, typeof(hash), typeof(created_at) FROM __drizzle_migrations
    ORDER BY created_at, hash`;
  return JSON.stringify(sqlite.prepare(migrations).raw().all());
}
