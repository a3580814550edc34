import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import { CancelledError, DocmirrorError, ServiceError } from '../errors.ts';
import { type ListEdges, pagesSweptAlwaysMax } from '../proof/incremental.ts';
import { judge, Ledger, type Verdict, type WalkReport } from '../proof/ledger.ts';
import { type RemovalGuard, removalsAllowed } from '../proof/removal-guard.ts';
import { factsOf } from './page-facts.ts';
import { type FirstPage, getFirstPage, pageSizeAtFirst } from './page-size.ts';
import type {
  Applied,
  ApplyOrder,
  Clock,
  ListMirror,
  ListOutcome,
  Mirror,
  PageSource,
  RunStatus,
  Traffic,
} from './ports.ts';
import { type IncrementalReport, readEdges } from './read-edges.ts';
import { walkPages } from './walk.ts';

/** Told how a list's part of a run goes on; for progress bars and logs. */
export interface ListObserver {
  listStarted(list: ListDefinition): void;
  walkStarted(list: ListDefinition, walk: number, pageCount: number, pagesKnown: number): void;
  pageDone(list: ListDefinition, pageNo: number, pageCount: number): void;
  walkAgain(list: ListDefinition, reason: string): void;
  listEnded(list: ListDefinition, outcome: ListOutcome): void;
}

export interface ListTask {
  readonly list: ListDefinition;
  readonly source: PageSource;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly observer: ListObserver;
  readonly signal: AbortSignal;
  /** What to ask for as `pageSize`; null finds the largest by itself. */
  readonly pageSize: number | null;
  readonly removals: RemovalGuard;
  /** Walk until two walks agree, also where one would do. */
  readonly mustProve: boolean;
  /** Full sweeps are no further apart than this, in milliseconds; 0 makes every sweep full. */
  readonly fullEveryMs: number;
}

/** What was found out before a list ended, well or not. */
interface Progress {
  walks: WalkReport[];
  walksBegun: number;
  /** True where the last walk was begun by an earlier run, which leaves it more time to be wrong. */
  isResumed: boolean;
  /** What an incremental sync saw, where it was enough. */
  incremental: IncrementalReport | null;
}

/**
 * Mirrors one list: walks it until the walks prove what it holds, then writes that in one transaction. It always returns how
 * the list ended, and has recorded it; only a fault of docmirror itself is thrown.
 */
export async function syncList(task: ListTask): Promise<ListOutcome> {
  const { list, mirror, clock, observer } = task;
  const startedAt = clock().toISOString();
  const trafficBefore = { ...task.source.traffic };
  const progress: Progress = { walks: [], walksBegun: 0, isResumed: false, incremental: null };
  const conclude = (ending: Ending): ListOutcome => ({
    resource: list.resource,
    startedAt,
    completedAt: clock().toISOString(),
    ...describeWalk(progress),
    ...trafficSince(trafficBefore, task.source.traffic),
    ...ending,
  });

  observer.listStarted(list);
  let outcome: ListOutcome;
  try {
    const listMirror = await mirror.openList(list, startedAt);
    progress.incremental = await readEdges(task, listMirror);
    outcome =
      progress.incremental === null
        ? await walkAndApply(task, listMirror, progress, conclude)
        : await listMirror.apply(
            incrementalOrder(progress.incremental),
            applied => conclude(incrementalEnding(applied)),
            task.signal,
          );
  } catch (error) {
    outcome = conclude(failed(error));
    await mirror.recordList(outcome);
  }
  observer.listEnded(list, outcome);
  return outcome;
}

async function walkAndApply(
  task: ListTask,
  listMirror: ListMirror,
  progress: Progress,
  conclude: (ending: Ending) => ListOutcome,
): Promise<ListOutcome> {
  const sweptAt = task.clock().toISOString();
  const verdict = await walkUntilProven(task, listMirror, progress);
  if (verdict.kind === 'pagination_ignored') {
    throw new ServiceError(
      'pagination_ignored',
      `GET ${task.source.baseUrl}${task.list.path}: the service does not heed pageNo: ${verdict.reason}`,
      { retryable: false },
    );
  }
  const lastWalk = progress.walks.at(-1) as WalkReport;
  const order: ApplyOrder = {
    walks: verdict.kind === 'unproven' ? 'all' : 'last',
    removalsMax: removalsAllowed(verdict, lastWalk.rejected, listMirror.recordCount, task.removals),
    edges: isSureOfAll(verdict, progress) ? edgesOf(task, lastWalk, sweptAt) : null,
  };
  return listMirror.apply(order, applied => conclude(ended(verdict, applied)), task.signal);
}

/** Whether incremental runs may build on what the walks saw. */
function isSureOfAll(verdict: Verdict, { isResumed }: Progress): boolean {
  return verdict.kind === 'proven' || (verdict.kind === 'count_matched' && !isResumed);
}

function incrementalOrder({ edges }: IncrementalReport): ApplyOrder {
  return { walks: 'edges', removalsMax: 0, edges };
}

function incrementalEnding(applied: Applied): Ending {
  return { ...ended({ kind: 'count_matched' }, applied), completeness: 'incremental' };
}

/** How the ends of the list looked in a walk that was sure of them; null for lists that are always swept in full. */
function edgesOf({ source }: ListTask, walk: WalkReport, sweptAt: string): ListEdges | null {
  const { envelope, lastPageNo, firstDigest, lastDigest } = walk;
  const { firstPageNo, pageSize, totalRecordCount } = envelope;
  if (lastPageNo - firstPageNo < pagesSweptAlwaysMax) return null;
  return {
    baseUrl: source.baseUrl,
    sweptAt,
    firstPageNo,
    pageSize,
    totalRecordCount,
    lastPageNo,
    firstDigest,
    lastDigest,
  };
}

