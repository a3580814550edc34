import { DocmirrorError, ServiceError } from '../errors.ts';
import { type Growth, proveGrowth } from '../proof/growth.ts';
import { type Proof, prove } from '../proof/prove.ts';
import { OtherWriters } from '../store/file/other-writers.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import { assertSums } from '../store/receipts/altered-lists.ts';
import { apply, type Written } from '../store/write/apply.ts';
import { diffOf, isProtected } from '../store/write/diff.ts';
import { KnownPages } from '../store/write/known-pages.ts';
import type { ListContext } from '../store/write/list-context.ts';
import { type ListState, nothingLearnt } from '../store/write/memory.ts';
import type { Result } from '../store/write/plan.ts';
import { Stage } from '../store/write/stage.ts';
import { describeReading, type Ending, ended, failed, trafficSince } from './list-outcome.ts';
import type { ListTask } from './list-task.ts';
import { getFirstPage, pageSizeAtFirst, pagesStated } from './pages.ts';
import type { ListOutcome } from './ports.ts';
import { type ListProgress, Reader, tooManyPages } from './read.ts';

/**
 * Mirrors one list: reads it until the answers prove its records, and writes them in one transaction. It returns how the list ended,
 * after recording it.
 *
 * @param onFault called with a fault of docmirror itself, which ends the list like any other error.
 */
export async function syncList(task: ListTask, onFault: (fault: unknown) => void): Promise<ListOutcome> {
  const { list, mirror, clock, observer } = task;
  const startedAt = clock().toISOString();
  const trafficBefore = { ...task.source.traffic };
  const progress: ListProgress = { envelope: null, total: null, walks: 0 };
  let mode: 'full' | 'incremental' = 'full';
  let seenCount = 0;
  const conclude = (ending: Ending): ListOutcome => ({
    resource: list.resource,
    startedAt,
    completedAt: clock().toISOString(),
    mode,
    ...describeReading(progress, seenCount),
    ...trafficSince(trafficBefore, task.source.traffic),
    ...ending,
  });

  observer.listStarted(list);
  let outcome: ListOutcome;
  let sync: ListSync | null = null;
  try {
    sync = new ListSync(task, await mirror.openList(list, startedAt), progress, (ending, ofMode) => {
      mode = ofMode;
      seenCount = sync?.seenCount ?? 0;
      return conclude(ending);
    });
    outcome = await sync.run();
  } catch (error) {
    mode = sync?.mode ?? 'full';
    seenCount = sync?.seenCount ?? 0;
    if (!(error instanceof DocmirrorError)) onFault(error);
    outcome = await mirror.recordList(conclude(failed(error)));
  } finally {
    sync?.end();
  }
  observer.listEnded(list, outcome);
  return outcome;
}

/** One list's part of a run. */
class ListSync {
  mode: 'full' | 'incremental' = 'full';
  readonly #task: ListTask;
  readonly #context: ListContext;
  readonly #progress: ListProgress;
  readonly #conclude: (ending: Ending, mode: 'full' | 'incremental') => ListOutcome;
  readonly #others: OtherWriters;
  readonly #state: ListState;
  readonly #totalBefore: number | null;
  #stage: Stage | null = null;
  #isTrusting = true;

  constructor(
    task: ListTask,
    context: ListContext,
    progress: ListProgress,
    conclude: (ending: Ending, mode: 'full' | 'incremental') => ListOutcome,
  ) {
    this.#task = task;
    this.#context = context;
    this.#progress = progress;
    this.#conclude = conclude;
    this.#others = new OtherWriters(context.file.sqlite);
    const last = context.records.last('written', context.list.resource);
    this.#state = last?.baseUrl === context.run.baseUrl ? context.memory.readState() : nothingLearnt;
    this.#totalBefore = last?.totalRecordCount ?? null;
  }

  get seenCount(): number {
    return this.#stage?.seenCount ?? 0;
  }

  end(): void {
    if (this.#context.file.sqlite.open) this.#stage?.end();
  }

  async run(): Promise<ListOutcome> {
    const { file } = this.#context;
    const { list, observer } = this.#task;
    try {
      let written = await this.#syncGrowth();
      for (let tries = 0; written.kind === 'again'; tries++) {
        if (written.reason !== '') observer.walkAgain(list, written.reason);
        if (tries > 1) throw new Error(`${list.resource}: ${written.reason}`);
        if (tries > 0) this.#forget();
        written = await this.#syncFully();
      }
      return written.outcome;
    } catch (error) {
      throw explainSqliteError(error, file.path);
    }
  }

  /** Forgets everything that earlier runs remember of the list, and everything that this run has read of it. */
  #forget(): void {
    const { file, list, sum } = this.#context;
    assertSums(file, [{ resource: list.resource, expected: sum }]);
    this.#isTrusting = false;
    this.#stage = null;
  }

