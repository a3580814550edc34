// Writes a list that was read: first it is found what becomes of each row. In the transaction, changes that SQL does not find itself are
// noted in temp.row_changes, then rows and versions are written in sets.

import { scalarFields } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { sentenceOf } from '../../findings.ts';
import type { Finding } from '../../proof/findings.ts';
import {
  asItsRow,
  isOfRow,
  type PageItems,
  type RecordNo,
  unreadable,
  type VersionNo,
} from '../../proof/page-items.ts';
import type { KnownRow } from '../../proof/reconcile.ts';
import { miscount } from '../../proof/totals.ts';
import { TimeSlice } from '../../time-slice.ts';
import { firstValue } from '../tables/ask.ts';
import { noteReturns } from '../tables/ever.ts';
import type { Applied, ListOutcome } from '../tables/run.ts';
import { assertSum } from './altered-mirror.ts';
import { volatileFields, writeFieldNews } from './field-news.ts';
import { newestBefore, seeLate, seeReading } from './list-facts.ts';
import { transact } from './mirror.ts';
import { writeNextState } from './next-state.ts';
import { carryRejectedOn } from './rejected.ts';
import type { Stage } from './stage.ts';
import type { ReadList } from './sync-state.ts';

/** How writing a list ended: it is written, and the next run can go on with so many answers; or it must be read again, without memories. */
export type Written =
  | { readonly kind: 'written'; readonly outcome: ListOutcome; readonly resumable: number }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): Written => ({ kind: 'refused', reason });

/**
 * Writes what was read of a list in one short transaction, all or nothing: rows, versions, names, rejections, notes, and the outcome that
 * `conclude` makes. The rows must then have the sum of what was read.
 */
export async function apply(
  stage: Stage,
  result: ReadList,
  deleteLimit: DeleteLimit,
  conclude: (isProven: boolean, applied: Applied) => ListOutcome,
  signal: AbortSignal,
): Promise<Written> {
  const { context, reconciliation } = stage;
  const { file, list, runId, sqlite, sumBefore, haveOthersWritten } = context;
  const { proof } = result;
  const changes = changesOf(stage, result, deleteLimit);
  const { deleted, heldBack, undecided, findings } = changes;
  if (changes.outdated !== null) return refused(sentenceOf(changes.outdated));
  // An incremental sync rests on the newest records that were known.
  if (proof === null && stage.state.growth?.newestRows.every(row => stage.isListed(row)) !== true)
    return refused('the newest known record is gone');
  const restlessFields = volatileFields(stage);

  return transact<Written>(file, signal, async rollBack => {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (haveOthersWritten()) assertSum(context);
    const newest = deleted.length === 0 ? newestBefore(context) : null;
    const rowsOf = noteChanges(stage, changes);
    const { rowsSum, readSum } = await writeRows(stage, changes, proof === null, new TimeSlice(signal));
    const isAsRead = readSum.equals(rowsSum); // guard: commit gate
    if (!isAsRead) {
      rollBack();
      return refused(`the rows of ${list.resource} would differ from what was read of the list`);
    }
    stage.names.write(sqlite, list.resource, runId, proof?.verdict.isProven === true);
    // Of a growing list, those further back are as the run before left them: the total says so.
    stage.rejected.write(context, result);
    const carried = proof === null ? carryRejectedOn(context) : 0;
    const rejected = stage.rejected.count + carried;
    // Stricter than the verdict: no row is left to decide, and the count fits, too.
    const isProven = findings.length === 0;
    const isClean = isProven && heldBack === 0;
    const state = writeNextState(stage, result, { rowsSum, rowsOf, isProven, isClean });
    stage.fields.tell();
    seeReading(context, result, state);
    seeLate(context, newest);
    const { ofFields, ...news } = writeFieldNews(stage, deleted.length, proof !== null, restlessFields);
    const resumable = state.resumeLog?.answers.length ?? 0;
    const outcome = conclude(isProven, {
      inserted: rowsSum.count - sumBefore.count + deleted.length,
      updated: reconciliation.updated,
      removed: deleted.length,
      unchanged: sumBefore.count - reconciliation.updated - deleted.length - heldBack - undecided,
      rejected,
      removalsWithheld: heldBack,
      undecided,
      reasons: [...reasonsOf(changes, rejected, resumable > 0), ...ofFields],
      checksum: rowsSum.toString(),
      restlessFields,
      ...news,
    });
    signal.throwIfAborted();
    return { kind: 'written', outcome: context.runs.endList(runId, outcome, rowsSum), resumable };
  });
}

/** What there is to say of a list that was written; whether the next run goes on with a reading that ended early is known only now. */
function reasonsOf(
  { findings, heldBack, heldBackBy }: ListChanges,
  rejected: number,
  goesOn: boolean,
): readonly Finding[] {
  const reasons = findings.map(each => (each.code === 'ended_early' ? { ...each, goesOn } : each));
  if (rejected > 0) reasons.push({ code: 'record_rejected', count: rejected });
  if (heldBack > 0 && heldBackBy !== null)
    reasons.push({ code: 'removals_withheld', count: heldBack, ...heldBackBy });
  return reasons;
}

