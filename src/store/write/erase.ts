import type Database from 'better-sqlite3';
import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { type EraseReceipt, receiptOrNull } from '../../audit/receipt.ts';
import type { keptResources } from '../../contract/lists.ts';
import { contentOfJson } from '../../contract/record-content.ts';
import type { ReceiptHead } from '../../contract/run.ts';
import { MirrorAlteredError, MirrorFileError } from '../../errors.ts';
import { lockPath, MirrorLock } from '../file/lock-file.ts';
import { mirrorToWrite } from '../file/mirror-path.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { openForWriting } from '../file/open-to-write.ts';
import { explaining } from '../file/sqlite-errors.ts';
import { ChangesOfRuns } from '../receipts/changes-of-runs.ts';
import { ErasedHashes } from '../receipts/erased.ts';
import { lastRunBefore } from '../receipts/pruned.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { firstValue } from '../tables/query.ts';
import { tryToRead } from '../tables/readable.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { documentExports, recordHistory, rejectedRecords, syncReceipts } from '../tables/schema.ts';
import { hexOf, prepare, prepareValue, select, words } from '../tables/statement.ts';

/** The record whose text must be erased, and the user who requests it. */
export interface EraseOrder {
  readonly resource: EraseReceipt['resource'];
  readonly recordId: number;
  readonly actor: string;
  /** The current time, ISO 8601 in UTC. */
  readonly at: string;
}

/** The result of erasing a record. */
export interface Erased {
  /** Ended versions that lost their text. */
  readonly versions: number;
  /** Rejected records that lost their text. */
  readonly rejectedRecords: number;
  /** True if the service still lists the record, so that its current version stays. */
  readonly isListed: boolean;
  /** The newest receipt's place in the log; null if there was nothing to erase. */
  readonly receipt: ReceiptHead | null;
}

interface Version {
  readonly id: number;
  readonly runId: number;
  readonly record: string;
  readonly content: string;
}

/**
 * Removes the text of a record's ended versions and of its rejected records permanently, and writes receipts of it. The contents of
 * the versions stay, so that the receipts of the runs remain valid.
 *
 * The file is built again before, because SQLite leaves old text in free pages, and afterwards, because building it again copies text of
 * pages that were read before. If the process is killed, the next run folds the log back. It also compares every row with the receipts,
 * because the file is not as a run left it. The function has the mirror's lock until it ends.
 *
 * @throws MirrorBusyError if a run is using the mirror.
 * @throws MirrorFileError if the mirror never had the record, or if another program reads the mirror, so that old text can't be
 *   removed from its files yet.
 * @throws MirrorAlteredError if a version is not what its receipt says: evidence is not erased.
 */
export function erase(path: string, order: EraseOrder): Erased {
  const place = mirrorToWrite(path);
  // If there is no mirror, opening it for writing would create one.
  openMirrorForReading(place).close();
  const lock = MirrorLock.take(lockPath(place));
  try {
    return explaining(place, () => {
      inFile(place, file => {
        // A refused order must leave the file as it was.
        findTexts(file, order);
        rebuildFile(file);
      });
      const done = inFile(place, file => {
        file.sqlite.pragma('secure_delete = ON');
        return file.sqlite.transaction(() => eraseIn(file, order)).immediate();
      });
      inFile(place, file => {
        rebuildFile(file);
        foldBack(file);
      });
      return done;
    });
  } finally {
    lock.release();
  }
}

/** Leaves no old text in free pages. */
function rebuildFile({ sqlite }: MirrorFile): void {
  // By hand: Drizzle has no VACUUM.
  sqlite.exec('VACUUM');
}

/** Does a part of the work over a connection of its own: a connection can copy text of pages that it has read into new ones. */
function inFile<T>(place: string, work: (file: MirrorFile) => T): T {
  using file = openForWriting(place);
  return work(file);
}

/** @throws MirrorFileError if another program still reads the log, in which the text is. */
function foldBack({ path, sqlite }: MirrorFile): void {
  const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
  if (busy !== 0) throw stillRead(path);
}

function stillRead(path: string): MirrorFileError {
  return new MirrorFileError(
    `The text was erased, but another program reads ${path}, so older copies of the text are still in its files. Run "docmirror erase" again when the other program is done.`,
    { code: 'database_locked' },
  );
}

type Resource = (typeof keptResources)[number];

/** The texts to erase. */
interface Texts {
  readonly isListed: boolean;
  readonly versions: readonly Version[];
  /** Ids of rejected records. */
  readonly rejected: readonly number[];
}

/** @throws MirrorFileError, MirrorAlteredError as `erase` does. */
function findTexts({ path, sqlite }: MirrorFile, order: EraseOrder): Texts {
  const { resource, recordId } = order;
  if (resource === 'rejected-records') {
    const text = (id: number) =>
      select({ record: rejectedRecords.record }).from(rejectedRecords).where(eq(rejectedRecords.id, id));
    const record = firstValue(sqlite, text, recordId);
    if (record === undefined) throw new MirrorFileError(`${path} has no ${resource} ${recordId}.`);
    return { isListed: false, versions: [], rejected: record === null ? [] : [recordId] };
  }
  const rows = rowsTable(resource);
  const listed = (id: number) => select({ id: rows.id }).from(rows).where(eq(rows.id, id));
  const isListed = firstValue(sqlite, listed, recordId) !== undefined;
  const known = (of: string, id: number) =>
    select({ id: recordHistory.id }).from(recordHistory).where(isOf(of, id)).limit(1);
  const versions = versionsOf(sqlite, resource, recordId);
  const rejected = rejectedOf(sqlite, resource, recordId, versions);
  if (!isListed && rejected.length === 0 && firstValue(sqlite, known, resource, recordId) === undefined)
    throw new MirrorFileError(`${path} has no ${resource} ${recordId}, and never had.`);
  const changes = new ChangesOfRuns(sqlite, resource);
  // A rebuild accepted the history of earlier runs as it was.
  const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
  for (const runId of runIdsOf(versions))
    if (runId > rebuiltAfter) assertAsReceipted(path, sqlite, changes, resource, runId);
  for (const { record, content } of versions) {
    const read = tryToRead(() => contentOfJson(resource, record));
    if (!('value' in read) || read.value !== content) throw altered(path, resource);
  }
  return { isListed, versions, rejected };
}

