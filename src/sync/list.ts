import { CancelledError, DocmirrorError, ServiceError } from '../errors.ts';
import { sentenceOf, sentencesOf } from '../findings.ts';
import { answersInUse, type Proof } from '../proof/conclude.ts';
import { type Finding, insteadOf } from '../proof/findings.ts';
import { type Growth, proveGrowth } from '../proof/growth.ts';
import { overlapOf } from '../proof/plan.ts';
import { prove } from '../proof/prove.ts';
import type { Answer } from '../proof/window.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import type { Applied, ListOutcome, RunError } from '../store/tables/run.ts';
import { apply, assertSum, forgetJournal, type Written } from '../store/write/apply.ts';
import { answersIn } from '../store/write/journal.ts';
import { type ListState, nothingLearnt, readState, tiesOf } from '../store/write/memory.ts';
import type { ListContext } from '../store/write/mirror.ts';
import type { Result } from '../store/write/plan.ts';
import { Stage } from '../store/write/stage.ts';
import { getFirstPage, pagesStated, stillServed } from './first-page.ts';
import { assertPagesMax, drive, type ListProgress, type ListTask, Pause } from './read.ts';

/** Reads a list until it is proven, and writes it in one transaction. `onFault` gets a fault of docmirror, which ends the list, too. */
export async function syncList(task: ListTask, onFault: (fault: unknown) => void): Promise<SyncedList> {
  const { list, mirror, clock, observer, source } = task;
  const begun = clock();
  const startedAt = begun.toISOString();
  const [begunAtMs, tickMs] = [begun.getTime(), performance.now()];
  const nowMs = () => begunAtMs + performance.now() - tickMs;
  const ignoredFields = task.ignoreFields?.[list.resource] ?? [];
  const before = { ...source.traffic };
  const progress: ListProgress = {
    mode: 'full',
    paging: null,
    total: null,
    walks: 0,
    begunAtMs,
    nowMs,
    stage: null,
    endedBy: null,
  };
  const conclude = (ending: Ending): ListOutcome => {
    const { mode, paging, total, walks, stage } = progress;
    const { requests, retries, bytes, waitedMs } = source.traffic;
    return {
      resource: list.resource,
      startedAt,
      completedAt: clock().toISOString(),
      mode,
      firstPageNo: paging?.firstPageNo ?? null,
      pageSize: paging?.pageSize ?? null,
      pageCount: paging && (total ? Math.ceil(total / paging.pageSize) : paging.pageCount),
      totalRecordCount: total,
      recordsSeen: stage?.seenCount ?? 0,
      walks,
      requests: requests - before.requests,
      retries: retries - before.retries,
      bytes: bytes - before.bytes,
      waitedMs: waitedMs - before.waitedMs,
      ignoredFields,
      ...ending,
    };
  };
  observer.listStarted(list);
  let synced: SyncedList;
  try {
    const context = await mirror.openList(list, startedAt, ignoredFields);
    synced = await readAndWrite({ ...task, context, progress, conclude });
  } catch (error) {
    if (!(error instanceof DocmirrorError)) onFault(error);
    synced = { outcome: await mirror.recordList(conclude(failed(error))), pause: null };
  }
  observer.listEnded(list, synced.outcome);
  return synced;
}

/** How a list ended, and whether its reading pauses: then the next run goes on with it, if it has got further. */
export interface SyncedList {
  readonly outcome: ListOutcome;
  readonly pause: { readonly hasGrown: boolean } | null;
}

type Ending = Applied &
  Pick<
    ListOutcome,
    'status' | 'completeness' | 'error' | 'retryAfterUntil' | 'errorOfAnyList' | 'reason' | 'readSince'
  >;

interface ListRun extends ListTask {
  readonly context: ListContext;
  readonly progress: ListProgress;
  conclude(ending: Ending): ListOutcome;
}