/** Walks the list until the walks come to a verdict. The bound on walks is the ledger's. */
async function walkUntilProven(task: ListTask, listMirror: ListMirror, progress: Progress): Promise<Verdict> {
  for (;;) {
    progress.walks.push(await walkOnce(task, listMirror, progress));
    const verdict = judge(progress.walks, task.mustProve);
    if (verdict.kind !== 'again') return verdict;
    task.observer.walkAgain(task.list, verdict.reason);
  }
}

async function walkOnce(task: ListTask, listMirror: ListMirror, progress: Progress): Promise<WalkReport> {
  const { list, source, signal, observer } = task;
  const wanted = task.pageSize ?? listMirror.pageSizeThatWorked ?? pageSizeAtFirst;
  const first = await getFirstPage(source, list, wanted, signal);
  progress.walksBegun++;
  const { envelope } = first;
  const ledger = new Ledger(envelope);
  const known = new Set<number>();
  for (const findings of listMirror.beginWalk(envelope, first.page)) {
    if (ledger.admit(findings)) ledger.add(findings);
    known.add(findings.pageNo);
  }
  progress.isResumed = known.size > 0;
  observer.walkStarted(list, progress.walksBegun, ledger.lastPageNo - envelope.firstPageNo + 1, known.size);
  for await (const { pageNo, page } of allPages(task, first, ledger, known, listMirror)) {
    enter(ledger, listMirror, list, pageNo, page);
    observer.pageDone(list, pageNo, ledger.lastPageNo - envelope.firstPageNo + 1);
    if (ledger.isPointless) break;
  }
  return ledger.report(listMirror.unseenCount());
}

/** Enters a page into the ledger and, where it is one of the list's, into the mirror's staging. */
function enter(
  ledger: Ledger,
  listMirror: ListMirror,
  list: ListDefinition,
  pageNo: number,
  page: Page | null,
): void {
  if (page === null) {
    ledger.addMissing(pageNo);
    return;
  }
  const facts = factsOf(list, listMirror, pageNo, page);
  if (ledger.admit(facts)) ledger.add(listMirror.takeIn(facts, page));
}

/** The first page, unless it is known already, then all others that are not, as far as the ledger says that there are pages. */
async function* allPages(
  task: ListTask,
  first: FirstPage,
  ledger: Ledger,
  known: ReadonlySet<number>,
  listMirror: ListMirror,
) {
  const { firstPageNo } = first.envelope;
  if (!known.has(firstPageNo)) yield { pageNo: firstPageNo, page: first.page };
  let pageNo = firstPageNo;
  const plan = {
    next(): number | null {
      do pageNo++;
      while (known.has(pageNo));
      if (pageNo <= ledger.lastPageNo) return pageNo;
      pageNo--;
      return null;
    },
  };
  const isKnown = (itemsDigest: string) => listMirror.knownItemCount(itemsDigest) !== null;
  yield* walkPages(task.source, task.list, first.asked, plan, isKnown, task.signal);
}

type Ending = Pick<
  ListOutcome,
  | 'status'
  | 'completeness'
  | 'inserted'
  | 'updated'
  | 'removed'
  | 'unchanged'
  | 'rejected'
  | 'removalsWithheld'
  | 'error'
  | 'reason'
>;

function ended(verdict: Verdict, applied: Applied): Ending {
  const isWhole = verdict.kind !== 'unproven' && applied.rejected === 0 && applied.removalsWithheld === 0;
  return {
    status: isWhole ? 'completed' : 'partial',
    completeness: verdict.kind === 'proven' || verdict.kind === 'count_matched' ? verdict.kind : 'unproven',
    inserted: applied.inserted,
    updated: applied.updated,
    removed: applied.removed,
    unchanged: applied.unchanged,
    rejected: applied.rejected,
    removalsWithheld: applied.removalsWithheld,
    error: null,
    reason: 'reason' in verdict ? verdict.reason : null,
  };
}

/** How a fault ends a list. A fault of docmirror itself is not dressed up: it is thrown on. */
function failed(error: unknown): Ending {
  if (!(error instanceof DocmirrorError)) throw error;
  const status: RunStatus = error instanceof CancelledError ? 'cancelled' : 'failed';
  return {
    status,
    completeness: null,
    inserted: 0,
    updated: 0,
    removed: 0,
    unchanged: 0,
    rejected: 0,
    removalsWithheld: 0,
    error: { code: error.code, message: error.message },
    reason: null,
  };
}

function describeWalk({ walks, walksBegun, incremental }: Progress) {
  const last = incremental ?? walks.at(-1);
  return {
    mode: incremental === null ? ('full' as const) : ('incremental' as const),
    firstPageNo: last?.envelope.firstPageNo ?? null,
    pageSize: last?.envelope.pageSize ?? null,
    pageCount: last?.envelope.pageCount ?? null,
    totalRecordCount: last?.envelope.totalRecordCount ?? null,
    recordsSeen: last?.recordsSeen ?? 0,
    walks: walksBegun,
  };
}

function trafficSince(before: Traffic, now: Traffic): Traffic {
  return {
    requests: now.requests - before.requests,
    retries: now.retries - before.retries,
    bytes: now.bytes - before.bytes,
    waitedMs: now.waitedMs - before.waitedMs,
  };
}