/** What a run does to a list. It is found by reading alone. */
interface ListChanges {
  /** A new row is this and the number of its version: the greatest id of all rows so far; 0 in a list with ids. */
  readonly base: number;
  /** Rows that go, and absent rows that stay. */
  readonly deleted: readonly number[];
  readonly staying: readonly number[];
  /** How many rows would go if none were held back, and why they are: more than a limit would go, or because of rejections. */
  readonly heldBack: number;
  readonly heldBackBy: Pick<Finding & { code: 'removals_withheld' }, 'why' | 'limit'> | null;
  readonly undecided: number;
  /** Why the list is not proven; none if it is. */
  readonly findings: readonly Finding[];
  /** Why what an earlier run has read does not do; null if it does. */
  readonly outdated: Finding | null;
}

/** Finds what a run does to a list that was read. */
function changesOf(
  stage: Stage,
  { proof, answers, toResume }: ReadList,
  deleteLimit: DeleteLimit,
): ListChanges {
  const { context, rejected, reconciliation } = stage;
  const { list, sqlite, table, sumBefore } = context;
  const { rows: decided = [], findings = [] } = proof ?? {};
  const absent = proof === null ? [] : stage.absentRows;
  const decisions = new Map(decided.map(({ id, decision }) => [id, decision]));
  const undecided = decided.filter(({ decision }) => decision !== 'gone').length;
  const gone = absent.filter(({ id }) => decisions.get(id) === 'gone').map(({ id }) => id);
  const isCounted = proof !== null && findings.length === 0 && toResume === null && rejected.count === 0;
  const short = isCounted
    ? miscount(answers, sumBefore.count + reconciliation.inserted - absent.length)
    : null;
  const heldBackBy = whyHeldBack();
  const deleted = new Set(short === null && heldBackBy === null ? gone : []);
  const kept = gone.length - deleted.size;
  return {
    base: list.identity.by === 'id' ? 0 : (firstValue<number>(sqlite, stage.sql.lastId) ?? 0),
    deleted: [...deleted],
    staying: absent.map(({ id }) => id).filter(id => !deleted.has(id)),
    heldBack: short === null ? kept : 0,
    heldBackBy,
    undecided: undecided + (short === null ? 0 : kept),
    findings: short === null ? findings : [...findings, short],
    outdated: stage.hasRecalled ? short : null,
  };

  /** Why rows that are gone can't be removed: a rejected record might be one of them, or they are too many; null if they can. */
  function whyHeldBack(): ListChanges['heldBackBy'] {
    if (gone.length === 0) return null;
    const sureRunId = context.runs.last('sure', list.resource)?.runId ?? 0;
    if (rejected.hasUnreadableNew(sureRunId)) return { why: 'rejected', limit: null };
    const clean = context.runs.last('clean', list.resource);
    // Only rows up to the last clean run count: otherwise the next run could remove all that this one holds back.
    const cleanRunId = clean?.runId ?? Number.POSITIVE_INFINITY;
    const count = gone.filter(row => table.read(row).firstSeenRunId <= cleanRunId).length;
    const limit = deletesMax(clean?.recordCount ?? sumBefore.count, deleteLimit);
    return count > limit ? { why: 'limit', limit } : null;
  }
}

/** How much of a list a run can delete. */
export interface DeleteLimit {
  /** The greatest share of the rows of the last clean run, from 0 to 1. */
  readonly shareMax: number;
  /** True lifts the share, and nothing else. */
  readonly allowAny: boolean;
}

/** So many rows can always be deleted: a small list can change by half and more. */
const deletesAlwaysAllowed = 20;

/** How many rows that are gone a run can delete, of the `cleanCount` rows of the last clean run. Newer rows do not count. */
function deletesMax(cleanCount: number, { shareMax, allowAny }: DeleteLimit): number {
  const most = Math.max(deletesAlwaysAllowed, Math.floor(cleanCount * shareMax));
  return allowAny ? Number.POSITIVE_INFINITY : most; // guard: removals
}

/** So many records of a list must be known, and such a share of them be replaced, before a run writes nothing. */
const [knownMin, replacedShare] = [20, 0.9];

/**
 * Says that the list seems to be another one under the same ids, or that a field by which its records are known is in none of them any more,
 * so that each would count as a new one; nothing if it is not so, or if the limit allows any number.
 */
