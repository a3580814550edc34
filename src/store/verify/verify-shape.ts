import type Database from 'better-sqlite3';
import { openInMemory } from '../file/open-to-write.ts';
import { type SchemaPart, schemaParts } from '../file/schema-parts.ts';
import { isStamped } from '../file/shape.ts';
import type { Differences } from './differences.ts';

/** Holds tables, columns, indexes, views and triggers against those of a mirror that is made fresh. */
export function verifyShape(sqlite: Database.Database, differences: Differences): void {
  fresh ??= readFresh();
  if (!isStamped(sqlite))
    differences.add(
      null,
      null,
      'the header does not say that it is a mirror of this shape',
      'record of runs',
    );
  const wanted = new Map(fresh.parts.map(part => [part.name, part]));
  for (const { type, name, sql } of schemaParts(sqlite)) {
    const should = wanted.get(name);
    wanted.delete(name);
    if (should === undefined) differences.add(name, null, `docmirror makes no such ${type}`, 'content');
    else if (should.sql !== sql) {
      differences.add(name, null, `the ${type} is not as docmirror makes it`, 'content');
    }
  }
  for (const { type, name } of wanted.values())
    differences.add(name, null, `the ${type} is missing`, 'content');
  const migrations = migrationsOf(sqlite);
  // That the table is missing was said.
  if (migrations !== null && migrations !== fresh.migrations) {
    differences.add('__drizzle_migrations', null, 'the changes of shape it lists are not those of docmirror');
  }
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
