import type { Applied, ListOutcome } from '../../contract/run.ts';
import { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import { passesGate } from '../../proof/removal.ts';
import { TimeSlice } from '../../time-slice.ts';
import { assertSum } from '../receipts/altered-lists.ts';
import { missingConnections } from './connections.ts';
import { fieldNews } from './field-news.ts';
import { type ListState, stateAfter, writeState } from './memory.ts';
import { type Plan, planOf, type Result } from './plan.ts';
import type { Stage } from './stage.ts';
import { transact } from './transaction.ts';

/** A list that was read. */
interface Order {
  readonly stage: Stage;
  readonly result: Result;
  /** What is known of the list from before. */
  readonly state: ListState;
  /** Whether another program has written to the mirror since the last question. */
  readonly haveOthersWritten: () => boolean;
  readonly signal: AbortSignal;
  /** Makes the outcome that is recorded. */
  conclude(applied: Applied): ListOutcome;
}

/**
 * Writes what was read of a list, in one short transaction: versions that end, rows, names of connections, rejected records, notes for
 * the next run and the run's record; all or nothing. The rows must then have the sum of what was read.
 *
 * @returns the outcome; or why the list has to be read again without what earlier runs remember.
 */
export async function apply(order: Order): Promise<ListOutcome | string> {
  const { stage, result, state, haveOthersWritten, signal } = order;
  const { file, list, sum } = stage.context;
  const plan = planOf(stage, result);
  // An incremental sync rests on the newest records that were known.
  const isKnown = (row: number) => stage.shown.has(row) || plan.edits.has(row);
  if (result.proof === null && state.growth?.newestRows.every(isKnown) !== true)
    return 'the newest known record is gone';
  const work = async () => {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (haveOthersWritten()) assertSum(file, list.resource, sum);
    const written = await write(order, plan);
    signal.throwIfAborted();
    return written;
  };
  return transact(file, signal, work, written => typeof written !== 'string');
}

async function write(order: Order, plan: Plan): Promise<ListOutcome | string> {
  const { stage, result, state, signal } = order;
  const { list, runId, records, file, sqlite, sum } = stage.context;
  const { edits, copies, gone, withheld, base } = plan;
  const { rows, read } = await writeRows(order, plan, new TimeSlice(signal));
  if (!passesGate(read, rows))
    return `the rows of ${list.resource} would differ from what was read of the list`;
  const { proof, unproven, undecided } = result;
  stage.names.write(sqlite, list.resource, runId, proof?.verdict.isProven === true);
  const [missing] = missingConnections(sqlite);
  if (missing !== undefined)
    throw new MirrorAlteredError(
      `Another program altered ${file.path}: records refer to connection ${missing}, which has no row`,
    );
  stage.rejected.write(stage.context, result);

  const isSure = unproven === null && stage.rejected.count === 0 && withheld === 0;
  const edited = new Map([...edits].map(([row, n]) => [n, row]));
  const rowOf = (n: number) => edited.get(n) ?? ((copies.get(n) ?? 1) > 0 ? base + n : null);
  const seen = { pages: stage.pages, names: stage.names.entries };
  writeState(sqlite, list, runId, stateAfter(state, result, seen, isSure, rows.count, rowOf));
  const outcome = order.conclude({
    inserted: rows.count - sum.count + gone.length,
    updated: edits.size,
    removed: gone.length,
    unchanged: sum.count - edits.size - gone.length - withheld,
    rejected: stage.rejected.count,
    removalsWithheld: withheld,
    changedIdentity: plan.changedIdentity,
    undecided,
    checksum: rows.toString(),
    ...fieldNews(stage, result),
  });
  return records.endList(runId, outcome, rows);
}

/** Writes the rows, and returns the sum that they have then, and the sum of what was read and of what stays. */
async function writeRows(
  { stage, result }: Order,
  { edits, gone, stays, dropped, base, copies }: Plan,
  slice: TimeSlice,
): Promise<{ rows: Sum; read: Sum }> {
  const { context, sql, shown } = stage;
  const { runId: run, sqlite, sum } = context;
  let read = stage.shownSum.plus(stage.stagedSum);
  for (const n of dropped) read.subtract(stage.contentOf(n));
  let rows = sum.plus(new Sum());
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
  sqlite.prepare(sql.endVersions).run({ run });
  sqlite.exec(sql.remove);
  sqlite.prepare(sql.update).run({ run });
  // Without rows there is nothing to look up, and indexes are made faster afterwards.
  const isNew = sum.count === 0 && stage.stagedSum.count > 1000;
  const indexes = isNew ? sqlite.prepare<[], { name: string; sql: string }>(sql.indexes).all() : [];
  for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`);
  sqlite.prepare(sql.insertRows).run({ base, run });
  if ([...copies.values()].some(count => count > 1)) sqlite.prepare(sql.insertCopies).run({ run });
  for (const insert of sql.insertItems) sqlite.prepare(insert).run({ run });
  const next = sqlite.prepare<[number, number], [number | null, string | null]>(sql.writtenAfter).raw();
  for (let after: number | null = Number.MIN_SAFE_INTEGER; after !== null; ) {
    const [last, contents] = next.get(run, after) as [number | null, string | null];
    rows = rows.plus(Sum.of(Buffer.from(contents ?? '', 'hex')));
    after = last;
    if (slice.isOver) await slice.next();
  }
  for (const index of indexes) sqlite.exec(index.sql);
  // Of a growing list only the end was read: all other rows stay.
  if (result.proof === null) read = read.plus(sum).minus(stage.shownSum).minus(unshown);
  const contentOf = sqlite.prepare<[number], Buffer>(sql.contentOf).pluck();
  for (const id of stays) {
    read.add(contentOf.get(id) as Buffer);
    if (slice.isOver) await slice.next();
  }
  return { rows, read };
}