  #staged(): Stage {
    const { file, table, sum, memory } = this.#context;
    const isKnown = this.#isTrusting && this.#state !== nothingLearnt;
    const known = new KnownPages(file.sqlite, table, () => (isKnown ? memory.readPages() : []));
    const names = this.#isTrusting ? this.#state.names : [];
    this.#stage ??= new Stage(file.sqlite, table, known, names, sum.count === 0);
    return this.#stage;
  }

  /** Reads a list from its growing end, until a window meets the known records. `again` if a full sync is due or needed. */
  async #syncGrowth(): Promise<Written> {
    const { growth, order } = this.#state;
    const { list, fullEveryMs, clock, pagesMax } = this.#task;
    const { sum } = this.#context;
    const full: Written = { kind: 'again', reason: '' };
    if (growth === null || order === null || order === 'none') return full;
    const ageMs = clock().getTime() - Date.parse(growth.sweptAt);
    const { firstPageNo, pageSize, newestKey } = growth;
    // A service might serve smaller pages than are asked for.
    const isSmaller = this.#task.pageSize !== null && this.#task.pageSize < pageSize;
    if (fullEveryMs === 0 || !(ageMs >= 0 && ageMs < fullEveryMs) || isSmaller) return full;
    const readAt = clock().toISOString();
    const stage = this.#staged();
    const envelope = {
      firstPageNo,
      pageSize,
      pageCount: Math.ceil(sum.count / pageSize),
      totalRecordCount: sum.count,
    };
    this.mode = 'incremental';
    const first = { page: null, envelope, sendsServedSize: true };
    const reader = new Reader(this.#task, stage, this.#progress, first, false);
    const known = {
      identity: list.identity.by,
      order,
      largest: pageSize,
      newestKey,
      count: sum.count,
      added: () => stage.addedCount,
    };
    this.#progress.envelope = envelope;
    const end = await reader.read(proveGrowth(known)).catch((error: unknown) => {
      // The full sync reports what is wrong with the service now.
      if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
      return { kind: 'full', reason: error.message } as Growth;
    });
    const total = this.#progress.total ?? 0;
    if (end.kind === 'full' || Math.ceil(total / pageSize) > pagesMax) {
      this.mode = 'full';
      return { kind: 'again', reason: end.kind === 'full' ? end.reason : '' };
    }
    this.#progress.envelope = {
      ...envelope,
      pageCount: Math.ceil(total / pageSize),
      totalRecordCount: total,
    };
    const result = {
      proof: null,
      answers: end.answers,
      unproven: null,
      undecided: 0,
      firstPageNo,
      pageSize,
      readAt,
    };
    const written = await this.#apply(result);
    if (written.kind === 'again') this.mode = 'full';
    return written;
  }

  async #syncFully(): Promise<Written> {
    const { source, list, signal, clock, observer, pagesMax } = this.#task;
    const readAt = clock().toISOString();
    this.mode = 'full';
    const first = await getFirstPage(source, list, this.#task.pageSize ?? pageSizeAtFirst, signal);
    const { firstPageNo, pageSize, totalRecordCount } = first.envelope;
    this.#progress.envelope = first.envelope;
    this.#progress.total = totalRecordCount;
    this.#progress.walks++;
    const pages = pagesStated(first.envelope);
    if (pages > pagesMax) throw tooManyPages(this.#task, pages);
    observer.walkStarted(list, this.#progress.walks, pages);
    const stage = this.#staged();
    for (const page of first.tried) stage.read(page, { index: 0, size: pageSize });
    const reader = new Reader(this.#task, stage, this.#progress, first, this.#isTrusting);
    const facts = {
      identity: list.identity.by,
      largest: pageSize,
      learnt: this.#state.order,
      run: this.#context.run.id,
      totalBefore: this.#totalBefore,
      unshown: (repeated: Parameters<Stage['settleRepeats']>[0]) => {
        stage.settleRepeats(repeated);
        return diffOf(stage, this.#progress.total ?? 0, true).unshown.filter(
          ({ id }) => !isProtected(stage, id),
        );
      },
    };
    const proof = await reader.read(prove(facts));
    const { answers } = proof;
    this.#assertPagesHeeded(proof);
    const undecided = proof.rows.filter(({ fate }) => fate !== 'gone').length;
    const unproven = this.#whyUnproven(proof, undecided);
    return this.#apply({ proof, answers, unproven, undecided, firstPageNo, pageSize, readAt });
  }

  #whyUnproven({ verdict, isSuddenlyEmpty, isOfNewest, failed }: Proof, undecided: number): string | null {
    const [first] = failed;
    if (first !== undefined) {
      const pageNo = (this.#progress.envelope?.firstPageNo ?? 0) + first.index;
      const others = failed.length === 1 ? '' : ` and ${failed.length - 1} more`;
      return `page_failed: page ${pageNo} of ${first.size}${others} can't be read: ${first.reason}`;
    }
    if (!verdict.isProven) return verdict.reason;
    if (undecided === 0) return null;
    const count = undecided === 1 ? '1 record of the mirror was' : `${undecided} records of the mirror were`;
    if (isSuddenlyEmpty)
      return `${count} not shown, because the list is empty all at once; the next run decides if it is empty then, too`;
    const total = this.#progress.total ?? 0;
    if (isOfNewest)
      return `${count} not shown and stay, because the service seems to list only its newest ${total}: its total stands still while records come and go`;
    return `${count} not shown, and could not be looked for a second time`;
  }

  #assertPagesHeeded({ verdict }: Proof): void {
    if (verdict.rule !== 'agreement' || verdict.isProven || verdict.isPageNoIgnored !== true) return;
    const { source, list } = this.#task;
    throw new ServiceError(
      'pagination_ignored',
      `GET ${source.baseUrl}${list.path}: the service ignores pageNo: ${verdict.reason}`,
      { retryable: false },
    );
  }

  #apply(result: Omit<Result, 'removals'>): Promise<Written> {
    const { removals, signal } = this.#task;
    const { unproven } = result;
    return apply(this.#context, {
      stage: this.#staged(),
      result: { ...result, removals },
      state: this.#state,
      others: this.#others,
      signal,
      conclude: applied => this.#conclude(ended(this.mode, unproven, applied), this.mode),
    });
  }
}
