import { statSync } from 'node:fs';
import { lists } from '../../contract/lists.ts';
import type { Sum } from '../../contract/sum.ts';
import { codeOf } from '../../errors.ts';
import { hasLog } from '../file/file-mark.ts';
import { FilePlace } from '../file/file-place.ts';
import { hasSqliteHeader, type MirrorFile, openForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { TimeSlice } from '../file/time-slice.ts';
import { readPruned } from '../receipts/pruned.ts';
import { type Difference, Differences } from './differences.ts';
import { beginReading, type Groundwork, layGroundwork } from './groundwork.ts';
import { GroundworkThread } from './groundwork-thread.ts';
import { verifyBooks } from './verify-books.ts';
import { type Audit, type VerifiedList, verifyConnections, verifyList } from './verify-list.ts';
import { type PinnedCheckpoint, verifyCheckpoint, verifyReceipts } from './verify-receipts.ts';
import { verifyRuns } from './verify-runs.ts';
import { verifyShape } from './verify-shape.ts';
import { verifyTypes } from './verify-types.ts';

export type { Difference, PinnedCheckpoint, VerifiedList };

/** A smaller file is read before a thread of its own has begun. */
const threadBytesMin = 16 * 1024 * 1024;

/** What an audit of a mirror's file found. */
export interface Verification {
  readonly path: string;
  readonly lists: readonly VerifiedList[];
  readonly connectionCount: number;
  /** Versions in the history, of all lists and of connections. */
  readonly versionCount: number;
  readonly runCount: number;
  readonly receiptCount: number;
  /** The time before which ended versions were deleted: what runs changed up to then was not recomputed. Null where all was. */
  readonly prunedBefore: string | null;
  /** All differences; as many are listed as were asked for. */
  readonly differenceCount: number;
  readonly differences: readonly Difference[];
}

/** How far an audit lists what it finds, and how it may be ended. */
export interface VerifyOptions {
  /** The most differences that are listed. */
  readonly limit: number;
  /** Checkpoints that the receipts must still agree with. */
  readonly checkpoints?: readonly PinnedCheckpoint[];
  readonly signal: AbortSignal;
}

/**
 * Audits a mirror's file, in one state of it: the file itself, its references, every row, the history, and all of it against
 * the records of the runs. It takes no lock that a run would have to wait for, and writes nothing.
 *
 * @throws MirrorFileError where there is no mirror to audit; damage is a difference, no error.
 */
export async function verifyMirror(path: string, options: VerifyOptions): Promise<Verification> {
  const differences = new Differences(options.limit);
  const state: AuditState = {
    lists: [],
    connectionCount: 0,
    versionCount: 0,
    runCount: 0,
    receiptCount: 0,
    prunedBefore: null,
  };
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (isFile && !hasSqliteHeader(path)) {
    differences.add(null, null, 'the file does not begin as an SQLite database does');
  } else {
    try {
      await openAndAudit(path, differences, options, state);
    } catch (error) {
      const damage = damageIn(error, path);
      if (damage === null) throw explainSqliteError(error, path);
      differences.add(null, null, damage);
    }
  }
  return { path, ...state, differenceCount: differences.count, differences: differences.kept };
}

/** What is known so far, for a file may turn out to be damaged amid the audit. */
type AuditState = {
  -readonly [Name in keyof Omit<
    Verification,
    'path' | 'differenceCount' | 'differences'
  >]: Verification[Name];
};

async function openAndAudit(
  path: string,
  differences: Differences,
  { signal, checkpoints = [] }: VerifyOptions,
  state: AuditState,
): Promise<void> {
  const slice = new TimeSlice(signal);
  const place = new FilePlace(path);
  const file = openForReading(path);
  const { sqlite } = file;
  const thread = isLarge(sqlite.name) ? new GroundworkThread(sqlite.name, place) : null;
  try {
    // One state of the file, whatever a run writes meanwhile.
    beginReading(sqlite);
    const laid = thread === null ? layGroundwork(sqlite) : null;
    const late = async () => laid ?? (await thread?.found()) ?? layGroundwork(sqlite);
    let failure: unknown = null;
    try {
      checkFile(file, differences);
      verifyShape(sqlite, differences);
      await slice.next();
      await checkContent(sqlite, differences, slice, state, { checkpoints, late });
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    }
    // Where the file is too damaged to be read, SQLite's own check says how.
    addBytes(await late(), differences);
    // What holds such values can't be held against anything.
    if (verifyTypes(sqlite, differences, failure) > 0) state.lists = [];
  } finally {
    await thread?.end();
    file.close();
  }
}

/** Whether reading the file takes longer than a thread takes to begin. A copy that nobody else sees can't be opened twice. */
function isLarge(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= threadBytesMin;
}

function addBytes({ faults, brokenTexts }: Groundwork, differences: Differences): void {
  for (const fault of faults) differences.add(null, null, `SQLite's integrity check: ${fault}`);
  for (const { table, rowId, column } of brokenTexts)
    differences.add(
      table,
      Number(rowId),
      `${column} holds bytes that are no UTF-8, which docmirror never writes`,
    );
}

function checkFile({ path, sqlite }: MirrorFile, differences: Differences): void {
  // SQLite reads what is missing of the last page as zeros; where a log that was not folded back whole lies beside, it has the page.
  const pageBytes = Number(sqlite.pragma('page_size', { simple: true }));
  const { size } = statSync(path);
  if (size % pageBytes !== 0 && !hasLog(path)) {
    differences.add(
      null,
      null,
      `its end is cut off: ${size} bytes are no multiple of a page of ${pageBytes}`,
    );
  }
  const references = sqlite.prepare<[], { table: string; rowid: number | null; parent: string }>(
    'PRAGMA foreign_key_check',
  );
  for (const { table, rowid, parent } of references.iterate()) {
    differences.add(table, rowid, `it refers to a row of ${parent} that does not exist`);
  }
}

async function checkContent(
  sqlite: MirrorFile['sqlite'],
  differences: Differences,
  slice: TimeSlice,
  state: AuditState,
  { checkpoints, late }: { checkpoints: readonly PinnedCheckpoint[]; late: () => Promise<Groundwork> },
): Promise<void> {
  const runIds = new Set(sqlite.prepare<[], number>('SELECT id FROM sync_runs').pluck().all());
  state.runCount = runIds.size;
  const pruned = readPruned(sqlite);
  state.prunedBefore = pruned.before;
  const audit: Audit = { sqlite, differences, runIds, prunedThrough: pruned.throughRunId, slice };
  const connections = await verifyConnections(audit);
  state.connectionCount = connections.sum.count;
  state.versionCount = connections.versionCount;
  const sums = new Map<string, Sum>([['connections', connections.sum]]);
  for (const list of lists) {
    const { sum, ...verified } = await verifyList(audit, list);
    sums.set(list.resource, sum);
    state.lists = [...state.lists, verified];
    state.versionCount += verified.versionCount;
  }
  verifyBooks(audit);
  const sizes = new Set(checkpoints.map(({ size }) => size));
  const roots = new Map<number, Buffer>();
  const receipts = verifyReceipts(audit, tree => {
    if (sizes.has(tree.size)) roots.set(tree.size, tree.root());
  });
  for (const checkpoint of checkpoints) {
    const root = roots.get(checkpoint.size) ?? null;
    verifyCheckpoint(audit, checkpoint, { count: receipts.count, root });
  }
  state.receiptCount = receipts.count;
  await verifyRuns(audit, sums, receipts, (await late()).work);
}

/** What an error says of damage to the file; null where it is no damage. */
function damageIn(error: unknown, path: string): string | null {
  const codes = [codeOf(error), codeOf(error instanceof Error ? error.cause : undefined)];
  const code = codes.find(each => each?.startsWith('SQLITE_')) ?? '';
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(code)) {
    const explained = explainSqliteError(error, path);
    return explained instanceof Error ? explained.message : code;
  }
  // A table or column that is gone.
  return code === 'SQLITE_ERROR' && error instanceof Error ? error.message : null;
}
