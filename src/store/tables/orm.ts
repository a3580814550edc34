import type Database from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';

const known = new WeakMap<Database.Database, BetterSQLite3Database>();

/** Drizzle on an open connection, for statements that run a few times in a command. What runs for each record is SQL text. */
export function orm(sqlite: Database.Database): BetterSQLite3Database {
  const made = known.get(sqlite) ?? drizzle({ client: sqlite });
  known.set(sqlite, made);
  return made;
}
