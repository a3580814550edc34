import type { Applied, ListOutcome } from '../../contract/run.ts';
import { Sum } from '../../contract/sum.ts';
import { passesGate } from '../../proof/removal.ts';
import { TimeSlice } from '../../time-slice.ts';
import { assertSum } from '../receipts/altered-lists.ts';
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
  const { file, list, runId, records, sqlite, sum } = stage.context;
  const { proof, unproven, undecided } = result;
  const plan = planOf(stage, result);
  const { edits, copies, gone, withheld, base, changedIdentity } = plan;
  // An incremental sync rests on the newest records that were known.
  const isKnown = (row: number) => stage.shown.has(row) || edits.has(row);
  if (proof === null && state.growth?.newestRows.every(isKnown) !== true)
    return 'the newest known record is gone';

  return transact(file, signal, async () => {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (haveOthersWritten()) assertSum(file, list.resource, sum);
    const { rows, read } = await writeRows(order, plan);
    if (!passesGate(read, rows)) {
      sqlite.exec('ROLLBACK');
      return `the rows of ${list.resource} would differ from what was read of the list`;
    }
    stage.names.write(sqlite, list.resource, runId, proof?.verdict.isProven === true);
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
      changedIdentity,
      undecided,
      checksum: rows.toString(),
      ...fieldNews(stage, result),
    });
    signal.throwIfAborted();
    return records.endList(runId, outcome, rows);
  });
}

/** Writes the rows, and returns the sum that they have then, and the sum of what was read and of what stays. */
async function writeRows(
  { stage, result, signal }: Order,
  { edits, gone, stays, dropped, base, copies }: Plan,
): Promise<{ rows: Sum; read: Sum }> {
  const slice = new TimeSlice(signal);
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
