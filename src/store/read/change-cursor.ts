import type Database from 'better-sqlite3';
import { keptResources } from '../../contract/lists.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastRunBefore, readPruned } from '../receipts/statements.ts';

/** A change of one record, by one run. */
export interface Change {
  readonly runId: number;
  /** When the run had applied the list. For connections, which belong to several lists, when the run had ended. */
  readonly changedAt: string | null;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: 'insert' | 'update' | 'removal';
  /** JSON text: the record after the change or, if it was removed, before it; null if it was erased. */
  readonly record: string | null;
  /** JSON text: the record before an update; null otherwise, and if that version was erased or pruned. */
  readonly before: string | null;
}

/** The fields that identify a change within one log of receipts. */
export type ChangeKey = Pick<Change, 'runId' | 'resource' | 'recordId' | 'operation'>;

/**
 * The position of a reader of the changes: everything up to a run was delivered and, if `after` is not null, everything up to that
 * change of a later one.
 */
export interface ChangeCursor {
  readonly mirrorId: string;
  /** 0 for the time before the first run. */
  readonly runId: number;
  /** The place of the run's receipt in the log; null if it has none. */
  readonly leafIndex: number | null;
  readonly leafHash: string | null;
  readonly after: ChangeKey | null;
  /** Some earlier runs, the newest first, with the beginnings of their receipts' hashes. After a restore they show how far both agree. */
  readonly earlier: readonly (readonly [runId: number, hash: string])[];
}

/** A cursor as the text of a file. */
export function cursorText(cursor: ChangeCursor): string {
  return `${JSON.stringify(cursor)}\n`;
}

/** Reads the text that `cursorText` wrote; null if the text is no cursor. */
export function readCursor(text: string): ChangeCursor | null {
  try {
    const { mirrorId, runId, leafIndex, leafHash, after = null, earlier = [] } = JSON.parse(text);
    const hasReceipt = isCount(leafIndex) && typeof leafHash === 'string';
    const isCursor =
      typeof mirrorId === 'string' &&
      isCount(runId) &&
      (hasReceipt || (leafIndex === null && leafHash === null)) &&
      (after === null || isKey(after)) &&
      earlier.every(([id, hash]: unknown[]) => isCount(id) && typeof hash === 'string' && hash !== '');
    return isCursor ? { mirrorId, runId, leafIndex, leafHash, after, earlier } : null;
  } catch {
    return null;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** True for what identifies a change, whether or not there is one. */
export function isKey(value: Readonly<Record<keyof ChangeKey, unknown>>): value is ChangeKey {
  const { runId, resource, recordId, operation } = value;
  const isKnown = placeOf(String(resource)) >= 0 && operations.some(each => each === operation);
  return isKnown && isCount(runId) && Number.isSafeInteger(recordId);
}

/** If a record came back in the run that removed it, this is the order in which that happened. */
const operations: readonly Change['operation'][] = ['update', 'removal', 'insert'];

/** True if a change comes after another one: by its run, its list, its record, its operation. */
export function isAfter(change: ChangeKey, other: ChangeKey): boolean {
  const order =
    change.runId - other.runId ||
    placeOf(change.resource) - placeOf(other.resource) ||
    change.recordId - other.recordId ||
    operations.indexOf(change.operation) - operations.indexOf(other.operation);
  return order > 0;
}

/** The place of a list, or of the connections, among all; -1 for another name. */
export function placeOf(resource: string): number {
  return (keptResources as readonly string[]).indexOf(resource);
}

/** Earlier runs of a cursor: all of the last 16, then fewer and fewer, so that a cursor stays small. */
const distances = [
  ...Array.from({ length: 16 }, (_, at) => at + 1),
  ...Array.from({ length: 20 }, (_, at) => 32 * 2 ** at),
];
/** How many hexadecimal digits of an earlier receipt's hash are enough to recognize it. */
const hashLength = 16;

/**
 * The cursor of a reader that has received everything up to a run, and up to a change of a later one.
 *
 * @throws MirrorFileError if the mirror has lost its id.
 */
export function cursorAt(sqlite: Database.Database, runId: number, after?: ChangeKey | null): ChangeCursor {
  const receipt = receiptOf(sqlite, runId);
  const keyOf = ({ runId, resource, recordId, operation }: ChangeKey) => ({
    runId,
    resource,
    recordId,
    operation,
  });
  return {
    mirrorId: new ReceiptLog(sqlite).mirrorId(),
    runId,
    leafIndex: receipt?.leafIndex ?? null,
    leafHash: receipt?.leafHash ?? null,
    after: after ? keyOf(after) : null,
    earlier: distances.flatMap(distance => {
      const hash = receiptOf(sqlite, runId - distance)?.leafHash;
      return hash === undefined ? [] : [[runId - distance, hash.slice(0, hashLength)] as const];
    }),
  };
}

/**
 * Why a cursor can't be followed in this mirror, in words that go on after "it", and the newest run that is the same for both, 0 if
 * there is none; null if all changes after the cursor can be read.
 */
export function lossOf(sqlite: Database.Database, cursor: ChangeCursor) {
  const { runId, after } = cursor;
  // Nothing was delivered yet, so nothing can be missing.
  if (runId === 0 && after === null) return null;
  if (cursor.mirrorId !== new ReceiptLog(sqlite).mirrorId())
    return { why: 'is of another mirror', sharedRunId: 0 };
  const sharedRunId = sharedRun(sqlite, cursor);
  const lost = (why: string) => ({ why, sharedRunId });
  if (sharedRunId !== runId)
    return lost('is from a later state of this mirror, which was restored from a backup since');
  const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
  if (rebuiltAfter > 0 && runId <= rebuiltAfter)
    return lost('is from before "sync --rebuild", which dropped rows without a trace');
  if (runId < readPruned(sqlite).throughRunId)
    return lost('is older than the history that is kept (DOCMIRROR_KEEP_HISTORY)');
  return null;
}

function sharedRun(sqlite: Database.Database, { runId, leafHash, earlier }: ChangeCursor): number {
  if (leafHash === null && receiptOf(sqlite, runId) === undefined) return runId;
  const known = [...(leafHash === null ? [] : [[runId, leafHash] as const]), ...earlier];
  return known.find(([id, hash]) => receiptOf(sqlite, id)?.leafHash.startsWith(hash))?.[0] ?? 0;
}

function receiptOf(sqlite: Database.Database, runId: number) {
  type Receipt = { readonly leafIndex: number; readonly leafHash: string };
  const ofRun = 'SELECT leaf_index AS leafIndex, leaf_hash AS leafHash FROM sync_receipts WHERE run_id = ?';
  return sqlite.prepare<[number], Receipt>(ofRun).get(runId);
}