/** Erases the texts, with a receipt for the versions and one for each rejected record. */
function eraseIn(file: MirrorFile, order: EraseOrder): Erased {
  const { sqlite } = file;
  const { resource, recordId, actor, at } = order;
  const { isListed, versions, rejected } = findTexts(file, order);
  const counts = { versions: versions.length, rejectedRecords: rejected.length, isListed };
  if (versions.length + rejected.length === 0) return { ...counts, receipt: null };
  const log = new ReceiptLog(sqlite);
  const receipt = { kind: 'erase', mirrorId: log.mirrorId(), at, actor } as const;
  const removeRejected = prepare(sqlite, (id: number) =>
    words.update(rejectedRecords).set({ record: null }).where(eq(rejectedRecords.id, id)),
  );
  for (const id of rejected) {
    removeRejected.run(id);
    log.append({ ...receipt, resource: 'rejected-records', recordId: id, versions: 0, ended: [] });
  }
  const removeText = prepare(sqlite, (id: number) =>
    words.update(recordHistory).set({ record: null }).where(eq(recordHistory.id, id)),
  );
  for (const { id } of versions) removeText.run(id);
  if (versions.length > 0) {
    const changes = new ChangesOfRuns(sqlite, resource);
    const ended = runIdsOf(versions).map(runId => ({ runId, ended: changes.ended(runId) }));
    log.append({ ...receipt, resource, recordId, versions: versions.length, ended });
  }
  return { ...counts, receipt: log.head() };
}

/** The runs that ended some versions, in order. */
function runIdsOf(versions: readonly Version[]): number[] {
  return [...new Set(versions.map(({ runId }) => runId))].sort((a, b) => a - b);
}

function isOf(resource: string, recordId: number) {
  return and(eq(recordHistory.resource, resource), eq(recordHistory.recordId, recordId));
}

/** The ended versions that still have their text. */
function versionsOf(sqlite: Database.Database, resource: Resource, recordId: number): Version[] {
  const { id, validToRunId: runId, record, content } = recordHistory;
  return prepare(sqlite, (of: string, ofId: number) =>
    select({ id, runId, record: sql<string>`${record}`, content: hexOf(content) })
      .from(recordHistory)
      .where(and(isOf(of, ofId), isNotNull(record))),
  ).all(resource, recordId);
}

/**
 * The rejected records that are the same record, by the id that the service gave it. A rejected document export has no id: it is
 * found by a reference that the record has or had.
 */
function rejectedOf(
  sqlite: Database.Database,
  resource: Resource,
  recordId: number,
  versions: readonly Version[],
): number[] {
  const { record } = rejectedRecords;
  const having = (path: string) =>
    prepareValue(sqlite, (of: string, value: string | number) =>
      select({ id: rejectedRecords.id })
        .from(rejectedRecords)
        .where(
          and(
            eq(rejectedRecords.resource, of),
            isNotNull(record),
            sql`json_valid(${record})`,
            sql`${record} ->> ${path} = ${value}`,
          ),
        ),
    );
  if (resource !== 'document-exports') return having('$.id').all(resource, recordId);
  const current = (id: number) =>
    select({ reference: documentExports.sourceDocumentReference })
      .from(documentExports)
      .where(eq(documentExports.id, id));
  const references = [
    firstValue(sqlite, current, recordId),
    ...versions.map(version => JSON.parse(version.record).sourceDocumentReference as unknown),
  ].filter(reference => typeof reference === 'string');
  const byReference = having('$.sourceDocumentReference');
  return [...new Set(references)].flatMap(reference => byReference.all(resource, reference));
}

/** @throws MirrorAlteredError if the versions that a run ended are not what its receipt says. */
function assertAsReceipted(
  path: string,
  sqlite: Database.Database,
  changes: ChangesOfRuns,
  resource: Resource,
  runId: number,
): void {
  const said = endedBefore(sqlite, resource, runId);
  if (said !== undefined && said !== changes.ended(runId)) throw altered(path, resource);
}

/** The checksum of the versions that a run ended, according to the receipts; undefined if they have none. */
function endedBefore(sqlite: Database.Database, resource: string, runId: number): string | undefined {
  const erased = new ErasedHashes(sqlite).of(resource, runId);
  if (erased !== undefined) return erased;
  const ofRun = (id: number) =>
    select({ receipt: syncReceipts.receipt }).from(syncReceipts).where(eq(syncReceipts.runId, id));
  const receipt = receiptOrNull(firstValue(sqlite, ofRun, runId) ?? '');
  return receipt?.kind === 'run' ? receipt.lists.find(list => list.resource === resource)?.ended : undefined;
}

function altered(path: string, resource: string): MirrorAlteredError {
  return new MirrorAlteredError(
    `Another program altered the history of ${resource} in ${path}`,
    'Nothing was erased',
  );
}
