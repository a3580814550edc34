import type Database from 'better-sqlite3';
import { MirrorAlteredError } from '../../errors.ts';
import type { MirrorFile } from '../file/open.ts';
import { openInMemory } from '../file/open-to-write.ts';

/** A table, an index, a view or a trigger that is not as docmirror makes it, or that another program made. */
interface OtherObject {
  readonly type: string;
  readonly name: string;
  /** Its table, in lower case because SQLite ignores case. */
  readonly table: string;
  /** The statement that creates it: docmirror's own, if it should be there. */
  readonly sql: string;
  /** `intrusive` is a trigger or a unique index on a table of docmirror: it changes or refuses what a run writes. */
  readonly state: 'missing' | 'changed' | 'intrusive' | 'foreign';
}

const parts = `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

/** The objects of a new mirror, as JSON; they do not change while docmirror runs. */
let own: string | undefined;

/** Compares a file's objects with those of a new mirror, and returns those that differ. */
export function compareObjects(sqlite: Database.Database): OtherObject[] {
  if (own === undefined) {
    using made = openInMemory();
    own = JSON.stringify(made.sqlite.prepare(parts).all());
  }
  return sqlite
    .prepare<[string], OtherObject>(
      `WITH found AS (${parts}), own AS (
         SELECT value ->> 'type' AS type, value ->> 'name' AS name, value ->> 'table' AS "table", value ->> 'sql' AS sql FROM json_each(?))
       SELECT own.*, iif(found.name IS NULL, 'missing', 'changed') AS state
       FROM own LEFT JOIN found USING (name) WHERE found.sql IS NOT own.sql
       UNION ALL
       SELECT *, iif("table" IN (SELECT name FROM own) AND (type = 'trigger' OR sql LIKE 'CREATE UNIQUE%'), 'intrusive', 'foreign')
       FROM found WHERE name NOT IN (SELECT name FROM own)`,
    )
    .all(own);
}

/** @throws MirrorAlteredError if another program put a trigger or a unique index on a table of docmirror. */
export function assertNothingIntrusive({ path, sqlite }: MirrorFile): void {
  const intrusive = compareObjects(sqlite).find(({ state }) => state === 'intrusive');
  if (intrusive === undefined) return;
  const { type, name, table } = intrusive;
  throw new MirrorAlteredError(
    `Another program added the ${type} ${name} on ${table} to ${path}, which can change or refuse what a run writes`,
    'Nothing was written',
    `Dropping it is enough: ${dropping(intrusive)}. "docmirror sync --rebuild" does that, too, and reads all lists again.`,
  );
}

/** Drops other programs' triggers and unique indexes on docmirror's tables, and makes docmirror's own views, indexes and triggers again. */
export function putObjectsRight(sqlite: Database.Database): void {
  for (const object of compareObjects(sqlite)) {
    const { type, sql, state } = object;
    if (state === 'intrusive' || (state === 'changed' && type !== 'table')) sqlite.exec(dropping(object));
    if ((state === 'missing' || state === 'changed') && type !== 'table') sqlite.exec(sql);
  }
}

function dropping({ type, name }: OtherObject): string {
  return `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}"`;
}
