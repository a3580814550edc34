import type { Applied, ListOutcome } from '../../contract/run.ts';
import { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import { passesGate } from '../../proof/removal.ts';
import { TimeSlice } from '../../time-slice.ts';
import type { OtherWriters } from '../file/file-identity.ts';
import { assertSum } from '../receipts/altered-lists.ts';
import { missingConnections } from '../tables/connection-table.ts';
import { ConnectionNames, compacted } from './connections.ts';
import { fieldNews } from './field-news.ts';
import { pagesToRemember } from './known-pages.ts';
import type { DryRun, ListContext } from './list-context.ts';
import { type ListState, stateAfter } from './memory.ts';
import { changesOf, type Plan, planOf, type Result } from './plan.ts';
import { writeRejected } from './rejected.ts';
import type { Stage } from './stage.ts';
import { transact } from './transaction.ts';

/** The list was written and recorded, or it has to be read again without what earlier runs remember. */
export type Written =
  | { readonly kind: 'written'; readonly outcome: ListOutcome }
  | { readonly kind: 'again'; readonly reason: string };

/** A list that was read. */
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
  const { file, list, sum, run } = context;
  const { stage, result, others, signal } = order;
  if (run.dry !== null) return tell(context, order, run.dry);
  let plan = planOf(context, stage, result);
  const work = async (): Promise<Written> => {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (others.haveWritten()) {
      assertSum(file, list.resource, sum);
      plan = planOf(context, stage, result);
    }
    if (isNewestGone(order, plan)) return newestGone;
    const written = await write(context, order, plan);
    signal.throwIfAborted();
    return written;
  };
  return transact(file, signal, work, ({ kind }) => kind === 'written');
}

/** An incremental sync rests on the newest records that were known. */
function isNewestGone({ stage, state, result }: Order, { edits }: Plan): boolean {
  if (result.proof !== null) return false;
  return state.growth?.newestRows.every(row => stage.shown.has(row) || edits.has(row)) !== true;
}

const newestGone: Written = { kind: 'again', reason: 'the newest known record is gone' };

/** Tells what would be written. */
function tell(context: ListContext, order: Order, dry: DryRun): Written {
  const { stage, result } = order;
  const { list, sum, table } = context;
  const plan = planOf(context, stage, result);
  if (isNewestGone(order, plan)) return newestGone;
  const rows = sum.plus(stage.stagedSum);
  for (const n of plan.dropped) rows.subtract(stage.contentOf(n));
  for (const row of [...plan.edits.keys(), ...plan.gone]) rows.subtract(table.read(row).content);
  dry.names.enter(list.resource, stage.names, result.proof?.verdict.isProven === true);
  for (const change of changesOf(context, stage, plan, dry.names)) dry.tell(change);
  return { kind: 'written', outcome: order.conclude(appliedOf(context, order, plan, rows)) };
}

function appliedOf(
  context: ListContext,
  { stage, result }: Order,
  { edits, gone, withheld, changedIdentity }: Plan,
  rows: Sum,
): Applied {
  const { sum } = context;
  return {
    inserted: rows.count - sum.count + gone.length,
    updated: edits.size,
    removed: gone.length,
    unchanged: sum.count - edits.size - gone.length - withheld,
    rejected: stage.rejected.count,
    removalsWithheld: withheld,
    changedIdentity,
    undecided: result.undecided,
    recordCount: rows.count,
    checksum: rows.toString(),
    ...fieldNews(context, {
      isFull: result.proof !== null,
      isProven: result.unproven === null,
      hasFurtherFields: stage.sqlite.prepare(stage.sql.isFurther).get() !== undefined,
      answerMembers: [...stage.answerMembers.values()],
    }),
  };
}

