import { keptResources, lists, tableOf } from '../../contract/lists.ts';
import type { Sum } from '../../contract/sum.ts';
import { codeOf } from '../../errors.ts';
import { TimeSlice } from '../../time-slice.ts';
import { kindOf } from '../file/file-kind.ts';
import { type MirrorFile, openMirrorForReading } from '../file/open.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { checkRows } from '../receipts/altered-lists.ts';
import { lastRunBefore, readPruned } from '../receipts/pruned.ts';
import { mirrorIds } from '../tables/initialise-mirror.ts';
import { brokenReferences } from '../tables/references.ts';
import { wroteListSql } from '../tables/written-lists.ts';
import { type Audit, type Difference, Differences } from './differences.ts';
import { type PinnedCheckpoint, verifyLog } from './verify-log.ts';
import { verifyRuns } from './verify-runs.ts';
import { type OtherObject, verifyShape } from './verify-shape.ts';
import { verifyTables } from './verify-tables.ts';

export type { Difference, PinnedCheckpoint };

/** The result of the check of one list. */
export interface VerifiedList {
  readonly resource: string;
  readonly recordCount: number;
  readonly versionCount: number;
  /** The last run that wrote the list; null if none has. */
  readonly runId: number | null;
  /** 32 hexadecimal digits, recomputed from the values in the rows' columns. */
  readonly checksum: string;
}

/** The result of an audit of a mirror's file. */
export interface Verification {
  readonly path: string;
  readonly lists: readonly VerifiedList[];
  readonly connectionCount: number;
  /** Versions in the history, of all lists and of connections. */
  readonly versionCount: number;
  readonly runCount: number;
  readonly receiptCount: number;
  /** The time before which ended versions were deleted. Changes of runs up to then were not recomputed. Null if all were. */
  readonly prunedBefore: string | null;
  /** The last run before the mirror was rebuilt. Changes of runs up to it were not recomputed. Null if it never was rebuilt. */
  readonly rebuiltAfterRunId: number | null;
  /** Texts of versions and of rejected records that were erased. */
  readonly erasedCount: number;
  /** Tables, views and indexes that others made in the file. They are no difference. */
  readonly otherObjects: readonly OtherObject[];
  /** The number of all differences. `differences` has at most as many as were asked for. */
  readonly differenceCount: number;
  readonly differences: readonly Difference[];
}

/** How many differences an audit lists, and how it can be ended. */
export interface VerifyOptions {
  /** The most differences that are listed. */
  readonly limit: number;
  /** Checkpoints that the receipts must still agree with. */
  readonly checkpoints?: readonly PinnedCheckpoint[];
  readonly signal: AbortSignal;
}

/**
 * Audits a mirror's file, in one state of it: the file itself, its references, every row, the history, and everything against the
 * records of the runs. It takes no lock that a run would wait for, and writes nothing.
 *
 * @throws MirrorFileError if there is no mirror to audit. Damage is a difference and not an error.
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
    rebuiltAfterRunId: null,
    erasedCount: 0,
    otherObjects: [],
  };
  try {
    const kind = kindOf(path);
    if (kind === 'no database') differences.add(null, null, 'the file is not an SQLite database');
    else if (kind === 'empty') differences.add(null, null, 'the file has no tables');
    else await openAndAudit(path, differences, options, state);
  } catch (error) {
    const damage = damageIn(error, path);
    if (damage === null) throw explainSqliteError(error, path);
    differences.add(null, null, damage);
  }
  return { path, ...state, differenceCount: differences.count, differences: differences.kept };
}

/** The results so far, because damage to the file can be found during the audit. */
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
  const file = openMirrorForReading(path);
  const { sqlite } = file;
  try {
    // One state of the file, even if a run writes meanwhile. The transaction gets it with its first read.
    sqlite.exec('BEGIN');
    // A damaged file can't be compared with anything.
    if (!isWhole(file, differences)) return;
    checkReferences(file, differences);
    state.otherObjects = verifyShape(sqlite, differences);
    await slice.next();
    const pruned = readPruned(sqlite);
    const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
    const summedAfter = Math.max(rebuiltAfter, lastRunBefore(sqlite, 'upgrade'));
    state.prunedBefore = pruned.before;
    if (rebuiltAfter > 0) state.rebuiltAfterRunId = rebuiltAfter;
    const prunedThrough = pruned.throughRunId;
    const knownAfter = Math.max(prunedThrough, summedAfter);
    const cuts = { prunedThrough, summedAfter, knownAfter };
    const audit = { sqlite, differences, slice, mirrorIds: mirrorIds(sqlite), ...cuts };
    await checkContent(audit, state, checkpoints);
  } finally {
    file.close();
  }
}

function isWhole({ sqlite }: MirrorFile, differences: Differences): boolean {
  const faults = (sqlite.pragma('integrity_check') as { integrity_check: string }[])
    .map(row => row.integrity_check)
    .filter(fault => fault !== 'ok');
  for (const fault of faults) differences.add(null, null, `SQLite's integrity check: ${fault}`);
  return faults.length === 0;
}

function checkReferences({ sqlite }: MirrorFile, differences: Differences): void {
  for (const { table, rowid, parent } of brokenReferences(sqlite))
    differences.add(table, rowid, `it refers to a row of ${parent} that does not exist`);
}

async function checkContent(audit: Audit, state: AuditState, checkpoints: readonly PinnedCheckpoint[]) {
  const { sqlite, differences, slice } = audit;
  const count = (query: string, ...values: string[]) =>
    sqlite
      .prepare<string[], number>(query)
      .pluck()
      .get(...values) ?? 0;
  const sums = new Map<(typeof keptResources)[number], Sum>();
  for (const resource of keptResources) {
    const table = tableOf(resource);
    const sum = await checkRows(sqlite, resource, slice, (id, fault) => differences.add(table, id, fault));
    sums.set(resource, sum);
  }
  state.connectionCount = sums.get('connections')?.count ?? 0;
  state.lists = lists.map(({ resource }) => {
    const { count: recordCount = 0 } = sums.get(resource) ?? {};
    const written = `SELECT max(run_id) FROM sync_run_resources WHERE resource = ? AND ${wroteListSql}`;
    const runId = count(written, resource) || null;
    const versionCount = count('SELECT count(*) FROM record_history WHERE resource = ?', resource);
    return { resource, recordCount, versionCount, runId, checksum: `${sums.get(resource)}` };
  });
  state.versionCount = count('SELECT count(*) FROM record_history');
  state.runCount = count('SELECT count(*) FROM sync_runs');
  state.erasedCount = count(
    'SELECT (SELECT count(*) FROM record_history WHERE record IS NULL) + (SELECT count(*) FROM rejected_records WHERE record IS NULL)',
  );
  verifyTables(audit);
  const log = verifyLog(audit, checkpoints);
  state.receiptCount = log.count;
  await verifyRuns(audit, sums, log);
}

/** The words of an error that means damage to the file; null if it means something else. */
function damageIn(error: unknown, path: string): string | null {
  const codes = [codeOf(error), codeOf(error instanceof Error ? error.cause : undefined)];
  const code = codes.find(each => each?.startsWith('SQLITE_')) ?? '';
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(code)) {
    const explained = explainSqliteError(error, path);
    return explained instanceof Error ? explained.message : code;
  }
  // A table or column is missing.
  return code === 'SQLITE_ERROR' && error instanceof Error ? error.message : null;
}
