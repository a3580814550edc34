// One list of a run: which try is made, which one after it if that does not do, and how the list ended.

import { CancelledError, DocmirrorError, ServiceError } from '../errors.ts';
import { findingsThatCount, sentencesOf } from '../findings.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import type { Applied, ListOutcome, RunError } from '../store/tables/run.ts';
import { assertSum } from '../store/write/altered-mirror.ts';
import { apply, replacementOf } from '../store/write/apply.ts';
import { forgetResumeLog } from '../store/write/next-state.ts';
import { Stage } from '../store/write/stage.ts';
import { nothingLearnt, type ReadList, readState, type SyncState } from '../store/write/sync-state.ts';
import { type OrderedEnd, type Refused, readFully, readGrowth } from './read.ts';
import { type Done, type Failed, type ListRun, type ListTask, Pause, type ReadSoFar } from './task.ts';

/** How a list ended, and whether its reading pauses: then the next run goes on with it, if it has got further. */
export interface SyncedList {
  readonly outcome: ListOutcome;
  readonly pause: { readonly hasGrown: boolean } | null;
  /** A fault of docmirror that ended it; null if there was none. */
  readonly fault: unknown;
}

/** Reads a list until it is proven, and writes it in one transaction. */
export async function syncList(task: ListTask): Promise<SyncedList> {
  const { list, mirror, clock, observer } = task;
  const begun = clock();
  const startedAt = begun.toISOString();
  const [begunAtMs, tickMs] = [begun.getTime(), performance.now()];
  const nowMs = () => begunAtMs + performance.now() - tickMs;
  const ignoredFields = task.ignoreFields?.[list.resource] ?? [];
  const conclude = outcomeMaker(task, startedAt, ignoredFields);
  observer.listStarted(list);
  let end: Done<SyncedList> | Failed;
  try {
    const context = await mirror.openList(list, startedAt, ignoredFields);
    end = await readAndWrite({ ...task, context, begunAtMs, nowMs, conclude });
  } catch (error) {
    end = { kind: 'failed', found: null, error };
  }
  const synced = end.kind === 'done' ? end.result : await record(end);
  observer.listEnded(list, synced.outcome);
  return synced;

  async function record({ found, error }: Failed): Promise<SyncedList> {
    const outcome = await mirror.recordList(conclude(found, endOf(error)));
    return { outcome, pause: null, fault: error instanceof DocmirrorError ? null : error };
  }
}

/** A list that is written: how it ends is concluded with its rows. */
interface WrittenList extends ListRun {
  conclude(found: ReadSoFar | null, ending: Ending): ListOutcome;
}

/** How the writing or the failure of a list ends it; what it leaves out is as in a list of which nothing was written. */
type Ending = Partial<ListOutcome> & Pick<ListOutcome, 'status'>;

const nothingWritten = {
  reasons: [],
  ...{ inserted: 0, updated: 0, removed: 0, unchanged: 0, rejected: 0, removalsWithheld: 0, undecided: 0 },
  ...{ completeness: null, reason: null, checksum: null, readSince: null },
  ...{ newFields: [], restlessFields: [], unreadableTimes: null, open: [], accepted: [] },
  ...{ error: null, retryAfterUntil: null, errorOfAnyList: null },
};

/** Makes the function that tells how a list ended, with what its requests have cost since now. */
function outcomeMaker(
  { list, source, clock }: ListTask,
  startedAt: string,
  ignoredFields: readonly string[],
) {
  const before = { ...source.traffic };
  return (found: ReadSoFar | null, ending: Ending): ListOutcome => {
    const { paging = null, total = null } = found ?? {};
    const { requests, retries, bytes, waitedMs } = source.traffic;
    return {
      ...nothingWritten,
      resource: list.resource,
      startedAt,
      completedAt: clock().toISOString(),
      mode: found?.mode ?? 'full',
      firstPageNo: paging?.firstPageNo ?? null,
      pageSize: paging?.pageSize ?? null,
      pageCount: paging && (total ? Math.ceil(total / paging.pageSize) : paging.pageCount),
      totalRecordCount: total,
      recordsSeen: found?.stage.seenCount ?? 0,
      walks: found?.readings ?? 0,
      requests: requests - before.requests,
      retries: retries - before.retries,
      bytes: bytes - before.bytes,
      waitedMs: waitedMs - before.waitedMs,
      ignoredFields,
      ...ending,
    };
  };
}

/**
 * Reads a list and writes it: from its growing end, if that is enough; or else all of it; then without the answers of earlier runs; at last
 * without anything that they knew. If not even that does, the list fails.
 */
