import { chmodSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { MirrorAlteredError } from '../../errors.ts';
import { version } from '../../version.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { acceptedNow } from '../receipts/statements.ts';
import { registerInstant } from '../tables/list-table.ts';
import { completeMirror } from '../tables/views.ts';
import { DatabaseCopy, makePrivateFile, privateFileMode } from './atomic-file.ts';
import {
  applicationIds,
  assertNotLater,
  busyTimeoutMs,
  connect,
  currentShape,
  isYetToMake,
  type MirrorFile,
  migrations,
  migrationsFolder,
  mirrorToWrite,
  shapeOf,
  versionOf,
} from './open.ts';
import { assertWhole, explaining } from './sqlite-errors.ts';

/**
 * Opens a mirror to write. It creates a missing file, and brings an older mirror up to date. The caller must have the mirror's lock.
 *
 * @throws UsageError, RefusedFileError if the file can be no mirror, or a newer docmirror made it; it is left as it is.
 * @throws MirrorFileError if it is damaged, or can't be written.
 */
export function openForWriting(path: string): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => {
    if (isYetToMake(file)) {
      makePrivateFile(file);
      // Another program can have made the empty file with another mode.
      chmodSync(file, privateFileMode);
    }
    return connect(file, { timeout: busyTimeoutMs }, sqlite => bringUpToDate(sqlite, file));
  });
}

/** Copies an open mirror, for a run whose result ends with the copy: it is removed when it is closed. */
export function openCopy({ path, sqlite }: MirrorFile): MirrorFile {
  return explaining(path, () => {
    using opening = new DisposableStack();
    const copy = opening.use(new DatabaseCopy(path));
    copy.fill(sqlite);
    const file = opening.use(connect(copy.unfinished, {}, copied => copied.pragma('synchronous = OFF')));
    const both = opening.move();
    const close = () => both.dispose();
    return { ...file, path, close, [Symbol.dispose]: close };
  });
}

/** A mirror in memory that ends with its connection, for a run that must leave no file. */
export function openInMemory(): MirrorFile {
  return connect(':memory:', {}, sqlite => bringUpToDate(sqlite, ':memory:'));
}

/**
 * Brings a mirror to the shape that this docmirror writes. An older one is copied beside itself first. Drizzle's migrator has a
 * transaction of its own, and everything else is a second one. If the process is killed between them, `user_version` is still the old
 * one, and the next call does the second again.
 */
function bringUpToDate(sqlite: Database.Database, path: string): void {
  assertNotLater(sqlite, path);
  const shape = shapeOf(sqlite);
  if (shape === 'none') {
    // Only a file without tables takes this setting: pruning can then give free pages back to the disk.
    sqlite.pragma('auto_vacuum = INCREMENTAL');
    // This comes before the log exists, so the id is in the file itself even if this process is killed.
    sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  }
  sqlite.pragma('journal_mode = WAL');
  if (shape === 'older') {
    assertWhole(path, sqlite);
    const newest = 'SELECT max(created_at) FROM __drizzle_migrations';
    // If a run was killed while it brought the mirror up to date, it had made the copy.
    if (sqlite.prepare(newest).pluck().get() !== migrations.at(-1)) copyFirst(sqlite, path);
  }
  sqlite.pragma('synchronous = FULL');
  if (shape === 'current') return;
  // As the mirrors of 0.3.0 have it, so that all mirrors have the same tables.
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)',
  );
  // A migration can build a table again that views read.
  sqlite.pragma('legacy_alter_table = ON');
  migrate(drizzle({ client: sqlite }), { migrationsFolder });
  sqlite.pragma('legacy_alter_table = OFF');
  sqlite.transaction(() => complete(sqlite)).immediate();
}

/** Copies a mirror to `<mirror>.before-<version>`, which only its owner can read. An earlier copy of that name is replaced. */
function copyFirst(sqlite: Database.Database, path: string): void {
  using copy = new DatabaseCopy(`${path}.before-${versionOf(sqlite).replaceAll(/[^\w.+-]/g, '_')}`);
  explaining(copy.path, () => copy.fill(sqlite));
  copy.putInPlace();
}

/** Everything that is not in the migrations: views, triggers, times as numbers, and for an older mirror its receipt. */
function complete(sqlite: Database.Database): void {
  completeMirror(sqlite);
  registerInstant(sqlite);
  sqlite.exec(`CREATE TABLE IF NOT EXISTS docmirror_upgrades (version TEXT NOT NULL, upgraded_at TEXT NOT NULL) STRICT;
    UPDATE document_exports SET exported_at_ms = instant_ms(exported_at) WHERE exported_at_ms IS NULL`);
  if (sqlite.prepare('SELECT 1 FROM sync_runs').get() !== undefined) noteUpgrade(sqlite);
  sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  sqlite.pragma(`user_version = ${currentShape}`);
}

function noteUpgrade(sqlite: Database.Database): void {
  const [fromVersion, at] = [versionOf(sqlite), new Date().toISOString()];
  // An older version remembered other things of the lists. The next sync is a full one.
  sqlite.exec('DELETE FROM _list_states');
  sqlite.prepare('INSERT INTO docmirror_upgrades VALUES (?, ?)').run(version, at);
  const log = new ReceiptLog(sqlite);
  const mirrorId = log.mirrorId();
  log.append({
    kind: 'upgrade',
    mirrorId,
    docmirrorVersion: version,
    fromVersion,
    at,
    ...acceptedNow(sqlite),
  });
}

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
