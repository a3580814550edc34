import { and, count, eq, gte, lte } from 'drizzle-orm';
import { identityOf } from '../../contract/record-key.ts';
import { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import { passesGate } from '../../proof/gate.ts';
import { mayRemove } from '../../proof/removal-guard.ts';
import { learntOrder } from '../../proof/windows/order.ts';
import { addressText, type PageAnswer } from '../../proof/windows/page.ts';
import type { Applied, FieldNews, ListOutcome, ListResult, Written } from '../../sync/ports.ts';
import { TimeSlice } from '../../time-slice.ts';
import { rejectedRecords } from '../tables/schema.ts';
import { prepareValue, select } from '../tables/statement.ts';
import { changedIdentityField } from './changed-identity.ts';
import { fieldNews } from './field-news.ts';
import type { ListContext } from './list-context.ts';
import { type ListState, nothingLearnt, type UsedPage } from './list-memory.ts';
import type { ListReading } from './list-reading.ts';
import type { ListRows } from './list-rows.ts';
import { Rejections } from './rejections.ts';
import { type Fate, fatesOf } from './row-fates.ts';
import type { UnshownRow, UnshownRows } from './unshown-rows.ts';

type FullResult = Extract<ListResult, { readonly kind: 'full' }>;

/**
 * Ends a list inside its transaction, and leaves the commit to the caller. It decides what happens to the rows that no answer has
 * shown, and compares the rows with what was read. It writes connections, rejected records, notes for the next run, and the run's
 * record.
 */
export class ListWriter {
  readonly #context: ListContext;
  readonly #rows: ListRows;
  readonly #reading: ListReading;
  readonly #unshown: UnshownRows;
  readonly #state: ListState;
  #removalsWithheld = 0;
  #changedIdentity: string | null = null;
  #undecided = 0;
  #waiting: number[] = [];

  constructor(
    context: ListContext,
    rows: ListRows,
    reading: ListReading,
    unshown: UnshownRows,
    state: ListState,
  ) {
    this.#context = context;
    this.#rows = rows;
    this.#reading = reading;
    this.#unshown = unshown;
    this.#state = state;
  }

  async write(
    result: ListResult,
    outcome: (applied: Applied, unproven: string | null) => ListOutcome,
    signal: AbortSignal,
  ): Promise<Written> {
    const { list, run, sum, records } = this.#context;
    const { writer, transaction } = this.#rows;
    const known = result.kind === 'full' ? this.#unshown.knownSum() : new Sum();
    if (result.kind === 'full') await this.#removeGone(result, known.count, signal);
    else if (this.#state.growth?.newestRows.every(row => this.#reading.isShown(row)) !== true)
      return again('the newest known record is gone');
    if (result.kind === 'full' && !passesGate(this.#expected(known), writer.sum))
      return again(`the rows of ${list.resource} would differ from what was read of the list`);

    const untold = this.#hearOfConnections(result);
    if (untold !== null) return again(untold);

    this.#writeRejections(result);
    const recordCount = sum.count;
    const unproven = this.#whyUnproven(result);
    this.#writeMemory(result, unproven === null);
    const news = fieldNews(this.#context, {
      isFull: result.kind === 'full',
      isProven: unproven === null,
      hasFurtherFields: this.#reading.hasFurtherFields,
    });
    const applied = { ...this.#summarize(recordCount), ...news };
    const ended = outcome(applied, unproven);
    records.endList(transaction, run.id, ended, applied.recordCount);
    return { kind: 'written', outcome: ended };
  }

  /** Removes the rows that are gone, unless they are too many, or a rejected record might be one of them. */
  async #removeGone(result: FullResult, knownCount: number, signal: AbortSignal): Promise<void> {
    const rows = this.#unshownAndUnprotected();
    const fates = fatesOf(result.verdict, rows, {
      shownCount: this.#reading.shownCount + this.#reading.rejected.count + knownCount,
      isLookExhausted: result.isLookExhausted,
      waiting: new Set(this.#state.waiting),
    });
    const those = (...wanted: readonly Fate[]) =>
      rows.filter((_, at) => wanted.includes(fates[at] as Fate)).map(({ id }) => id);
    const gone = those('gone');
    this.#waiting = those('gone', 'waiting');
    this.#undecided = rows.length - gone.length;
    if (!this.#isAllowed(gone, result)) {
      this.#removalsWithheld = gone.length;
      this.#changedIdentity = changedIdentityField(this.#context, gone);
      return;
    }
    this.#waiting = those('waiting');
    const slice = new TimeSlice(signal);
    for (const id of gone) {
      this.#rows.writer.remove(id);
      if (slice.isOver) await slice.next();
    }
    this.#unshown.forget(new Set(gone));
  }

  /** Rows that no answer has shown, without those that have the identity of a rejected record. */
  #unshownAndUnprotected(): readonly UnshownRow[] {
    const { table, list } = this.#context;
    const rows = this.#unshown.all();
    const identities = new Set(this.#reading.rejected.all.map(({ identity }) => identity));
    if (identities.size === 0) return rows;
    return rows.filter(({ id }) => !identities.has(identityOf(list, table.read(id).record))); // guard: rejected records keep their rows
  }

  #isAllowed(gone: readonly number[], { removals }: FullResult): boolean {
    if (gone.length === 0) return true;
    const { table, records, list, sum } = this.#context;
    if (this.#isUnreadableNew(records.lastSure(list.resource)?.runId ?? 0)) return false;
    // Only rows up to the last settled run count. A run that withheld removals is not settled: otherwise the next run could remove
    // them all.
    const settled = records.lastSettled(list.resource);
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const counted = gone.filter(id => table.read(id).firstSeenRunId <= settledRunId).length;
    return mayRemove(counted, settled?.recordCount ?? sum.count, removals);
  }

  /** Whether a record was rejected that is completely unreadable, and that was not there in the settled run. */
  #isUnreadableNew(settledRunId: number): boolean {
    const unreadable = this.#reading.rejected.all.filter(({ identity }) => identity === null);
    if (unreadable.length === 0) return false;
    const of = rejectedRecords;
    const known = prepareValue(
      this.#context.file.sqlite,
      (resource: string, bytes: Buffer, runId: number, sameRunId: number) =>
        select({ count: count() })
          .from(of)
          .where(
            and(
              eq(of.resource, resource),
              eq(of.content, bytes),
              lte(of.runId, runId),
              gte(of.lastRunId, sameRunId),
            ),
          ),
    );
    const { resource } = this.#context.list;
    return unreadable.some(
      each => (known.get(resource, each.content, settledRunId, settledRunId) ?? 0) < each.count,
    ); // guard: unreadable records
  }

  /** The expected sum of the rows: what answers have shown, and what stays because nothing shows it gone. */
  #expected(known: Sum): Sum {
    const expected = this.#reading.shownSum.plus(known);
    for (const { id } of this.#unshown.all()) expected.addHex(this.#context.table.read(id).content);
    return expected;
  }

  /**
   * Applies what was read of connections.
   *
   * @returns why the list must be read completely; null if what was read is enough.
   * @throws MirrorAlteredError if a record refers to a connection that another program removed.
   */
  #hearOfConnections(result: ListResult): string | null {
    const { list, run, file } = this.#context;
    const { connections, writer } = this.#rows;
    const { resource } = list;
    const claims = this.#reading.claims();
    const isSure = result.kind === 'incremental' || result.verdict.isProven;
    const isWhole = result.kind === 'full' && isSure && this.#reading.isComplete;
    if (isSure && !isWhole && connections.needsWhole(resource, claims, writer.releasedMentions()))
      return `a connection might have another name in ${resource}, and only a full sync shows it`;
    writer.history.endConnections(connections.hear(resource, claims, isWhole, run.id));
    const missing = connections.missing();
    if (missing !== undefined)
      throw new MirrorAlteredError(
        `Another program altered ${file.path}: records refer to connection ${missing}, which has no row`,
      );
    return null;
  }

  #writeRejections({ kind, firstPageNo, pageSize }: ListResult): void {
    const { list, run } = this.#context;
    if (kind === 'incremental' && this.#reading.rejected.count === 0) return;
    const rejections = new Rejections(this.#rows.transaction, list.resource, run.id);
    for (const { place, reason, text, count } of this.#reading.rejected.all) {
      const pageNo = firstPageNo + Math.floor(place / pageSize);
      const rejection = { position: place % pageSize, reason, record: text };
      for (let time = 0; time < count; time++) rejections.add(pageNo, rejection);
    }
  }

  #whyUnproven(result: ListResult): string | null {
    if (result.kind === 'incremental') return null;
    const { verdict, isLookExhausted } = result;
    if (!verdict.isProven) return verdict.reason ?? 'the answers do not cover all records';
    if (this.#undecided === 0) return null;
    const count = this.#undecided === 1 ? '1 record' : `${this.#undecided} records`;
    if (this.#waiting.length > 0 || isLookExhausted)
      return `${count} of the mirror ${this.#undecided === 1 ? 'was' : 'were'} not shown; the next run decides if it shows the same`;
    return `${count} of the mirror could not be checked a second time`;
  }

  #writeMemory(result: ListResult, isProven: boolean): void {
    const { memory, run } = this.#context;
    const isSure = isProven && this.#reading.rejected.count === 0 && this.#removalsWithheld === 0;
    const keepSince = new Date(Date.parse(run.startedAt) - run.addressesKeptMs).toISOString();
    if (result.kind === 'incremental') {
      const { growth, order, waiting } = this.#state;
      const isGrowing = isSure && growth !== null;
      memory.writeState(run.id, {
        order,
        waiting,
        growth: isGrowing ? { ...growth, ...this.#newest() } : null,
      });
      return;
    }
    const { verdict, answers, ending, firstPageNo, pageSize, readAt } = result;
    memory.writePages(run.startedAt, usedPages(answers, ending, isSure && verdict.rule === 'key'), keepSince);
    const order = isProven ? learntOrder(answers) : this.#state.order;
    const newest = this.#newest();
    const isOrdered = order === 'up' || order === 'down';
    const areFew = newest.newestRows.length > 0 && newest.newestRows.length <= newestRowsMax;
    const isLong = this.#rows.writer.sum.count > pagesAlwaysInFull * pageSize;
    const canGrow = isSure && isOrdered && verdict.rule === 'key' && areFew && isLong;
    const growth = canGrow ? { sweptAt: readAt, firstPageNo, pageSize, ...newest } : null;
    memory.writeState(run.id, { ...nothingLearnt, order, waiting: this.#waiting, growth });
  }

  /** The newest key and its rows: of this run or, if they are on a known page that was not parsed, of the run before. */
  #newest(): { newestKey: number; newestRows: number[] } {
    const { key, rows } = this.#reading.newest;
    const { growth } = this.#state;
    const known = growth?.newestRows.filter(row => this.#context.table.has(row)) ?? [];
    if (growth !== null && growth.newestKey > key && known.length > 0)
      return { newestKey: growth.newestKey, newestRows: known };
    return { newestKey: key, newestRows: [...rows] };
  }

  #summarize(recordCount: number): Omit<Applied, keyof FieldNews> {
    const { counts, sum } = this.#rows.writer;
    return {
      ...counts,
      unchanged: recordCount - counts.updated - counts.removed - this.#removalsWithheld,
      rejected: this.#reading.rejected.count,
      removalsWithheld: this.#removalsWithheld,
      changedIdentity: this.#changedIdentity,
      undecided: this.#undecided,
      recordCount: sum.count,
      checksum: sum.toString(),
    };
  }
}

function again(reason: string): Written {
  return { kind: 'again', reason };
}

/** A list with at most this many pages is always read in full: it costs little, and shows every change. */
const pagesAlwaysInFull = 10;

/** If more rows share the newest time, the list is read in full. */
const newestRowsMax = 1_000;

/** The pages that a run has asked for, with the summaries of those that the next run can use. */
function usedPages(
  answers: readonly PageAnswer[],
  ending: ReadonlySet<PageAnswer>,
  areKnown: boolean,
): UsedPage[] {
  const pages = new Map<string, UsedPage>();
  for (const answer of answers) {
    const { index, size, summary, isSecondLook } = answer;
    const isKept = areKnown && !isSecondLook && summary.count > 0;
    const known = isKept ? { summary, isEnd: ending.has(answer) } : null;
    pages.set(addressText(answer), { index, size, known });
  }
  return [...pages.values()];
}
