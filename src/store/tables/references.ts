import type Database from 'better-sqlite3';
import { getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as schema from './schema.ts';

/** A row that refers to a row that does not exist. */
export interface BrokenReference {
  readonly table: string;
  readonly rowid: number | null;
  readonly parent: string;
}

/** Finds broken references in docmirror's tables. Tables of other programs can refer to records that were removed. */
export function brokenReferences(sqlite: Database.Database): IterableIterator<BrokenReference> {
  const own = Object.values(schema).flatMap(table => (is(table, SQLiteTable) ? [getTableName(table)] : []));
  return sqlite
    .prepare<[string], BrokenReference>(
      `SELECT broken."table", broken."rowid", broken.parent
       FROM sqlite_schema own JOIN pragma_foreign_key_check(own.name) broken
       WHERE own.type = 'table' AND own.name IN (SELECT value FROM json_each(?))`,
    )
    .iterate(JSON.stringify(own));
}
