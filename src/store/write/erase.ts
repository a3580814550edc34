import type { EraseReceipt } from '../../audit/receipt.ts';
import { lists, tableOf } from '../../contract/lists.ts';
import { recordOfJson } from '../../contract/record.ts';
import { MirrorAlteredError, MirrorFileError, tryToRead } from '../../errors.ts';
import type { MirrorFile } from '../file/open.ts';
import { openForWriting } from '../file/open-to-write.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { factsHash, lastRunBefore, RunComposer } from '../receipts/statements.ts';
import { acceptancesIn } from '../tables/accepted.ts';
import { allRows, allValues, firstRow, firstValue } from '../tables/ask.ts';
import { ignoredFields } from '../tables/ignored-fields.ts';
import { forgetWords } from '../tables/service-facts.ts';
import { whileNoRun, withdrawIn } from './accept.ts';
import { statedHashes } from './prune-history.ts';
import { nothingLearnt, writeState } from './sync-state.ts';

/** The record whose text must be erased, and the user who requests it. */
export interface EraseOrder {
  readonly resource: EraseReceipt['resource'];
  readonly recordId: number;
  readonly actor: string;
  /** The current time, ISO 8601 in UTC. */
  readonly at: string;
}

/**
 * Removes the text of a record's ended versions and rejected records permanently, with receipts; contents stay, so that the runs' receipts
 * remain valid. The file is built again before, because SQLite leaves old text in free pages, and afterwards, because building copies text
 * of pages that were read. Throws `mirror_busy`, a MirrorFileError (no such record, or others read the file) or a MirrorAlteredError.
 */
export function erase(path: string, order: EraseOrder) {
  return whileNoRun(path, place => {
    // A refused order must leave the file as it was.
    inFile(place, file => {
      findTexts(file, order);
      file.sqlite.exec('VACUUM');
    });
    const done = inFile(place, file => {
      file.sqlite.pragma('secure_delete = ON');
      return file.sqlite.transaction(() => eraseIn(file, order)).immediate();
    });
    inFile(place, ({ sqlite }) => {
      sqlite.exec('VACUUM');
      const [{ busy }] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
      if (busy !== 0)
        throw new MirrorFileError(
          `The text was erased, but another program reads ${path}, so older copies of the text are still in its files. Run "docmirror erase" again when the other program is done.`,
          { code: 'database_locked' },
        );
    });
    return done;
  });
}

/** Does a part of the work over a connection of its own: a connection can copy text of pages that it has read into new ones. */
function inFile<T>(place: string, work: (file: MirrorFile) => T): T {
  using file = openForWriting(place);
  return work(file);
}

/** The ids of the versions and rejected records that have a text to erase, and the runs that ended the versions. Throws as `erase` does. */
function findTexts({ path, sqlite }: MirrorFile, { resource, recordId }: EraseOrder) {
  const bound = resource === 'rejected-records' ? { recordId } : { resource, recordId };
  const isRejected =
    resource === 'rejected-records' ? 'id = @recordId' : `resource = @resource AND ${isSameRecord(resource)}`;
  const found = `SELECT id, record IS NULL AS isErased FROM rejected_records WHERE ${isRejected}`;
  const rejections = allRows<{ id: number; isErased: number }>(sqlite, found, bound);
  const rejected = rejections.filter(({ isErased }) => isErased === 0).map(({ id }) => id);
  if (resource === 'rejected-records') {
    if (rejections.length === 0)
      throw new MirrorFileError(`${path} has no ${resource} ${recordId}.`, { code: 'not_found' });
    return { isListed: false, versions: [], runIds: [], rejected };
  }
  const isListed =
    firstRow(sqlite, `SELECT 1 FROM ${tableOf(resource)} WHERE id = ?`, recordId) !== undefined;
  type Version = { id: number; fromRunId: number; runId: number; record: string | null; content: string };
  const ofRecord = `SELECT id, valid_from_run_id AS fromRunId, valid_to_run_id AS runId, record, lower(hex(content)) AS content
    FROM record_history WHERE resource = @resource AND record_id = @recordId ORDER BY valid_to_run_id`;
  const ended = allRows<Version>(sqlite, ofRecord, bound);
  if (!isListed && ended.length === 0 && rejected.length === 0)
    throw new MirrorFileError(`${path} has no ${resource} ${recordId}, and never had.`, {
      code: 'not_found',
    });
  const versions = ended.filter(({ record }) => record !== null);
  const runIds = [...new Set(versions.map(({ runId }) => runId))];
  // A rebuild accepted the history of earlier runs as it was.
  const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
  const [hashes, stated] = [new RunComposer(sqlite), statedHashes(sqlite)];
  const ignoredBy = ignoredFields(sqlite, resource);
  const contentOf = ({ record, fromRunId }: Version) =>
    tryToRead(() => recordOfJson(resource, record ?? '', ignoredBy(fromRunId)).content.toString('hex'));
  const isAltered =
    runIds.some(
      id => id > rebuiltAfter && stated(id, resource)?.ended !== hashes.ended(id, resource).ended,
    ) || versions.some(each => contentOf(each) !== each.content);
  if (isAltered)
    throw new MirrorAlteredError(
      `Another program altered the history of ${resource} in ${path}`,
      'Nothing was erased',
    );
  return { isListed, versions: versions.map(({ id }) => id), runIds, rejected };
}

