import type Database from 'better-sqlite3';
import { MirrorAlteredError } from '../../errors.ts';
import type { MirrorFile } from './open.ts';
import { openInMemory } from './open-to-write.ts';

/** A table, an index, a view or a trigger. */
interface SchemaPart {
  readonly type: string;
  readonly name: string;
  /** The name of its table, in lower case because SQLite ignores case. */
  readonly table: string;
  /** The statement that creates it. */
  readonly sql: string;
}

/** All objects of a file except SQLite's own, by their names. */
function schemaParts(sqlite: Database.Database): Map<string, SchemaPart> {
  const parts = sqlite.prepare<[], SchemaPart>(
    `SELECT type, name, lower(tbl_name) AS "table", sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  );
  return new Map(parts.all().map(part => [part.name, part]));
}

let fresh: ReadonlyMap<string, SchemaPart> | undefined;

/** The objects of a new mirror; they do not change while docmirror runs. */
function ownObjects(): ReadonlyMap<string, SchemaPart> {
  if (fresh !== undefined) return fresh;
  using made = openInMemory();
  fresh = schemaParts(made.sqlite);
  return fresh;
}

/** Compares a file's tables, indexes, views and triggers with those of a new mirror. */
export function compareObjects(sqlite: Database.Database) {
  const [own, found] = [ownObjects(), schemaParts(sqlite)];
  const foreign = [...found.values()].filter(({ name }) => !own.has(name));
  const isIntrusive = ({ type, table, sql }: SchemaPart) =>
    own.has(table) && (type === 'trigger' || (type === 'index' && /^CREATE UNIQUE/i.test(sql)));
  return {
    /** docmirror's own objects that are missing or changed, as they should be. */
    wrong: [...own.values()]
      .filter(({ name, sql }) => found.get(name)?.sql !== sql)
      .map(part => ({ ...part, isMissing: !found.has(part.name) })),
    /** Triggers and unique indexes of other programs on docmirror's tables: they change or refuse what a run writes. */
    intrusive: foreign.filter(isIntrusive),
    /** All other objects of other programs, which docmirror leaves alone. */
    others: foreign.filter(part => !isIntrusive(part)),
  };
}

/** @throws MirrorAlteredError if another program put a trigger or a unique index on a table of docmirror. */
export function assertNothingIntrusive({ path, sqlite }: MirrorFile): void {
  const { wrong, intrusive } = compareObjects(sqlite);
  // SQLite's own error names a missing table.
  for (const { type, name } of wrong) if (type === 'table') sqlite.prepare(`SELECT 1 FROM "${name}"`);
  const [first] = intrusive;
  if (first === undefined) return;
  const { type, name, table } = first;
  throw new MirrorAlteredError(
    `Another program added the ${type} ${name} on ${table} to ${path}, which can change or refuse what a run writes`,
    'Nothing was written',
    `Dropping it is enough: ${dropping(first)}. "docmirror sync --rebuild" does that, too, and reads all lists again.`,
  );
}

/** Drops other programs' triggers and unique indexes on docmirror's tables, and makes docmirror's own views, indexes and triggers again. */
export function putObjectsRight(sqlite: Database.Database): void {
  const { wrong, intrusive } = compareObjects(sqlite);
  for (const part of intrusive) sqlite.exec(dropping(part));
  for (const part of wrong.filter(({ type }) => type !== 'table'))
    sqlite.exec(part.isMissing ? part.sql : `${dropping(part)}; ${part.sql}`);
}

function dropping({ type, name }: SchemaPart): string {
  return `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}"`;
}
