import type { Applied, ListOutcome, RunError } from '../contract/run.ts';
import { CancelledError, DocmirrorError, ServiceError } from '../errors.ts';
import { type Growth, proveGrowth } from '../proof/growth.ts';
import { type Proof, prove } from '../proof/prove.ts';
import { otherWriters } from '../store/file/lock-file.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import { assertSum } from '../store/receipts/altered-lists.ts';
import { apply } from '../store/write/apply.ts';
import { type ListState, nothingLearnt } from '../store/write/memory.ts';
import type { ListContext } from '../store/write/mirror.ts';
import { missingRows, type Result } from '../store/write/plan.ts';
import { Stage } from '../store/write/stage.ts';
import { getFirstPage, pageSizeAtFirst, pagesStated } from './pages.ts';
import { assertPagesMax, type ListProgress, type ListTask, Reader } from './read.ts';

/**
 * Mirrors one list: reads it until the answers prove its records, and writes them in one transaction. It returns how the list ended,
 * after recording it.
 *
 * @param onFault called with a fault of docmirror itself, which ends the list like any other error.
 */
export async function syncList(task: ListTask, onFault: (fault: unknown) => void): Promise<ListOutcome> {
  const { list, mirror, clock, observer, source } = task;
  const startedAt = clock().toISOString();
  const before = { ...source.traffic };
  const progress: ListProgress = { mode: 'full', paging: null, total: null, walks: 0, seenCount: 0 };
  const conclude = (ending: Ending): ListOutcome => {
    const { mode, paging, total, walks, seenCount } = progress;
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
      recordsSeen: seenCount,
      walks,
      requests: requests - before.requests,
      retries: retries - before.retries,
      bytes: bytes - before.bytes,
      waitedMs: waitedMs - before.waitedMs,
      ...ending,
    };
  };
  observer.listStarted(list);
  let outcome: ListOutcome;
  try {
    outcome = await readAndWrite(task, await mirror.openList(list, startedAt), progress, conclude);
  } catch (error) {
    if (!(error instanceof DocmirrorError)) onFault(error);
    outcome = await mirror.recordList(conclude(failed(error)));
  }
  observer.listEnded(list, outcome);
  return outcome;
}

/** How a list ended, and how many rows were written. */
type Ending = Pick<
  ListOutcome,
  'status' | 'completeness' | 'error' | 'reason' | Exclude<keyof Applied, 'recordCount'>
>;

/** A list that is read, and what is known of it from before. */
interface Reading {
  readonly task: ListTask;
  readonly context: ListContext;
  readonly progress: ListProgress;
  readonly stage: Stage;
  readonly state: ListState;
  readonly totalBefore: number | null;
}

/** The result of reading; or why the list has to be read again, empty if that is as usual. */
type Read = Omit<Result, 'removals'> | string;

/** Reads from the growing end if that is enough, or else the whole list; at last without what earlier runs remember. */
async function readAndWrite(
  task: ListTask,
  context: ListContext,
  progress: ListProgress,
  conclude: (ending: Ending) => ListOutcome,
): Promise<ListOutcome> {
  const { list, observer, removals, signal } = task;
  const { file, sum, memory } = context;
  const haveOthersWritten = otherWriters(file.sqlite);
  const last = context.records.last('written', list.resource);
  const totalBefore = last?.totalRecordCount ?? null;
  let state = last?.baseUrl === context.run.baseUrl ? memory.readState() : nothingLearnt;
  let stage: Stage | null = null;
  try {
    for (let tries = 0; ; tries++) {
      if (tries === 2) {
        assertSum(file, list.resource, sum);
        state = nothingLearnt;
        stage = null;
      }
      stage ??= new Stage(context, state);
      const reading = { task, context, progress, stage, state, totalBefore };
      const read = await (tries === 0 ? readGrowth(reading) : readFully(reading));
      let reason = read as string;
      if (typeof read !== 'string') {
        const finish = (applied: Applied) => conclude(ended(progress.mode, read.unproven, applied));
        const result = { ...read, removals };
        const written = await apply(context, {
          stage,
          result,
          state,
          haveOthersWritten,
          signal,
          conclude: finish,
        });
        if (typeof written !== 'string') return written;
        reason = written;
      }
      if (reason !== '') observer.walkAgain(list, reason);
      if (tries === 2) throw new Error(`${list.resource}: ${reason}`);
    }
  } catch (error) {
    throw explainSqliteError(error, file.path);
  } finally {
    if (file.sqlite.open) stage?.end();
  }
}

/** Reads a list from its growing end, until a window meets the known records. */
async function readGrowth({ task, context, progress, stage, state }: Reading): Promise<Read> {
  const { growth, order } = state;
  const { list, fullEveryMs, clock } = task;
  const { count } = context.sum;
  if (growth === null || order === null || order === 'none') return '';
  const ageMs = clock().getTime() - Date.parse(growth.sweptAt);
  const { firstPageNo, pageSize, newestKey } = growth;
  // A service might serve smaller pages than are asked for.
  const isSmaller = task.pageSize !== null && task.pageSize < pageSize;
  if (fullEveryMs === 0 || !(ageMs >= 0 && ageMs < fullEveryMs) || isSmaller) return '';
  const readAt = clock().toISOString();
  const pageCount = Math.ceil(count / pageSize);
  progress.mode = 'incremental';
  progress.paging = { firstPageNo, pageSize, pageCount, sendsServedSize: true };
  const identity = list.identity.by;
  const added = () => stage.addedCount;
  const known = { identity, order, largest: pageSize, newestKey, count, added };
  const reader = new Reader(task, stage, progress, progress.paging, null);
  const end = await reader.read(proveGrowth(known)).catch((error: unknown): Growth => {
    // The full sync reports what is wrong with the service now.
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    return { kind: 'full', reason: error.message };
  });
  if (end.kind === 'full') return end.reason;
  assertPagesMax(task, Math.ceil((progress.total ?? 0) / pageSize));
  return { proof: null, answers: end.answers, unproven: null, undecided: 0, firstPageNo, pageSize, readAt };
}