/** A condition: a rejected record is the record, by its id; or if it is an export, by a reference that the record has or had. */
function isSameRecord(resource: string): string {
  const value = (name: string) => `iif(json_valid(record), record, '{}') ->> '$.${name}'`;
  if (resource !== 'document-exports') return `${value('id')} = @recordId`;
  return `${value('sourceDocumentReference')} IN (
    SELECT source_document_reference FROM document_exports WHERE id = @recordId
    UNION SELECT record ->> 'sourceDocumentReference' FROM record_history WHERE resource = @resource AND record_id = @recordId)`;
}

/** Erases the texts, with a receipt for the versions and one for each rejected record. */
function eraseIn(file: MirrorFile, order: EraseOrder) {
  const { sqlite } = file;
  const { resource, recordId, actor, at } = order;
  const { isListed, versions, runIds, rejected } = findTexts(file, order);
  forgetCopies(sqlite);
  const counts = { versions: versions.length, rejectedRecords: rejected.length, isListed };
  if (versions.length + rejected.length === 0) return { ...counts, receipt: null };
  const log = new ReceiptLog(sqlite);
  const receipt = { kind: 'erase', mirrorId: log.mirrorId(), at, actor } as const;
  for (const id of rejected) {
    sqlite.prepare('UPDATE rejected_records SET record = NULL WHERE id = ?').run(id);
    log.append({ ...receipt, resource: 'rejected-records', recordId: id, versions: 0, ended: [] });
    const ofRecord = acceptancesIn(sqlite).filter(
      each => each.rejectedRecordId === id && each.withdrawnAt === null,
    );
    for (const each of ofRecord)
      withdrawIn(sqlite, log, each.id, { why: 'the rejected record was erased', actor, at });
  }
  const forget = sqlite.prepare(
    'UPDATE record_history SET record = NULL, exported_at_ms = NULL, source_document_reference = NULL WHERE id = ?',
  );
  for (const id of versions) forget.run(id);
  if (versions.length > 0) {
    const hashes = new RunComposer(sqlite);
    const ended = runIds.map(runId => ({ runId, ended: hashes.ended(runId, resource).ended }));
    forgetWords(sqlite, resource);
    const facts = factsHash(sqlite);
    log.append({ ...receipt, resource, recordId, versions: versions.length, ended, facts });
  }
  return { ...counts, receipt: log.head() };
}

/** Deletes what only saves work and can have the text as well: what the last run remembered of its pages, and samples of indexes. */
function forgetCopies(sqlite: MirrorFile['sqlite']): void {
  const statistics = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'sqlite_stat*'`;
  for (const list of lists) {
    const written = 'SELECT run_id FROM _list_states WHERE resource = ?';
    const runId = firstValue<number>(sqlite, written, list.resource);
    if (runId !== null) writeState(sqlite, list, runId, nothingLearnt);
  }
  for (const name of allValues<string>(sqlite, statistics)) sqlite.exec(`DELETE FROM ${name}`);
}
