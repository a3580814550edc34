// One try at a list, at its growing end or at all of it: what the proof is told at its begin, and what is made of its result.

import { leastOf } from '../contract/extremes.ts';
import { ServiceError } from '../errors.ts';
import { sentenceOf, sentencesOf } from '../findings.ts';
import { type Answer, isOfRun } from '../proof/answers.ts';
import { answersInUse, type Proof } from '../proof/conclude.ts';
import { type Finding, insteadOf } from '../proof/findings.ts';
import { proveGrowth } from '../proof/growth.ts';
import type { KeyOrder } from '../proof/order.ts';
import { overlapOf } from '../proof/plan.ts';
import { prove } from '../proof/prove.ts';
import type { Stage } from '../store/write/stage.ts';
import { type GrowingEnd, nothingLearnt, type ReadList } from '../store/write/sync-state.ts';
import { drive } from './drive.ts';
import { type FirstPage, getFirstPage, pagesStated, seeFirstPage, stillServed } from './first-page.ts';
import { tooManyPages } from './pages.ts';
import type { Done, Failed, ListRun, ReadSoFar } from './task.ts';

/** What earlier runs knew does not do, so that the list is read again. */
export interface Refused {
  readonly kind: 'refused';
  readonly found: ReadSoFar;
  readonly reason: string;
}

type ReadEnd = Done<ReadList> | Refused | Failed;

/** The growing end of a list, and its order. */
export type OrderedEnd = GrowingEnd & { readonly order: KeyOrder };

/** Reads a list from its growing end, until a window meets the known records. */
export async function readGrowth(run: ListRun, stage: Stage, growth: OrderedEnd): Promise<ReadEnd> {
  const { list, context, begunAtMs } = run;
  const { firstPageNo, pageSize, newestKey, newestRows, order } = growth;
  const { servedSize } = stage.state;
  // The service counts those that can't be read, too.
  const count = context.sumBefore.count + stage.rejectedBefore;
  const pageCount = Math.ceil(count / pageSize);
  const paging = { firstPageNo, pageSize, pageCount, sendsServedSize: true, isOnlySize: false };
  const identity = list.identity.by;
  const asking = proveGrowth({
    identity,
    order,
    largest: pageSize,
    overlap: overlapOf(pageSize, identity),
    newestKey,
    newestCount: newestRows.length,
    count,
  });
  const begun: ReadSoFar = { mode: 'incremental', paging, total: null, readings: 0, stage };
  const driven = await drive(asking, run, begun, null);
  const { found } = driven;
  if (driven.kind === 'failed') {
    const { error } = driven;
    // The full sync asks for pages of another size, or reports what is wrong with the service now.
    const isOfPages = error instanceof ServiceError && ['not_found', 'refused'].includes(error.code);
    return isOfPages ? { kind: 'refused', found, reason: error.message } : driven;
  }
  const end = driven.result;
  if (end.kind === 'full') return { kind: 'refused', found, reason: end.reason };
  const { answers } = end;
  const old = oldAnswers(answers, begunAtMs);
  if (old !== null) return { kind: 'refused', found, reason: sentenceOf(old) };
  const error = tooManyPages(run, Math.ceil((found.total ?? 0) / pageSize));
  if (error !== null) return { kind: 'failed', found, error };
  const since = readSince(answers, begunAtMs);
  const read = { proof: null, answers, firstPageNo, pageSize, servedSize, readSince: since, toResume: null };
  return { kind: 'done', found, result: read, endedBy: null };
}