async function write(context: ListContext, order: Order, plan: Plan): Promise<Written> {
  const { list, run, records, file } = context;
  const { stage, result, signal } = order;
  const { rows, read } = await writeRows(context, order, plan, new TimeSlice(signal));
  if (!passesGate(read, rows))
    return {
      kind: 'again',
      reason: `the rows of ${list.resource} would differ from what was read of the list`,
    };
  const names = new ConnectionNames(file.sqlite);
  names.enter(list.resource, stage.names, result.proof?.verdict.isProven === true);
  names.write(list.resource, run.id);
  const [missing] = missingConnections(file.sqlite);
  if (missing !== undefined)
    throw new MirrorAlteredError(
      `Another program altered ${file.path}: records refer to connection ${missing}, which has no row`,
    );
  const { firstPageNo, pageSize } = result;
  writeRejected(file.sqlite, list.resource, run.id, stage.rejected.all, place => [
    firstPageNo + Math.floor(place / pageSize),
    place % pageSize,
  ]);
  remember(context, order, plan);
  const outcome = order.conclude(appliedOf(context, order, plan, rows));
  records.endList(run.id, outcome, rows.count);
  return { kind: 'written', outcome };
}

/** Writes the rows, and returns the sum that they have then, and the sum of what was read and of what stays. */
async function writeRows(
  { run, sum }: ListContext,
  { stage, result }: Order,
  { edits, gone, stays, dropped, base, copies }: Plan,
  slice: TimeSlice,
): Promise<{ rows: Sum; read: Sum }> {
  const { sqlite, sql, shown } = stage;
  const read = stage.shownSum.plus(stage.stagedSum);
  for (const n of dropped) read.subtract(stage.contentOf(n));
  const rows = new Sum();
  rows.addSum(sum);
  /** What ends of the rows that no answer has shown. */
  const unshown = new Sum();
  sqlite.exec('DELETE FROM temp.ends');
  const end = sqlite.prepare(sql.end);
  for (const [row, n] of edits) end.run(row, n);
  for (const row of gone) end.run(row, null);
  for (const [id, content] of sqlite.prepare<[], [number, Buffer]>(sql.contentsOfEnds).raw().iterate()) {
    rows.subtract(content);
    if (shown.has(id)) read.subtract(content);
    else unshown.add(content);
  }
  sqlite.prepare(sql.endVersions).run({ run: run.id });
  sqlite.exec(sql.remove);
  sqlite.prepare(sql.update).run({ run: run.id });
  // Without rows there is nothing to look up, and indexes are made faster afterwards.
  const isNew = sum.count === 0 && stage.stagedSum.count > 1000;
  const indexes = isNew ? sqlite.prepare<[], { name: string; sql: string }>(sql.indexes).all() : [];
  for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`);
  sqlite.prepare(sql.insertRows).run({ base, run: run.id });
  if ([...copies.values()].some(count => count > 1)) sqlite.prepare(sql.insertCopies).run({ run: run.id });
  for (const insert of sql.insertItems) sqlite.prepare(insert).run({ run: run.id });
  const next = sqlite.prepare<[number, number], [number | null, string | null]>(sql.writtenAfter).raw();
  for (let after: number | null = Number.MIN_SAFE_INTEGER; after !== null; ) {
    const [last, contents] = next.get(run.id, after) as [number | null, string | null];
    rows.addSum(Sum.of(Buffer.from(contents ?? '', 'hex')));
    after = last;
    if (slice.isOver) await slice.next();
  }
  for (const index of indexes) sqlite.exec(index.sql);
  // Of a growing list only the end was read: all other rows stay.
  if (result.proof === null) read.addSum(sum.minus(stage.shownSum).minus(unshown));
  const contentOf = sqlite.prepare<[number], Buffer>(sql.contentOf).pluck();
  for (const id of stays) {
    read.add(contentOf.get(id) as Buffer);
    if (slice.isOver) await slice.next();
  }
  return { rows, read };
}

/** Notes for the next run what it can know of the list. */
function remember(
  { run, memory }: ListContext,
  { stage, state, result }: Order,
  { edits, copies, base, withheld }: Plan,
): void {
  const { proof, unproven, pageSize } = result;
  const isSure = unproven === null && stage.rejected.count === 0 && withheld === 0;
  const edited = new Map([...edits].map(([row, n]) => [n, row]));
  const rowOf = (n: number) => edited.get(n) ?? ((copies.get(n) ?? 1) > 0 ? base + n : null);
  const pages = proof !== null && isSure ? [...pagesToRemember(stage.pages, proof, pageSize, rowOf)] : [];
  const remembered = compacted(pages, stage.names);
  if (proof !== null) memory.writePages(run.startedAt, remembered.pages);
  memory.writeState(run.id, stateAfter(stage, state, result, isSure, remembered.entries));
}
