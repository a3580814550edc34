import { chmodSync } from 'node:fs';
import { lists } from '../../contract/lists.ts';
import { OtherShapeError } from '../../errors.ts';
import { version } from '../../version.ts';
import { mergeRejected } from '../receipts/deleted-rejected.ts';
import { appendRestore } from '../receipts/left-behind.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { acceptedNow } from '../receipts/statements.ts';
import { firstRow, firstValue, type Sqlite } from '../tables/ask.ts';
import { noteAllReturns } from '../tables/ever.ts';
import { completeMirror } from '../tables/views.ts';
import { readRestored } from './beside.ts';
import {
  applicationIds,
  assertNotLater,
  busyTimeoutMs,
  connect,
  currentShape,
  isYetToMake,
  type MirrorFile,
  migrations,
  mirrorToWrite,
  shapeAge,
  versionOf,
} from './open.ts';
import { makePrivateFile, privateFileMode } from './rights.ts';
import { assertWhole, explaining } from './sqlite-errors.ts';
import { DatabaseCopy } from './whole-file.ts';

/**
 * Opens a mirror to write. It creates a missing file, and brings an older mirror up to date. The caller must have the mirror's lock. Throws
 * a MirrorFileError, or a RefusedFileError or UsageError for a file that is no mirror or of a newer docmirror, which is left as it is.
 */
export function openForWriting(path: string): MirrorFile {
  const file = mirrorToWrite(path);
  return explaining(file, () => {
    if (isYetToMake(file)) {
      makePrivateFile(file);
      // Another program can have made the empty file with another mode.
      chmodSync(file, privateFileMode);
    }
    let copyOfBefore: string | null = null;
    const opened = connect(file, { timeout: busyTimeoutMs }, sqlite => {
      copyOfBefore = bringUpToDate(sqlite, file);
    });
    return { ...opened, copyOfBefore };
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
 * Brings a mirror to the shape that this docmirror writes, and returns the path of the copy of an older one; null if there was none. 0.5
 * did it in two transactions: if it was killed between them, `user_version` is still the old one, and this call ends it.
 */
function bringUpToDate(sqlite: Sqlite, path: string): string | null {
  assertNotLater(sqlite, path);
  const shape = shapeAge(sqlite);
  if (shape === 'none') {
    // Only a file without tables takes this setting: pruning can then give free pages back to the disk.
    sqlite.pragma('auto_vacuum = INCREMENTAL');
    // This comes before the log exists, so the id is in the file itself even if this process is killed.
    sqlite.pragma(`application_id = ${applicationIds.mirror}`);
  }
  sqlite.pragma('journal_mode = WAL');
  const copy = shape === 'older' ? `${path}.before-${versionOf(sqlite).replaceAll(/[^\w.+-]/g, '_')}` : '';
  if (shape === 'older') {
    assertWhole(path, sqlite);
    // If a run of 0.5 was killed while it brought the mirror up to date, it had made the copy.
    if (newestMigration(sqlite) !== migrations.at(-1)?.folderMillis) {
      using before = new DatabaseCopy(copy);
      before.fill(sqlite);
      before.putInPlace();
    }
  }
  sqlite.pragma('synchronous = FULL');
  // A text that is replaced or pruned must not stay in the free part of a page.
  sqlite.pragma('secure_delete = ON');
  if (shape === 'current') {
    if (newestMigration(sqlite) === migrations.at(-1)?.folderMillis) return null;
    throw new OtherShapeError(path, 'was made by an unreleased docmirror. Use another file.');
  }
  // A migration can build a table again that views read.
  sqlite.pragma('legacy_alter_table = ON');
  const pending = readRestored(path)?.restore ?? null;
  sqlite.transaction(() => complete(sqlite, pending)).immediate();
  sqlite.pragma('legacy_alter_table = OFF');
  return shape === 'older' ? copy : null;
}

/** The migrations that a mirror has not seen yet, noted as Drizzle does, then views, triggers, and for an older mirror its receipts. */
function complete(sqlite: Sqlite, pendingRestore: string | null): void {
  sqlite.exec(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)',
  );
  const seen = newestMigration(sqlite) ?? 0;
  const note = sqlite.prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)');
  for (const { sql, hash, folderMillis } of migrations.filter(each => each.folderMillis > seen)) {
    for (const statement of sql) sqlite.exec(statement);
    note.run(hash, folderMillis);
  }
  completeMirror(sqlite);
  sqlite.pragma(`user_version = ${currentShape}`);
  if (firstRow(sqlite, 'SELECT 1 FROM sync_runs') === undefined) return;
  for (const { resource } of lists) noteAllReturns(sqlite, resource);
  // An older version remembered other things of the lists. The next sync is a full one.
  sqlite.exec('DELETE FROM _list_states; DELETE FROM _known_pages');
  appendRestore(sqlite, pendingRestore);
  const log = new ReceiptLog(sqlite);
  const about = { mirrorId: log.mirrorId(), at: new Date().toISOString() };
  const versions = { fromVersion: versionOf(sqlite), docmirrorVersion: version };
  const rejected = mergeRejected(sqlite);
  const deleted = rejected.length > 0 && { rejected };
  log.append({ kind: 'upgrade', ...about, ...versions, ...acceptedNow(sqlite), ...deleted });
}

/** When the newest migration of a mirror was generated, in milliseconds since 1970; null if it has seen none. */
function newestMigration(sqlite: Sqlite): number | null {
  return firstValue(sqlite, 'SELECT max(created_at) FROM __drizzle_migrations');
}