/** Reads from the growing end if that is enough, or else the whole list; at last without what earlier runs remember. */
async function readAndWrite(run: ListRun): Promise<SyncedList> {
  const { list, context, observer, source } = run;
  const { file } = context;
  const isSameService = context.records.last('written', list.resource)?.baseUrl === source.baseUrl;
  const state = isSameService ? readState(file.sqlite, list, context.ignored) : nothingLearnt;
  try {
    const growth = await readGrowth(run, state);
    const grown = growth.kind === 'read' ? await write(run, growth) : growth;
    if (grown.kind === 'written') return grown.synced;
    if (grown.kind === 'refused') observer.walkAgain(list, grown.reason);
    for (let known = state; ; ) {
      const read = await readFully(run, known);
      const full = read.kind === 'read' ? await write(run, read) : read;
      if (full.kind === 'written') return full.synced;
      observer.walkAgain(list, full.reason);
      if (known === nothingLearnt) throw new Error(`${list.resource}: ${full.reason}`);
      // What an earlier run has read can be outdated by now. What runs remember can be wrong, but not twice.
      known = run.progress.stage?.hasRecalled ? { ...known, journal: null } : nothingLearnt;
      if (known === nothingLearnt) assertSum(context);
    }
  } catch (error) {
    throw explainSqliteError(error, file.path);
  } finally {
    if (file.sqlite.open) run.progress.stage?.end();
  }
}

/** A full sync is due that much earlier, as a share of the time between two. */
const fullSyncLeeway = 0.05;

interface Read extends Omit<Result, 'removals'> {
  readonly kind: 'read';
  readonly stage: Stage;
}

/** What was read or written does not do, and the list is read again. */
type Refused = Extract<Written, { readonly kind: 'refused' }>;

/** How long it can take to write what a reading has read that ended early, in milliseconds. */
const keepingMsMax = 20_000;

/** Writes a list that was read. A reading that ended early is written, too, and then has the status of what ended it. */
async function write(
  run: ListRun,
  { stage, kind: _, ...read }: Read,
): Promise<{ readonly kind: 'written'; readonly synced: SyncedList } | Refused> {
  const { progress, context, removals } = run;
  const { endedBy } = progress;
  const conclude = (isProven: boolean, applied: Applied) =>
    run.conclude({
      ...ended(progress.mode, isProven, applied),
      readSince: read.readSince,
      ...(endedBy && endOf(endedBy)),
    });
  // The run's own signal can be what ended it.
  const signal = endedBy === null ? context.signal : AbortSignal.timeout(keepingMsMax);
  const written = await apply(stage, { ...read, removals }, conclude, signal).catch((error: unknown) => {
    throw endedBy !== null && signal.aborted ? endedBy : error;
  });
  if (written.kind === 'written') {
    const hasGrown = written.journaled > (read.journal?.older.length ?? 0);
    return {
      kind: 'written',
      synced: { outcome: written.outcome, pause: endedBy instanceof Pause ? { hasGrown } : null },
    };
  }
  if (endedBy === null) return written;
  // A list that always ends early would always fail with it.
  await forgetJournal(stage);
  throw endedBy;
}

