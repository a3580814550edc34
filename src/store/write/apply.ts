import { and, count, eq, gte, lte } from 'drizzle-orm';
import { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import type { Proof } from '../../proof/prove.ts';
import { mayRemove, passesGate, type RemovalGuard } from '../../proof/removal.ts';
import type { Answer } from '../../proof/window.ts';
import type { Applied, ListOutcome } from '../../sync/ports.ts';
import { TimeSlice } from '../../time-slice.ts';
import type { OtherWriters } from '../file/other-writers.ts';
import { assertSums } from '../receipts/altered-lists.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { rejectedRecords } from '../tables/schema.ts';
import { prepareValue, select } from '../tables/statement.ts';
import { changedIdentityField } from './changed-identity.ts';
import { type Diff, diffOf } from './diff.ts';
import { tellChanges } from './dry-run-changes.ts';
import { fieldNews } from './field-news.ts';
import { History } from './history.ts';
import { pagesToRemember } from './known-pages.ts';
import type { ListContext } from './list-context.ts';
import { type ListState, stateAfter } from './memory.ts';
import { compacted } from './names.ts';
import { Rejections } from './rejections.ts';
import type { Stage } from './stage.ts';
import type { OpenTransaction } from './transaction.ts';

/** The result of reading a list, to be written. */
export interface Result {
  /** Null if only the growing end of the list was read. */
  readonly proof: Proof | null;
  readonly answers: readonly Answer[];
  /** Why the list is not proven; null if it is. */
  readonly unproven: string | null;
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** When the reading began, as an ISO date in UTC. */
  readonly readAt: string;
  readonly removals: RemovalGuard;
}

/** The list was written and recorded, or it has to be read again without what earlier runs remember. */
export type Written =
  | { readonly kind: 'written'; readonly outcome: ListOutcome }
  | { readonly kind: 'again'; readonly reason: string };

/**
 * Writes what was read of a list, in one short transaction: versions that end, rows, names of connections, rejected records, notes for
 * the next run and the run's record; all or nothing. The rows must then have the sum of what was read.
 */
export async function apply(
  context: ListContext,
  stage: Stage,
  others: OtherWriters,
  state: ListState,
  result: Result,
  conclude: (applied: Applied) => ListOutcome,
  signal: AbortSignal,
): Promise<Written> {
  const { transactions, file, list, sum, run, observe } = context;
  const transaction = await transactions.begin(signal);
  try {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (others.haveWritten()) assertSums(file, [{ resource: list.resource, expected: sum }]);
    const writer = new Writer(context, stage, transaction, result);
    const written = await writer.write(state, conclude, signal);
    if (written.kind === 'again') {
      transactions.rollBack();
      return written;
    }
    signal.throwIfAborted();
    if (observe !== undefined)
      tellChanges(transaction.sqlite, context.table, writer.connections, run.id, observe);
    if (run.isDry) transactions.rollBack();
    else transactions.commit();
    return written;
  } catch (error) {
    transactions.rollBack();
    throw error;
  }
}

class Writer {
  readonly connections: ConnectionTable;
  readonly #context: ListContext;
  readonly #stage: Stage;
  readonly #transaction: OpenTransaction;
  readonly #result: Result;
  readonly #diff: Diff;
  readonly #history: History;
  readonly #counts = { inserted: 0, updated: 0, removed: 0 };
  /** The sum of the mirror's rows: that of the newest receipt, with every row that is written. */
  readonly #rows = new Sum();
  /** The sum of what was read, and of what stays. */
  readonly #read = new Sum();
  #base = 0;

  constructor(context: ListContext, stage: Stage, transaction: OpenTransaction, result: Result) {
    const { sqlite } = transaction;
    this.#context = context;
    this.#stage = stage;
    this.#transaction = transaction;
    this.#result = result;
    this.connections = new ConnectionTable(sqlite);
    this.#history = new History(sqlite, context.list, this.connections, context.run.id);
    this.#diff = diffOf(stage, greatestTotal(result.answers), result.proof !== null);
    this.#rows.addSum(context.sum);
  }

  async write(
    state: ListState,
    conclude: (applied: Applied) => ListOutcome,
    signal: AbortSignal,
  ): Promise<Written> {
    const { list, run, sum, records, table, memory } = this.#context;
    const { proof, unproven } = this.#result;
    const stage = this.#stage;
    const slice = new TimeSlice(signal);
    const hasFurtherFields = stage.sqlite.prepare(stage.sql.isIncomingFurther).get() !== undefined;
    this.#read.addSum(stage.shownSum.plus(stage.stagedSum));
    await this.#writeNew(slice);
    if (
      proof === null &&
      state.growth?.newestRows.every(row => stage.shown.has(row) || this.#isEdited(row)) !== true
    )
      return { kind: 'again', reason: 'the newest known record is gone' };
    const removals = await this.#removeGone(slice);
    // Of a growing list only the end was read: all other rows stay.
    const stays = proof === null ? sum.minus(stage.shownSum).minus(this.#editedUnshown) : removals.stays;
    this.#read.addSum(stays);
    if (!passesGate(this.#read, this.#rows))
      return {
        kind: 'again',
        reason: `the rows of ${list.resource} would differ from what was read of the list`,
      };

    const claims = stage.claims();
    const isWhole = proof !== null && proof.verdict.isProven;
    this.#history.endConnections(this.connections.hear(list.resource, claims, isWhole, run.id));
    this.#assertConnections();
    this.#writeRejections();
    const isSure = unproven === null && stage.rejected.count === 0 && removals.withheld === 0;
    const rowOf = (n: number) => this.#rowOf(n);
    const pages =
      proof !== null && isSure ? [...pagesToRemember(stage, proof, this.#result.pageSize, rowOf)] : [];
    const remembered = compacted(pages, stage.book);
    if (proof !== null) memory.writePages(run.startedAt, remembered.pages);
    const after = {
      ...this.#result,
      isSure,
      rowCount: this.#rows.count,
      rowOf,
      has: (row: number) => table.has(row),
    };
    memory.writeState(run.id, stateAfter(stage, state, after, remembered.entries));
    const news = fieldNews(this.#context, {
      isFull: proof !== null,
      isProven: unproven === null,
      hasFurtherFields,
    });
    const applied: Applied = {
      ...this.#counts,
      unchanged: sum.count - this.#counts.updated - this.#counts.removed - removals.withheld,
      rejected: stage.rejected.count,
      removalsWithheld: removals.withheld,
      changedIdentity: removals.changedIdentity,
      undecided: this.#result.undecided,
      recordCount: this.#rows.count,
      checksum: this.#rows.toString(),
      ...news,
    };
    const outcome = conclude(applied);
    records.endList(this.#transaction, run.id, outcome, applied.recordCount);
    return { kind: 'written', outcome };
  }

  /** Writes new versions, and inserts new records. */
  async #writeNew(slice: TimeSlice): Promise<void> {
    const { table, run, sum } = this.#context;
    const { sqlite } = this.#transaction;
    const stage = this.#stage;
    const { edits, used, dropped } = this.#diff;
    for (const { row, n } of edits) {
      this.#update(row, n);
      if (slice.isOver) await slice.next();
    }
    for (const n of dropped) this.#read.subtractHex(stage.contentOf(n));
    if (stage.isOfIds || stage.sql.hasChildren) {
      for (const n of sqlite.prepare<[], number>(stage.sql.all).pluck().all()) {
        if (table.has(n)) this.#update(n, n);
        else this.#insert(n);
        if (slice.isOver) await slice.next();
      }
      return;
    }
    for (const [n, count] of used) if (count >= this.#copiesOf(n)) sqlite.prepare(stage.sql.remove).run(n);
    this.#base = sqlite.prepare<[], number>(stage.sql.lastId).pluck().get() as number;
    // Without rows there is nothing to look up, and indexes are made faster afterwards.
    const indexes = sum.count === 0 && stage.stagedSum.count > 1000 ? table.dropIndexes() : [];
    const { changes } = sqlite.prepare(stage.sql.insertAll).run({ base: this.#base, run: run.id });
    this.#counts.inserted += changes;
    await this.#sumOfNew(slice);
    for (const sql of indexes) sqlite.exec(sql);
    for (const [number, copies] of stage.copies) {
      const n = number + 1;
      for (let copy = 1; copy < copies - (used.get(n) ?? 0); copy++) this.#insert(n);
    }
  }

  /** Adds the rows that were inserted, as they are in the table. */
  async #sumOfNew(slice: TimeSlice): Promise<void> {
    const { sqlite } = this.#transaction;
    const read = sqlite.prepare<[number, number], string | null>(this.#stage.sql.contentsBetween).pluck();
    const last = sqlite.prepare<[], number>(this.#stage.sql.lastId).pluck().get() as number;
    for (let from = this.#base + 1; from <= last; from += rowsPerSum) {
      this.#rows.addSum(Sum.of(Buffer.from(read.get(from, from + rowsPerSum - 1) ?? '', 'hex')));
      if (slice.isOver) await slice.next();
    }
  }

  #copiesOf(n: number): number {
    return this.#stage.copies.get(n - 1) ?? 1;
  }

  #insert(n: number): void {
    const { table, run } = this.#context;
    const record = this.#stage.staged(n);
    table.insert(record, run.id);
    this.#rows.add(record.content);
    this.#counts.inserted++;
  }

  readonly #editedUnshown = new Sum();

  #update(row: number, n: number): void {
    const { table, run } = this.#context;
    const before = table.read(row);
    const record = this.#stage.staged(n);
    if (this.#stage.shown.has(row)) this.#read.subtractHex(before.content);
    else this.#editedUnshown.addHex(before.content);
    this.#history.endRecord(before, 'update');
    table.update(row, record, run.id);
    this.#rows.subtractHex(before.content);
    this.#rows.add(record.content);
    this.#counts.updated++;
  }

  #isEdited(row: number): boolean {
    return this.#stage.isOfIds
      ? this.#stage.isStagedId(row)
      : this.#diff.edits.some(edit => edit.row === row);
  }

  /** The row of a staged record of a list without ids; null if a newer version replaced it. */
  #rowOf(n: number): number | null {
    const edit = this.#edits.get(n);
    if (edit !== undefined) return edit;
    return (this.#diff.used.get(n) ?? 0) < this.#copiesOf(n) ? this.#base + n : null;
  }

  get #edits(): ReadonlyMap<number, number> {
    this.#editsByNumber ??= new Map(this.#diff.edits.map(({ row, n }) => [n, row]));
    return this.#editsByNumber;
  }
  #editsByNumber: ReadonlyMap<number, number> | undefined;

  /** Removes the rows that are gone, unless they are too many, or a rejected record might be one of them. */
  async #removeGone(
    slice: TimeSlice,
  ): Promise<{ stays: Sum; withheld: number; changedIdentity: string | null }> {
    const { table } = this.#context;
    const stays = new Sum();
    const fates = new Map((this.#result.proof?.rows ?? []).map(({ id, fate }) => [id, fate]));
    if (this.#result.proof === null) return { stays, withheld: 0, changedIdentity: null };
    const gone = this.#diff.unshown.filter(row => fates.get(row.id) === 'gone').map(({ id }) => id);
    const isAllowed = this.#isAllowed(gone);
    const going = new Set(isAllowed ? gone : []);
    for (const { id } of this.#diff.unshown) {
      const row = table.read(id);
      if (going.has(id)) {
        this.#history.endRecord(row, 'removal');
        table.remove(id);
        this.#rows.subtractHex(row.content);
        this.#counts.removed++;
      } else stays.addHex(row.content);
      if (slice.isOver) await slice.next();
    }
    if (isAllowed) return { stays, withheld: 0, changedIdentity: null };
    return { stays, withheld: gone.length, changedIdentity: changedIdentityField(this.#context, gone) };
  }

  #isAllowed(gone: readonly number[]): boolean {
    if (gone.length === 0) return true;
    const { table, records, list, sum } = this.#context;
    if (this.#isUnreadableNew(records.lastSure(list.resource)?.runId ?? 0)) return false;
    // Only rows up to the last settled run count. A run that withheld removals is not settled: otherwise the next run could remove
    // them all.
    const settled = records.lastSettled(list.resource);
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const counted = gone.filter(id => table.read(id).firstSeenRunId <= settledRunId).length;
    return mayRemove(counted, settled?.recordCount ?? sum.count, this.#result.removals);
  }

  /** Whether a record was rejected that is completely unreadable, and that was not there in the settled run. */
  #isUnreadableNew(settledRunId: number): boolean {
    const unreadable = this.#stage.rejected.all.filter(({ identity }) => identity === null);
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

  #assertConnections(): void {
    const missing = this.connections.missing();
    if (missing === undefined) return;
    const { path } = this.#context.file;
    throw new MirrorAlteredError(
      `Another program altered ${path}: records refer to connection ${missing}, which has no row`,
    );
  }

  #writeRejections(): void {
    const { rejected, list } = this.#stage;
    const { firstPageNo, pageSize, proof } = this.#result;
    if (proof === null && rejected.count === 0) return;
    const rejections = new Rejections(this.#transaction, list.resource, this.#context.run.id);
    for (const { place, reason, text, count: times } of rejected.all) {
      const pageNo = firstPageNo + Math.floor(place / pageSize);
      for (let time = 0; time < times; time++)
        rejections.add(pageNo, { position: place % pageSize, reason, record: text });
    }
  }
}

/** Rows whose contents are read at once for their sum. */
const rowsPerSum = 5_000;

export function greatestTotal(answers: readonly Answer[]): number {
  return answers.reduce((greatest, { total }) => Math.max(greatest, total), 0);
}