async function readFully({ task, context, progress, stage, state, totalBefore }: Reading): Promise<Read> {
  const { source, list, signal, clock, observer } = task;
  const readAt = clock().toISOString();
  progress.mode = 'full';
  const first = await getFirstPage(source, list, task.pageSize ?? pageSizeAtFirst, signal);
  const { firstPageNo, pageSize, page } = first;
  progress.paging = first;
  progress.total = page.pagination.totalRecordCount;
  progress.walks++;
  assertPagesMax(task, pagesStated(first));
  observer.walkStarted(list, progress.walks, pagesStated(first));
  for (const tried of first.tried) stage.read(tried, { index: 0, size: pageSize });
  const proof = await new Reader(task, stage, progress, first, page).read(
    prove({
      identity: list.identity.by,
      largest: pageSize,
      learnt: state.order,
      run: context.run.id,
      totalBefore,
      unshown(repeated) {
        stage.settleRepeats(repeated);
        return missingRows(stage, progress.total ?? 0);
      },
    }),
  );
  const { answers, rows, verdict } = proof;
  if (verdict.rule === 'agreement' && !verdict.isProven && verdict.isPageNoIgnored === true) {
    const message = `GET ${source.baseUrl}${list.path}: the service ignores pageNo: ${verdict.reason}`;
    throw new ServiceError('pagination_ignored', message, { retryable: false });
  }
  const undecided = rows.filter(({ fate }) => fate !== 'gone').length;
  const unproven = whyUnproven(proof, undecided, progress);
  return { proof, answers, unproven, undecided, firstPageNo, pageSize, readAt };
}

function whyUnproven(proof: Proof, undecided: number, { paging, total }: ListProgress): string | null {
  const { verdict, isSuddenlyEmpty, isOfNewest, failed: pages } = proof;
  const [first] = pages;
  if (first !== undefined) {
    const pageNo = (paging?.firstPageNo ?? 0) + first.index;
    const others = pages.length === 1 ? '' : ` and ${pages.length - 1} more`;
    return `page_failed: page ${pageNo} of ${first.size}${others} can't be read: ${first.reason}`;
  }
  if (!verdict.isProven) return verdict.reason;
  if (undecided === 0) return null;
  const count = undecided === 1 ? '1 record of the mirror was' : `${undecided} records of the mirror were`;
  if (isSuddenlyEmpty)
    return `${count} not shown, because the list is empty all at once; the next run decides if it is empty then, too`;
  if (isOfNewest)
    return `${count} not shown and stay, because the service seems to list only its newest ${total}: its total stands still while records come and go`;
  return `${count} not shown, and could not be looked for a second time`;
}

/** How a list ends that was written; `unproven` says why it is not proven. */
function ended(
  mode: ListProgress['mode'],
  unproven: string | null,
  { recordCount: _, ...counts }: Applied,
): Ending {
  const completeness = mode === 'full' ? 'proven' : 'incremental';
  const isWhole = unproven === null && counts.rejected === 0 && counts.removalsWithheld === 0;
  const reasons = [unproven, whyWithheld(counts)].filter(each => each !== null);
  return {
    ...counts,
    status: isWhole ? 'completed' : 'partial',
    completeness: unproven === null ? completeness : 'unproven',
    error: null,
    reason: reasons.join('; ') || null,
  };
}

function whyWithheld({ removalsWithheld, rejected, changedIdentity }: Omit<Applied, 'recordCount'>) {
  if (removalsWithheld === 0) return null;
  if (rejected > 0)
    return 'removals were withheld because some records could not be read; a missing record might be one of them';
  const why = 'removals were withheld because they are more than DOCMIRROR_MAX_REMOVALS allows';
  if (changedIdentity === null) return why;
  return `as many new records differ from the missing ones only in ${changedIdentity}; ${why}`;
}

/** How an error ends a list, also a fault of docmirror itself. */
function failed(error: unknown): Ending {
  return {
    status: error instanceof CancelledError ? 'cancelled' : 'failed',
    completeness: null,
    inserted: 0,
    updated: 0,
    removed: 0,
    unchanged: 0,
    rejected: 0,
    removalsWithheld: 0,
    changedIdentity: null,
    undecided: 0,
    newFields: [],
    emptiedColumns: [],
    checksum: null,
    error: runErrorOf(error),
    reason: null,
  };
}

/** An error as it is recorded; an unexpected one is a fault of docmirror itself, `internal`. */
export function runErrorOf(error: unknown): RunError {
  if (error instanceof DocmirrorError) return { code: error.code, message: error.message };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) };
}