/** Reads a list from its growing end, until a window meets the known records. It is due for a full sync if that is not enough. */
async function readGrowth(
  run: ListRun,
  state: ListState,
): Promise<Read | Refused | { readonly kind: 'due' }> {
  const { list, context, progress, fullEveryMs, clock } = run;
  const { growth, order } = state;
  if (growth === null || order === null || order === 'none') return { kind: 'due' };
  const { firstPageNo, pageSize, newestKey, newestRows, sweptAt } = growth;
  // A job of each night begins some seconds earlier or later, and must not miss every second full sync.
  const dueMs = fullEveryMs * (1 - fullSyncLeeway);
  const ageMs = clock().getTime() - Date.parse(sweptAt);
  // A service might serve smaller pages than are asked for.
  const isSmaller = run.pageSize !== null && run.pageSize < pageSize;
  if (fullEveryMs === 0 || !(ageMs >= 0 && ageMs < dueMs) || isSmaller) return { kind: 'due' };
  const { count } = context.sum;
  progress.mode = 'incremental';
  const pageCount = Math.ceil(count / pageSize);
  progress.paging = { firstPageNo, pageSize, pageCount, sendsServedSize: true, isOnlySize: false };
  const identity = list.identity.by;
  const overlap = overlapOf(pageSize, identity);
  const stage = new Stage(context, state);
  progress.stage = stage;
  const asking = proveGrowth({
    identity,
    order,
    largest: pageSize,
    overlap,
    newestKey,
    newestCount: newestRows.length,
    count,
  });
  const end = await drive(asking, run, null).catch((error: unknown): Growth => {
    // The full sync asks for pages of another size, or reports what is wrong with the service now.
    if (!(error instanceof ServiceError) || !['not_found', 'refused'].includes(error.code)) throw error;
    return { kind: 'full', reason: error.message };
  });
  if (end.kind === 'full') return { kind: 'refused', reason: end.reason };
  const old = oldAnswers(end.answers, progress);
  if (old !== null) return { kind: 'refused', reason: sentenceOf(old) };
  assertPagesMax(run, Math.ceil((progress.total ?? 0) / pageSize));
  const read = {
    proof: null,
    answers: end.answers,
    findings: [],
    undecided: 0,
    firstPageNo,
    pageSize,
    servedSize: state.servedSize,
    readSince: readSince(end.answers, progress),
    journal: null,
  };
  return { kind: 'read', stage, ...read };
}

async function readFully(run: ListRun, state: ListState): Promise<Read | Refused> {
  const { context, progress, source, list, signal, observer } = run;
  const stage = new Stage(context, state);
  progress.stage = stage;
  const nowMs = run.clock().getTime();
  const served = stillServed(state.servedSize, context.sum.count, nowMs);
  const first = await getFirstPage(source, list, { wanted: run.pageSize ?? 'auto', served, nowMs }, signal);
  const { firstPageNo, pageSize, page } = first;
  progress.mode = 'full';
  progress.paging = first;
  progress.total = page.pagination.totalRecordCount;
  progress.walks++;
  assertPagesMax(run, pagesStated(first));
  observer.walkStarted(list, progress.walks, pagesStated(first));
  const older = run.isAfresh ? [] : answersIn(state.journal, first, progress.nowMs());
  const before = context.records.last('written', list.resource)?.totalRecordCount ?? null;
  const totalBefore = older.length > 0 && state.journal ? state.journal.totalBefore : before;
  stage.goOnWith(older);
  for (const tried of first.tried) stage.accept(tried, { index: 0, size: pageSize }, 0);
  const { records } = context;
  const isSure =
    state !== nothingLearnt &&
    records.last('settled', list.resource)?.runId === records.last('written', list.resource)?.runId;
  const identity = list.identity.by;
  const overlap = overlapOf(pageSize, identity);
  // The pages of a journal are found by their addresses, and without these their own reading knew of no ties.
  const planned = older.length > 0 ? (state.journal?.planned ?? null) : [];
  const ties = planned && tiesOf(context.sqlite, list, state.order, overlap);
  const asking = prove({
    identity,
    largest: pageSize,
    overlap,
    learnt: state.order,
    ties,
    planned: planned ?? [],
    run: context.runId,
    totalBefore,
    retained: state.retained ?? null,
    // Pages are remembered only of a run that was sure of the list.
    isSettled: older.length === 0 && isSure,
    isKnown: digest => older.length === 0 && digest in state.pages,
  });
  const proof = asOldAs(progress, await drive(asking, run, page));
  const { answers, rows, verdict, findings } = proof;
  if (verdict.isPageNoIgnored) {
    const message = `GET ${source.baseUrl}${list.path}: the service ignores pageNo: ${sentencesOf(verdict.findings)}`;
    throw new ServiceError('pagination_ignored', message, { retryable: false });
  }
  const hasEndedEarly = progress.endedBy !== null;
  const hasFailed = findings.some(({ code }) => code === 'page_failed');
  const isOpen = verdict.rule === 'key' && !verdict.isProven && !hasFailed;
  if (stage.hasRecalled && isOpen && !hasEndedEarly)
    return { kind: 'refused', reason: sentencesOf(findings) ?? '' };
  const undecided = rows.filter(({ fate }) => fate !== 'gone').length;
  return {
    kind: 'read',
    stage,
    proof,
    answers,
    findings,
    undecided,
    firstPageNo,
    pageSize,
    servedSize: first.served,
    readSince: readSince(answersInUse(proof), progress),
    journal: hasEndedEarly ? { older, totalBefore } : null,
  };
}