export function replacementOf({ context, sql }: Stage, { allowAny }: DeleteLimit): readonly Finding[] {
  const { sqlite, sumBefore, list } = context;
  if (allowAny || sumBefore.count < knownMin) return []; // guard: records that were replaced
  const count = firstValue<number>(sqlite, sql.replaced) ?? 0;
  if (count < sumBefore.count * replacedShare) return [];
  const fields = list.identity.by === 'id' ? [] : list.identity.fields;
  const gone = fields.filter(name => {
    const column = scalarFields(list).find(field => field.name === name)?.column;
    const has = (table: string) =>
      firstValue(sqlite, `SELECT 1 FROM ${table} WHERE ${column} IS NOT NULL LIMIT 1`) !== null;
    return has(list.table) && !has('temp.incoming'); // guard: an identity that lost a field
  });
  if (list.identity.by === 'content' && gone.length === 0) return [];
  return [
    { code: 'records_replaced', count },
    ...gone.map(field => ({ code: 'field_gone' as const, field, count })),
  ];
}

/** Notes in temp.row_changes what SQL does not find itself, and returns a function that finds the row of each record of a page, or null. */
function noteChanges({ context, sql, records, reconciliation }: Stage, { deleted, base }: ListChanges) {
  const { sqlite, list, sumBefore } = context;
  const isOfIds = list.identity.by === 'id';
  let last = records.texts.count;
  const change = sqlite.prepare<object>(sql.change);
  const placed = new Map<RecordNo, readonly KnownRow[]>();
  for (const [record, { kept, edited, added }] of reconciliation.reconciled) {
    const all = [...kept, ...edited];
    for (const { row } of kept) change.run({ row, record, version: null, change: 'unchanged' });
    for (const { row, version } of edited)
      change.run({ row, record, version: records.stagedVersion(record, version), change: 'updated' });
    for (const version of added) {
      const n = records.stagedVersion(record, version);
      // Of identical records, one has the number of their version, and the others come behind all numbers.
      const isFirst = all.every(other => other.version !== version);
      const row = isOfIds ? record : base + (isFirst ? n : ++last);
      all.push({ row, version });
      change.run({ row, record, version: n, change: 'inserted' });
    }
    placed.set(record, all);
  }
  for (const row of deleted) change.run({ row, record: row, version: null, change: 'deleted' });
  if (sumBefore.count > 0) sqlite.exec(sql.plainUpdates);
  return ({ records: all, versions }: PageItems): (number | null)[] => {
    const taken = new Set<number>();
    return Array.from(all, (record, at) => {
      const version = versions[at] as VersionNo;
      const rows = placed.get(record);
      const free = rows?.find(known => known.version === version && !taken.has(known.row));
      if (free !== undefined) taken.add(free.row);
      if (rows !== undefined || version === unreadable) return free?.row ?? null;
      return version === asItsRow || isOfIds || isOfRow(record) ? record : base + version;
    });
  };
}

/** Up to this many new rows get their index entries one by one. */
const indexedInStepsMax = 1_000;

/** Writes the rows, and returns the sum that they have then, and the sum of what was read and of what stays. */
async function writeRows(
  stage: Stage,
  { staying, base }: ListChanges,
  isOfEnd: boolean,
  slice: TimeSlice,
): Promise<{ rowsSum: Sum; readSum: Sum }> {
  const { context, sql, records } = stage;
  const { runId: run, sqlite, sumBefore } = context;
  let rowsSum = sumBefore.plus(new Sum());
  for (const content of sqlite.prepare<[], Buffer>(sql.contentsOfEnded).pluck().iterate())
    rowsSum.subtract(content);
  // Of a growing list only the end was read: all other rows stay.
  const { listed, written } = stage.sums();
  const readSum = isOfEnd ? rowsSum.plus(written) : listed;
  sqlite.prepare(sql.endVersions).run({ run });
  sqlite.exec(sql.remove);
  sqlite.prepare(sql.update).run({ run });
  // Without rows there is nothing to look up, and indexes are made faster afterwards.
  const isNew = sumBefore.count === 0 && records.texts.count > indexedInStepsMax;
  const indexes = isNew ? sqlite.prepare<[], { name: string; sql: string }>(sql.indexes).all() : [];
  for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`);
  for (const insert of [sql.insertPlain, sql.insertAdded, ...sql.insertItems])
    sqlite.prepare(insert).run({ base, run });
  const next = sqlite.prepare<[number, number], [number | null, string | null]>(sql.writtenAfter).raw();
  for (let after: number | null = Number.NEGATIVE_INFINITY; after !== null; ) {
    const [last, contents] = next.get(run, after) as [number | null, string | null];
    rowsSum = rowsSum.plus(Sum.of(Buffer.from(contents ?? '', 'hex')));
    after = last;
    if (slice.isOver) await slice.next();
  }
  for (const index of indexes) sqlite.exec(index.sql);
  noteReturns(sqlite, context.list, run);
  const contentOf = sqlite.prepare<[number], Buffer>(sql.contentOf).pluck();
  for (const id of staying) {
    readSum.add(contentOf.get(id) as Buffer);
    if (slice.isOver) await slice.next();
  }
  return { rowsSum, readSum };
}