async function readAndWrite(run: WrittenList): Promise<Done<SyncedList> | Failed> {
  const { list, context, observer, source } = run;
  const last = context.runs.last('written', list.resource);
  const isSameService = last?.baseUrl === source.baseUrl && last.query === (source.query ?? null);
  let state = isSameService ? readState(context.sqlite, list, context.ignored) : nothingLearnt;
  let growth = growthOf(run, state);
  let found: ReadSoFar | null = null;
  for (;;) {
    const end = await tryToSync(run, state, growth, found);
    if (end.kind !== 'refused') return end;
    observer.readAgain(list, end.reason);
    found = end.found;
    const error = new Error(`${list.resource}: ${end.reason}`);
    if (growth === null && state === nothingLearnt) return { kind: 'failed', found, error };
    // What an earlier run has read can be outdated by now. What runs remember can be wrong, but not twice.
    if (growth === null) state = found.stage.hasRecalled ? { ...state, resumeLog: null } : nothingLearnt;
    growth = null;
  }
}

/** A full sync is due that much earlier, as a share of the time between two. */
const fullSyncLeeway = 0.05;

/** The growing end from which a list can be read; null if a full sync is due. */
function growthOf(run: ListRun, { growth, order }: SyncState): OrderedEnd | null {
  if (growth === null || order === null || order === 'none') return null;
  // A job of each night begins some seconds earlier or later, and must not miss every second full sync.
  const dueMs = run.fullEveryMs * (1 - fullSyncLeeway);
  const ageMs = run.clock().getTime() - Date.parse(growth.lastFullSyncAt);
  // A service might serve smaller pages than are asked for.
  const isSmaller = run.pageSize !== null && run.pageSize < growth.pageSize;
  const isDue = run.fullEveryMs === 0 || !(ageMs >= 0 && ageMs < dueMs);
  return isDue || isSmaller ? null : { ...growth, order };
}

/** One try: read the list, from its growing end if that is not null, and write it. `foundBefore` is what the try before this one found. */
async function tryToSync(
  run: WrittenList,
  state: SyncState,
  growth: OrderedEnd | null,
  foundBefore: ReadSoFar | null,
): Promise<Done<SyncedList> | Refused | Failed> {
  const { context } = run;
  const { file } = context;
  const stage = new Stage(context, state);
  let found = foundBefore;
  try {
    // Rows that were altered fail at the gate, too: then it is no use to read the list again.
    if (state === nothingLearnt && found !== null) assertSum(context);
    const end = await (growth === null
      ? readFully(run, stage, found?.readings ?? 0)
      : readGrowth(run, stage, growth));
    found = end.found ?? foundBefore;
    return end.kind === 'done' ? await write(run, end) : end;
  } catch (error) {
    return { kind: 'failed', found, error: explainSqliteError(error, file.path) };
  } finally {
    if (file.sqlite.open) stage.end();
  }
}

/** How long it can take to write what a reading has read that ended early, in milliseconds. */
const keepingMsMax = 20_000;

/** Writes a list that was read. A reading that ended early is written, too, and then has the status of what ended it. */
async function write(
  { context, mirror, deleteLimit, conclude }: WrittenList,
  { found, result: read, endedBy }: Done<ReadList>,
): Promise<Done<SyncedList> | Refused> {
  const { stage } = found;
  // The run's own signal can be what ended it.
  const signal = endedBy === null ? context.signal : AbortSignal.timeout(keepingMsMax);
  const ending = (isProven: boolean, applied: Applied) => {
    const completeness = found.mode === 'full' ? 'proven' : 'incremental';
    return conclude(found, {
      ...applied,
      status: findingsThatCount(applied.reasons).length === 0 ? 'completed' : 'partial',
      completeness: isProven ? completeness : 'unproven',
      reason: sentencesOf(applied.reasons),
      readSince: read.readSince,
      ...(endedBy && endOf(endedBy)),
    });
  };
  const reasons = replacementOf(stage, deleteLimit);
  if (reasons.length > 0) {
    const nothing = { status: 'partial', reasons, reason: sentencesOf(reasons) } as const;
    const outcome = await mirror.recordList(conclude(found, { ...nothing, ...(endedBy && endOf(endedBy)) }));
    return { kind: 'done', found, result: { outcome, pause: null, fault: null }, endedBy };
  }
  try {
    const written = await apply(stage, read, deleteLimit, ending, signal);
    if (written.kind === 'written') {
      const hasGrown = written.resumable > stage.older.length;
      const pause = endedBy instanceof Pause ? { hasGrown } : null;
      return { kind: 'done', found, result: { outcome: written.outcome, pause, fault: null }, endedBy };
    }
    if (endedBy === null) return { ...written, found };
  } catch (error) {
    throw endedBy !== null && signal.aborted ? endedBy : error;
  }
  // A list that always ends early would always fail with it.
  await forgetResumeLog(stage);
  throw endedBy;
}

/** How an error ends a list, also a fault of docmirror itself. */
function endOf(error: unknown): Ending {
  if (error instanceof Pause) return { status: 'partial' };
  const status = error instanceof CancelledError ? 'cancelled' : 'failed';
  if (!(error instanceof ServiceError)) return { status, error: runErrorOf(error) };
  const { retryAfterUntil, ofAnyList } = error;
  return { status, error: runErrorOf(error), retryAfterUntil, errorOfAnyList: ofAnyList };
}

/** An error as it is recorded; an unexpected one is a fault of docmirror itself, `internal`. */
export function runErrorOf(error: unknown): RunError {
  if (error instanceof DocmirrorError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}
