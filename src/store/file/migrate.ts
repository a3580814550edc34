import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import { codeOf, MirrorFileError } from '../../errors.ts';
import { version } from '../../version.ts';
import { keptNow } from '../receipts/pruned.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { currentStates } from '../receipts/run-receipt.ts';
import { completeMirror } from '../tables/initialise-mirror.ts';
import { registerInstant } from '../tables/list-table.ts';
import { orm } from '../tables/orm.ts';
import { createViews } from '../tables/views.ts';
import {
  makePrivateFile,
  putInPlace,
  removeLeftovers,
  removeUnfinished,
  unfinishedPath,
} from './atomic-file.ts';
import { applicationIds } from './mirror-path.ts';
import { currentShape, laterShape, migrations, migrationsFolder, shapeOf, versionOf } from './open.ts';
import { assertWhole, explaining } from './sqlite-errors.ts';

/**
 * Brings a mirror to the shape that this docmirror writes. It makes the tables in an empty file; an older mirror is copied beside
 * itself first. Drizzle's migrator has a transaction of its own, and everything else is a second one. If the process is killed
 * between them, `user_version` is still the old one, and the next call does the second again.
 *
 * The caller has the mirror's lock, and is in no transaction. Foreign keys are off: otherwise a migration that builds a table again
 * would remove the rows that refer to it.
 *
 * @throws OtherShapeError if its shape is a later one.
 * @throws MirrorFileError if there is no room for the copy, or the mirror is damaged or altered; it is unchanged.
 */
export function bringUpToDate(sqlite: Database.Database, path: string): void {
  const shape = shapeOf(sqlite);
  if (shape === 'later') throw laterShape(path);
  if (shape === 'current') return;
  if (shape === 'older') {
    assertWhole(path, sqlite);
    const newest = sqlite
      .prepare<[], number | null>('SELECT max(created_at) FROM __drizzle_migrations')
      .pluck()
      .get();
    // A run that was killed while it made the mirror, or brought it up to date, leaves nothing to copy.
    if (newest !== null && newest !== migrations.at(-1)) copyFirst(sqlite, path);
  }
  try {
    migrateTables(sqlite);
    sqlite.transaction(() => complete(sqlite)).immediate();
  } catch (error) {
    const cause = error instanceof Error && codeOf(error) === undefined ? error.cause : error;
    if (codeOf(cause) !== 'SQLITE_ERROR') throw error;
    throw new MirrorFileError(
      `${path} can't be brought up to date: its tables are not as docmirror made them (${(cause as Error).message}). Restore it from a backup, or move it away and sync again.`,
      { cause },
    );
  }
}

/** Copies a mirror to `<mirror>.before-<version>`, a complete database that only its owner can read. */
function copyFirst(sqlite: Database.Database, path: string): void {
  const name = `${path}.before-${versionOf(sqlite).replaceAll(/[^\w.+-]/g, '_')}`;
  let copy = name;
  for (let n = 2; existsSync(copy); n++) copy = `${name}-${n}`;
  removeLeftovers(dirname(resolve(path)));
  const unfinished = unfinishedPath(path);
  explaining(copy, () => {
    try {
      makePrivateFile(unfinished);
      sqlite.prepare('VACUUM INTO ?').run(unfinished);
      putInPlace(unfinished, copy);
    } finally {
      removeUnfinished(unfinished);
    }
  });
}

function migrateTables(sqlite: Database.Database): void {
  // As the mirrors of 0.3.0 have it, so that all mirrors have the same tables.
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)',
  );
  // A migration can build a table again that views read.
  sqlite.pragma('legacy_alter_table = ON');
  migrate(orm(sqlite), { migrationsFolder });
  sqlite.pragma('legacy_alter_table = OFF');
}

/** Everything that is not in the migrations: views, triggers, times as numbers, and for an older mirror its receipt. */
function complete(sqlite: Database.Database): void {
  createViews(sqlite);
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
  sqlite.exec('DELETE FROM _pages; DELETE FROM _list_states');
  sqlite.prepare('INSERT INTO docmirror_upgrades VALUES (?, ?)').run(version, at);
  const log = new ReceiptLog(sqlite);
  log.append({
    kind: 'upgrade',
    mirrorId: log.mirrorId(),
    docmirrorVersion: version,
    fromVersion,
    at,
    lists: currentStates(sqlite),
    kept: keptNow(sqlite),
  });
}