/** If a cache gave old answers, they prove nothing of now, and no row goes: both answers for a removal can be as old. */
function asOldAs(progress: ListProgress, proof: Proof): Proof {
  const old = oldAnswers(proof.answers, progress);
  if (old === null) return proof; // guard: answers of a cache
  const rows = proof.rows.map(row => ({ ...row, fate: 'undecided' as const }));
  const findings = insteadOf(proof.findings, old);
  return { ...proof, rows, findings, verdict: { ...proof.verdict, isProven: false, findings } };
}

/** Answers that are so much older than the run do not show what is listed now. */
const oldAnswerMs = 10 * 60_000;

/** Says that a cache answered with pages that are older than the run; null if none did. */
function oldAnswers(answers: readonly Answer[], { begunAtMs }: ListProgress): Finding | null {
  const fresh = answers.filter(({ isRecalled }) => !isRecalled);
  const ageMs = begunAtMs - Math.min(...fresh.map(({ at }) => at));
  return ageMs > oldAnswerMs ? { code: 'answers_old', ageMs: Math.round(ageMs) } : null;
}

/** The moment of the oldest answer of a reading, as an ISO date in UTC. */
function readSince(answers: readonly Answer[], { begunAtMs }: ListProgress): string {
  return new Date(Math.min(begunAtMs, ...answers.map(({ at }) => at))).toISOString();
}

/** How a list ends that was written. */
function ended(mode: ListProgress['mode'], isProven: boolean, applied: Applied): Omit<Ending, 'readSince'> {
  const completeness = mode === 'full' ? 'proven' : 'incremental';
  return {
    ...applied,
    status: applied.reasons.length === 0 ? 'completed' : 'partial',
    completeness: isProven ? completeness : 'unproven',
    ...noError,
    reason: sentencesOf(applied.reasons),
  };
}

/** How an error ends a list, also a fault of docmirror itself. */
function failed(error: unknown): Ending {
  return {
    reasons: [],
    ...{ inserted: 0, updated: 0, removed: 0, unchanged: 0, rejected: 0, removalsWithheld: 0, undecided: 0 },
    ...{ completeness: null, reason: null, checksum: null, readSince: null },
    newFields: [],
    restlessFields: [],
    ...endOf(error),
  };
}

function endOf(error: unknown): Pick<ListOutcome, 'status' | 'error' | 'retryAfterUntil' | 'errorOfAnyList'> {
  if (error instanceof Pause) return { status: 'partial', ...noError };
  const { retryAfterUntil, ofAnyList } = error instanceof ServiceError ? error : noDetails;
  return {
    status: error instanceof CancelledError ? 'cancelled' : 'failed',
    error: runErrorOf(error),
    retryAfterUntil,
    errorOfAnyList: ofAnyList,
  };
}

const noError = { error: null, retryAfterUntil: null, errorOfAnyList: null };
const noDetails = { retryAfterUntil: null, ofAnyList: null };

/** An error as it is recorded; an unexpected one is a fault of docmirror itself, `internal`. */
export function runErrorOf(error: unknown): RunError {
  if (error instanceof DocmirrorError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}