/** Reads a whole list. */
export async function readFully(run: ListRun, stage: Stage, readingsBefore: number): Promise<ReadEnd> {
  const { context, source, list, signal, observer, begunAtMs } = run;
  const { state } = stage;
  const clockMs = run.clock().getTime();
  const served = stillServed(state.servedSize, context.sumBefore.count, clockMs);
  const wanted = run.pageSize ?? 'auto';
  const first = await getFirstPage(source, list, { wanted, served, nowMs: clockMs }, signal);
  seeFirstPage(context.facts, list, first);
  const { firstPageNo, pageSize, page } = first;
  const total = page.pagination.totalRecordCount;
  const begun: ReadSoFar = { mode: 'full', paging: first, total, readings: readingsBefore + 1, stage };
  const error = tooManyPages(run, pagesStated(first));
  if (error !== null) return { kind: 'failed', found: begun, error };
  observer.readingStarted(list, begun.readings, pagesStated(first));
  if (!run.isAfresh) stage.goOnAfter(first, run.nowMs());
  for (const tried of first.tried) stage.enter(tried, { index: 0, size: pageSize }, 0);
  const last = context.runs.last('written', list.resource)?.totalRecordCount ?? null;
  const totalBefore = stage.older.length > 0 && state.resumeLog ? state.resumeLog.totalBefore : last;
  const driven = await drive(proveList(run, stage, first, totalBefore), run, begun, page);
  if (driven.kind === 'failed') return driven;
  const { found, endedBy } = driven;
  const proof = unlessOld(begunAtMs, driven.result);
  const { answers, verdict, findings } = proof;
  if (verdict.isPageNoIgnored) {
    const message = `GET ${source.baseUrl}${list.path}: the service ignores pageNo: ${sentencesOf(verdict.findings)}`;
    const ignored = new ServiceError('pagination_ignored', message, { retryable: false });
    return { kind: 'failed', found, error: ignored };
  }
  const hasFailed = findings.some(({ code }) => code === 'page_failed');
  const isOpen = verdict.rule === 'key' && !verdict.isProven && !hasFailed;
  // Answers of an earlier run can be why it is open: the list is read again without them.
  if (stage.hasRecalled && isOpen && endedBy === null)
    return { kind: 'refused', found, reason: sentencesOf(findings) ?? '' };
  const result = {
    proof,
    answers,
    firstPageNo,
    pageSize,
    servedSize: first.served,
    readSince: readSince(answersInUse(proof), begunAtMs),
    toResume: endedBy === null ? null : { totalBefore },
  };
  return { kind: 'done', found, result, endedBy };
}

/** The proof of a whole list, by what runs before have learnt of it. */
function proveList(
  { context, list }: ListRun,
  stage: Stage,
  { pageSize, tried }: FirstPage,
  totalBefore: number | null,
) {
  const { runs } = context;
  const { state, older } = stage;
  const goesOn = older.length > 0;
  const isClean =
    state !== nothingLearnt &&
    runs.last('clean', list.resource)?.runId === runs.last('written', list.resource)?.runId;
  const identity = list.identity.by;
  const overlap = overlapOf(pageSize, identity);
  // The pages of a resume log are found by their addresses, and without these their own reading knew of no ties.
  const planned = goesOn ? (state.resumeLog?.planned ?? null) : [];
  return prove({
    identity,
    largest: pageSize,
    overlap,
    learnt: state.order,
    ties: planned && stage.sharedKeys.ties(state.order, overlap),
    planned: planned ?? [],
    run: context.runId,
    totalBefore,
    totalsTried: tried.map(({ pagination }) => pagination.totalRecordCount),
    retained: state.retained ?? null,
    // Only of a clean run pages are remembered.
    isAfterCleanRun: !goesOn && isClean,
    isKnown: digest => !goesOn && stage.knownPages.get(digest) !== null,
  });
}

/** If a cache gave old answers, they prove nothing of now, and no row goes: both answers for a removal can be as old. */
function unlessOld(begunAtMs: number, proof: Proof): Proof {
  const old = oldAnswers(proof.answers, begunAtMs);
  if (old === null) return proof; // guard: answers of a cache
  const rows = proof.rows.map(row => ({ ...row, decision: 'undecided' as const }));
  const findings = insteadOf(proof.findings, old);
  return { ...proof, rows, findings, verdict: { ...proof.verdict, isProven: false, findings } };
}

/** Answers that are so much older than the run do not show what is listed now. */
const oldAnswerMs = 10 * 60_000;

/** Says that a cache answered with pages that are older than the run; null if none did. */
function oldAnswers(answers: readonly Answer[], begunAtMs: number): Finding | null {
  const ageMs = begunAtMs - leastOf(answers.filter(isOfRun).map(({ at }) => at));
  return ageMs > oldAnswerMs ? { code: 'answers_old', ageMs: Math.round(ageMs) } : null;
}

/** The moment of the oldest of these answers, as an ISO date in UTC. */
function readSince(answers: readonly Answer[], begunAtMs: number): string {
  return new Date(Math.min(begunAtMs, leastOf(answers.map(({ at }) => at)))).toISOString();
}
