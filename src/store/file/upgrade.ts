import Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import { version } from '../../version.ts';
import { writeUpgradeReceipt } from '../receipts/upgrade-receipt.ts';
import { completeMirror } from '../tables/initialise-mirror.ts';
import { fillNewColumns } from '../tables/new-columns.ts';
import { recomputeAll } from '../tables/recompute-contents.ts';
import { brokenReferences } from '../tables/references.ts';
import { createViews, viewNames } from '../tables/views.ts';
import { assertWhole } from './integrity-check.ts';
import { laterShape, migrationsAfter, newestMigrationOf, shapeOf, stamp, versionOf } from './shape.ts';
import { assertRoomToCopy, copyBeforeUpgrade } from './upgrade-copy.ts';

// All by hand: what makes tables, and what is found in a mirror of any shape.

/** Drizzle's own table, with Drizzle's columns. */
const drizzleTable = `
  DROP TABLE IF EXISTS __drizzle_migrations;
  CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
`;

const upgradesTable = `
  CREATE TABLE IF NOT EXISTS docmirror_upgrades (version TEXT NOT NULL, upgraded_at TEXT NOT NULL) STRICT;
`;

/** The result of an upgrade. */
export interface Upgrade {
  /** The version of docmirror that made the file, or upgraded it last. */
  readonly fromVersion: string;
  /** The path of the copy from before the upgrade. */
  readonly copy: string;
}

/**
 * Brings a mirror to the shape that this docmirror writes: creates the tables in an empty file; copies a mirror of an older shape
 * and then upgrades it. It is one transaction: if it is interrupted, the mirror is unchanged.
 *
 * The caller has the mirror's lock, and is in no transaction. Foreign keys are off: otherwise a migration that builds a table again
 * would remove the rows that refer to it.
 *
 * @returns null if there was nothing to upgrade.
 * @throws OtherShapeError if its shape is a later one.
 * @throws MirrorFileError if there is no room for the copy, or the mirror is damaged or has broken references; it is unchanged.
 */
export function bringUpToDate(sqlite: Database.Database, path: string): Upgrade | null {
  const shape = shapeOf(sqlite);
  if (shape === 'current') return null;
  if (shape === 'later') throw laterShape(path);
  if (shape === 'empty') {
    sqlite.transaction(() => reshape(sqlite, path, false)).immediate();
    return null;
  }
  assertCanUpgrade(sqlite, path);
  const fromVersion = versionOf(sqlite);
  const copy = copyBeforeUpgrade(sqlite, path, fromVersion);
  try {
    sqlite.transaction(() => reshape(sqlite, path, true)).immediate();
  } catch (error) {
    throw explainUpgrade(error, path);
  }
  return { fromVersion, copy };
}

/**
 * Makes sure that a mirror of an older shape can be upgraded; changes nothing.
 *
 * @throws MirrorFileError as `bringUpToDate` does.
 */
export function assertCanUpgrade(sqlite: Database.Database, path: string): void {
  assertRoomToCopy(sqlite, path);
  assertWhole({ sqlite, path });
  assertReferencesHold(sqlite, path);
}

/** If a statement fails on an older shape, another program has changed the tables. */
function explainUpgrade(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_ERROR') return error;
  const leftAlone = 'It was left as it is; restore it from a backup, or move it away and sync again.';
  return new MirrorFileError(
    `${path} can't be upgraded: its tables are not as docmirror made them (${error.message}). ${leftAlone}`,
    { cause: error },
  );
}

function reshape(sqlite: Database.Database, path: string, isUpgrade: boolean): void {
  const fromVersion = isUpgrade ? versionOf(sqlite) : '';
  const columnsBefore = columnsOf(sqlite);
  const otherViews = takeViewsAway(sqlite);
  const otherIndexes = plainIndexes(sqlite);
  for (const { statements } of migrationsAfter(newestMigrationOf(sqlite))) {
    for (const statement of statements) sqlite.exec(statement);
  }
  recordMigrations(sqlite);
  sqlite.exec(upgradesTable);
  createViews(sqlite);
  for (const view of otherViews) sqlite.exec(view);
  putBack(sqlite, otherIndexes);
  if (isUpgrade) {
    const upgradedAt = new Date().toISOString();
    fillNewColumns(sqlite, columnsBefore);
    recomputeAll(sqlite);
    sqlite.prepare('INSERT INTO docmirror_upgrades VALUES (?, ?)').run(version, upgradedAt);
    completeMirror(sqlite);
    writeUpgradeReceipt(sqlite, { docmirrorVersion: version, fromVersion, at: upgradedAt });
  } else completeMirror(sqlite);
  assertReferencesHold(sqlite, path);
  stamp(sqlite);
}

/** All indexes of users, by name: they are lost if their table is built again. */
function plainIndexes(sqlite: Database.Database): { readonly name: string; readonly sql: string }[] {
  return sqlite
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all();
}

/** Restores the indexes that a migration dropped, as far as their columns still exist. */
function putBack(sqlite: Database.Database, indexes: ReturnType<typeof plainIndexes>): void {
  const kept = new Set(plainIndexes(sqlite).map(({ name }) => name));
  for (const { name, sql } of indexes) {
    if (kept.has(name)) continue;
    try {
      sqlite.exec(sql);
    } catch (error) {
      if (!(error instanceof Database.SqliteError)) throw error;
    }
  }
}

/** Records which migrations the file has. */
function recordMigrations(sqlite: Database.Database): void {
  sqlite.exec(drizzleTable);
  const insert = sqlite.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  for (const { when, hash } of migrationsAfter(0)) insert.run(hash, when);
}

/** The columns of each table, by its name. */
function columnsOf(sqlite: Database.Database): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = sqlite
    .prepare<[], { tableName: string; columnName: string }>(
      `SELECT t.name AS tableName, c.name AS columnName
       FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c WHERE t.type = 'table'`,
    )
    .all();
  const columns = new Map<string, Set<string>>();
  for (const { tableName, columnName } of rows)
    columns.set(tableName, (columns.get(tableName) ?? new Set()).add(columnName));
  return columns;
}

/**
 * Drops all views, because they refer to tables that a migration builds again. Returns the statements of users' views, to create
 * them again.
 */
function takeViewsAway(sqlite: Database.Database): string[] {
  const views = sqlite
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'view'")
    .all();
  for (const { name } of views) sqlite.exec(`DROP VIEW "${name.replaceAll('"', '""')}"`);
  const own = viewNames();
  return views.filter(({ name }) => !own.includes(name)).map(({ sql }) => sql);
}

function assertReferencesHold(sqlite: Database.Database, path: string): void {
  const [broken] = brokenReferences(sqlite);
  if (broken === undefined) return;
  throw new MirrorFileError(
    `${path} can't be upgraded: a row of ${broken.table} refers to a row of ${broken.parent} that does not exist. ` +
      'It was left as it is; restore it from a backup, or move it away and sync again.',
  );
}
