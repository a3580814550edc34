import type { Applied, ListOutcome } from '../../contract/run.ts';
import { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import { passesGate } from '../../proof/removal.ts';
import { TimeSlice } from '../../time-slice.ts';
import type { OtherWriters } from '../file/other-writers.ts';
import { assertSums } from '../receipts/altered-lists.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { fieldNews } from './field-news.ts';
import { History } from './history.ts';
import { pagesToRemember } from './known-pages.ts';
import type { ListContext } from './list-context.ts';
import { type ListState, stateAfter } from './memory.ts';
import { compacted } from './names.ts';
import { copiesOf, type Plan, planOf, type Result, tellPlan } from './plan.ts';
import { writeRejected } from './rejected.ts';
import type { Stage } from './stage.ts';
import type { OpenTransaction } from './transaction.ts';

/** The list was written and recorded, or it has to be read again without what earlier runs remember. */
export type Written =
  | { readonly kind: 'written'; readonly outcome: ListOutcome }
  | { readonly kind: 'again'; readonly reason: string };

/** What is made of a list that was read. */
interface Order {
  readonly stage: Stage;
  readonly result: Result;
  /** What is known of the list from before. */
  readonly state: ListState;
  readonly others: OtherWriters;
  readonly signal: AbortSignal;
  /** Makes the outcome that is recorded. */
  conclude(applied: Applied): ListOutcome;
}

/**
 * Writes what was read of a list, in one short transaction: versions that end, rows, names of connections, rejected records, notes for
 * the next run and the run's record; all or nothing. The rows must then have the sum of what was read. A dry run writes nothing.
 */
export async function apply(context: ListContext, order: Order): Promise<Written> {
  const { transactions, file, list, sum, run } = context;
  const { others, signal } = order;
  if (run.isDry) return tell(context, order);
  let plan = planOf(context, order.stage, order.result);
  const transaction = await transactions.begin(signal);
  try {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (others.haveWritten()) {
      assertSums(file, [{ resource: list.resource, expected: sum }]);
      plan = planOf(context, order.stage, order.result);
    }
    const written = isNewestGone(order, plan)
      ? newestGone
      : await new Writer(context, order, transaction, plan).write();
    if (written.kind === 'again') transactions.rollBack();
    else {
      signal.throwIfAborted();
      transactions.commit();
    }
    return written;
  } catch (error) {
    transactions.rollBack();
    throw error;
  }
}

/** An incremental sync rests on the newest records that were known. */
function isNewestGone({ stage, state, result }: Order, { edits }: Plan): boolean {
  if (result.proof !== null) return false;
  return state.growth?.newestRows.every(row => stage.shown.has(row) || edits.has(row)) !== true;
}

const newestGone: Written = { kind: 'again', reason: 'the newest known record is gone' };

/** Tells what would be written. */
function tell(context: ListContext, order: Order): Written {
  const { stage, result } = order;
  const plan = planOf(context, stage, result);
  if (isNewestGone(order, plan)) return newestGone;
  const rows = context.sum.plus(stage.stagedSum);
  for (const n of plan.dropped) rows.subtractHex(stage.contentOf(n));
  for (const row of [...plan.edits.keys(), ...plan.gone]) rows.subtractHex(context.table.read(row).content);
  const counts = {
    inserted: rows.count - context.sum.count + plan.gone.length,
    updated: plan.edits.size,
    removed: plan.gone.length,
  };
  if (context.observe !== undefined) tellPlan(context, stage, plan, context.observe);
  return { kind: 'written', outcome: order.conclude(appliedOf(context, order, plan, counts, rows)) };
}

function appliedOf(
  context: ListContext,
  { stage, result }: Order,
  { withheld, changedIdentity }: Plan,
  counts: Pick<Applied, 'inserted' | 'updated' | 'removed'>,
  rows: Sum,
): Applied {
  return {
    ...counts,
    unchanged: context.sum.count - counts.updated - counts.removed - withheld,
    rejected: stage.rejected.count,
    removalsWithheld: withheld,
    changedIdentity,
    undecided: result.undecided,
    recordCount: rows.count,
    checksum: rows.toString(),
    ...fieldNews(context, {
      isFull: result.proof !== null,
      isProven: result.unproven === null,
      hasFurtherFields: stage.sqlite.prepare(stage.sql.isIncomingFurther).get() !== undefined,
    }),
  };
}

/** Rows whose contents are read at once for their sum. */
const rowsPerSum = 5_000;

class Writer {
  readonly #context: ListContext;
  readonly #order: Order;
  readonly #transaction: OpenTransaction;
  readonly #plan: Plan;
  readonly #connections: ConnectionTable;
  readonly #history: History;
  readonly #slice: TimeSlice;
  readonly #counts = { inserted: 0, updated: 0, removed: 0 };
  /** The sum of the mirror's rows: that of the newest receipt, with every row that is written. */
  readonly #rows = new Sum();
  /** The sum of what was read, and of what stays. */
  readonly #read = new Sum();
  readonly #editedUnshown = new Sum();

  constructor(context: ListContext, order: Order, transaction: OpenTransaction, plan: Plan) {
    const { sqlite } = transaction;
    this.#context = context;
    this.#order = order;
    this.#transaction = transaction;
    this.#plan = plan;
    this.#connections = new ConnectionTable(sqlite);
    this.#history = new History(sqlite, context.list, this.#connections, context.run.id);
    this.#slice = new TimeSlice(order.signal);
    this.#rows.addSum(context.sum);
    this.#read.addSum(order.stage.shownSum.plus(order.stage.stagedSum));
  }

  async write(): Promise<Written> {
    const { list, run, records, file } = this.#context;
    const { stage, result } = this.#order;
    await this.#updateRows();
    await this.#insertRows();
    await this.#removeRows();
    this.#read.addSum(await this.#sumOfOthers());
    if (!passesGate(this.#read, this.#rows))
      return {
        kind: 'again',
        reason: `the rows of ${list.resource} would differ from what was read of the list`,
      };
    this.#history.endConnections(this.#connections.apply(this.#plan.connections, run.id));
    const missing = this.#connections.missing();
    if (missing !== undefined)
      throw new MirrorAlteredError(
        `Another program altered ${file.path}: records refer to connection ${missing}, which has no row`,
      );
    const { firstPageNo, pageSize } = result;
    writeRejected(this.#transaction, list.resource, run.id, stage.rejected.all, place => [
      firstPageNo + Math.floor(place / pageSize),
      place % pageSize,
    ]);
    this.#remember();
    const applied = appliedOf(this.#context, this.#order, this.#plan, this.#counts, this.#rows);
    const outcome = this.#order.conclude(applied);
    records.endList(this.#transaction, run.id, outcome, applied.recordCount);
    return { kind: 'written', outcome };
  }

  async #updateRows(): Promise<void> {
    const { table, run } = this.#context;
    const { stage } = this.#order;
    for (const [row, n] of this.#plan.edits) {
      const before = table.read(row);
      const record = stage.staged(n);
      if (stage.shown.has(row)) this.#read.subtractHex(before.content);
      else this.#editedUnshown.addHex(before.content);
      this.#history.endRecord(before, 'update');
      table.update(row, record, run.id);
      this.#rows.subtractHex(before.content);
      this.#rows.add(record.content);
      this.#counts.updated++;
      if (this.#slice.isOver) await this.#slice.next();
    }
    for (const n of this.#plan.dropped) this.#read.subtractHex(stage.contentOf(n));
  }

  async #insertRows(): Promise<void> {
    const { table, run, sum } = this.#context;
    const { sqlite } = this.#transaction;
    const { stage } = this.#order;
    const { copies, base } = this.#plan;
    if (stage.isOfIds || stage.sql.hasChildren) {
      for (const { n } of stage.all()) {
        this.#insert(n, copiesOf(this.#plan, n));
        if (this.#slice.isOver) await this.#slice.next();
      }
      return;
    }
    for (const [n, count] of copies) if (count === 0) sqlite.prepare(stage.sql.remove).run(n);
    // Without rows there is nothing to look up, and indexes are made faster afterwards.
    const indexes = sum.count === 0 && stage.stagedSum.count > 1000 ? table.dropIndexes() : [];
    this.#counts.inserted += sqlite.prepare(stage.sql.insertAll).run({ base, run: run.id }).changes;
    const contents = sqlite.prepare<[number, number], string | null>(stage.sql.contentsBetween).pluck();
    const last = sqlite.prepare<[], number>(stage.sql.lastId).pluck().get() as number;
    for (let from = base + 1; from <= last; from += rowsPerSum) {
      this.#rows.addSum(Sum.of(Buffer.from(contents.get(from, from + rowsPerSum - 1) ?? '', 'hex')));
      if (this.#slice.isOver) await this.#slice.next();
    }
    for (const index of indexes) sqlite.exec(index);
    for (const [n, count] of copies) this.#insert(n, count - 1);
  }

  #insert(n: number, count: number): void {
    for (let copy = 0; copy < count; copy++) {
      const record = this.#order.stage.staged(n);
      this.#context.table.insert(record, this.#context.run.id);
      this.#rows.add(record.content);
      this.#counts.inserted++;
    }
  }

  async #removeRows(): Promise<void> {
    const { table } = this.#context;
    for (const id of this.#plan.gone) {
      const row = table.read(id);
      this.#history.endRecord(row, 'removal');
      table.remove(id);
      this.#rows.subtractHex(row.content);
      this.#counts.removed++;
      if (this.#slice.isOver) await this.#slice.next();
    }
  }

  /** The sum of the rows that no answer has shown and that stay. Of a growing list only the end was read: all other rows stay. */
  async #sumOfOthers(): Promise<Sum> {
    const { table, sum } = this.#context;
    const { stage, result } = this.#order;
    if (result.proof === null) return sum.minus(stage.shownSum).minus(this.#editedUnshown);
    const stays = new Sum();
    for (const id of this.#plan.stays) {
      stays.addHex(table.read(id).content);
      if (this.#slice.isOver) await this.#slice.next();
    }
    return stays;
  }

  /** Notes for the next run what it can know of the list. */
  #remember(): void {
    const { run, table, memory } = this.#context;
    const { stage, state, result } = this.#order;
    const { proof, unproven, pageSize } = result;
    const isSure = unproven === null && stage.rejected.count === 0 && this.#plan.withheld === 0;
    const edited = new Map([...this.#plan.edits].map(([row, n]) => [n, row]));
    const { base, copies } = this.#plan;
    const rowOf = (n: number) => edited.get(n) ?? ((copies.get(n) ?? 1) > 0 ? base + n : null);
    const pages = proof !== null && isSure ? [...pagesToRemember(stage.pages, proof, pageSize, rowOf)] : [];
    const remembered = compacted(pages, stage.book);
    if (proof !== null) memory.writePages(run.startedAt, remembered.pages);
    const rowCount = this.#rows.count;
    const written = { ...result, isSure, rowCount, rowOf, has: (row: number) => table.has(row) };
    memory.writeState(run.id, stateAfter(stage, state, written, remembered.entries));
  }
}
