// Writes a list: changes that SQL does not find itself are written down first, then rows and versions in sets.

import { Sum } from '../../contract/sum.ts';
import { sentenceOf } from '../../findings.ts';

import type { Finding } from '../../proof/findings.ts';
import type { KnownRow } from '../../proof/reconcile.ts';
import { asItsRow, isOfRow, type RecordNo, unreadable, type VersionNo } from '../../proof/record-no.ts';
import type { PageItems } from '../../proof/window.ts';
import { TimeSlice } from '../../time-slice.ts';
import { altered } from '../receipts/altered-lists.ts';
import { sumOfContents } from '../receipts/statements.ts';
import { noteReturns } from '../tables/ever.ts';
import type { Applied, ListOutcome } from '../tables/run.ts';
import { fieldNews, volatileFields } from './field-news.ts';
import { newestBefore, seeLate, seeReading } from './list-facts.ts';
import type { ListContext } from './mirror.ts';
import type { WritePlan } from './plan.ts';
import { isThere, sumsOf } from './reconcile.ts';
import { carryRejectedOn } from './rejected.ts';
import type { Stage } from './stage.ts';
import { type ReadList, stateAfter, writeState } from './sync-state.ts';
import { transact } from './transaction.ts';

/** How writing a list ended: with how many answers the next run can go on with; or with a reason to read it again without memories. */
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
  plan: WritePlan,
  conclude: (isProven: boolean, applied: Applied) => ListOutcome,
  signal: AbortSignal,
): Promise<Written> {
  const { context, records } = stage;
  const { file, list, runId, sqlite, sum, haveOthersWritten } = context;
  const { proof } = result;
  const { reconciliation, deleted, heldBack, undecided, findings } = plan;
  if (plan.outdated !== null) return refused(sentenceOf(plan.outdated));
  // An incremental sync rests on the newest records that were known.
  const isListed = (row: number) => isThere(row, reconciliation, records);
  if (proof === null && stage.before.growth?.newestRows.every(isListed) !== true)
    return refused('the newest known record is gone');
  const restlessFields = volatileFields(stage);

  return transact<Written>(file, signal, async rollBack => {
    // From here on nobody else can write, and nothing of this run was written yet.
    if (haveOthersWritten()) assertSum(stage.context);
    const newest = deleted.length === 0 ? newestBefore(context) : null;
    const rowsOf = writeChanges(stage, plan);
    const { rows, read } = await writeRows(stage, result, plan, new TimeSlice(signal));
    const isAsRead = read.equals(rows); // guard: commit gate
    if (!isAsRead) {
      rollBack();
      return refused(`the rows of ${list.resource} would differ from what was read of the list`);
    }
    stage.names.write(sqlite, list.resource, runId, proof?.verdict.isProven === true);
    // Of a growing list, those further back are as the run before left them: the total says so.
    stage.rejected.write(stage.context, result);
    const carried = proof === null ? carryRejectedOn(stage.context) : 0;
    const rejected = stage.rejected.count + carried;
    const isSure = findings.length === 0 && heldBack === 0;
    const seen = { pages: stage.pages, names: stage.names, run: runId, rowsOf };
    const state = stateAfter(stage, { ...result, findings }, seen, isSure, rows);
    writeState(sqlite, list, runId, state);
    stage.fields.tell();
    seeReading(context, result, state);
    seeLate(context, newest);
    const { ofFields, ...news } = fieldNews(stage, plan, proof !== null, restlessFields);
    const resumable = state.resumeLog?.answers.length ?? 0;
    const outcome = conclude(findings.length === 0, {
      inserted: rows.count - sum.count + deleted.length,
      updated: reconciliation.updated,
      removed: deleted.length,
      unchanged: sum.count - reconciliation.updated - deleted.length - heldBack - undecided,
      rejected,
      removalsWithheld: heldBack,
      undecided,
      reasons: [...reasonsOf(plan, rejected, resumable > 0), ...ofFields],
      checksum: rows.toString(),
      restlessFields,
      ...news,
    });
    signal.throwIfAborted();
    return { kind: 'written', outcome: context.runs.endList(runId, outcome, rows), resumable };
  });
}

/** What there is to say of a list that was written; whether the next run goes on with a reading that ended early is known only now. */
function reasonsOf(
  { findings, heldBack, heldBackBy }: WritePlan,
  rejected: number,
  goesOn: boolean,
): readonly Finding[] {
  const reasons = findings.map(each => (each.code === 'ended_early' ? { ...each, goesOn } : each));
  if (rejected > 0) reasons.push({ code: 'record_rejected', count: rejected });
  if (heldBack > 0 && heldBackBy !== null)
    reasons.push({ code: 'removals_withheld', count: heldBack, ...heldBackBy });
  return reasons;
}

/** Forgets the answers of a reading that ended early, because what they say can't be written. */
export async function forgetResumeLog({ context, before }: Stage): Promise<void> {
  const { file, list, runId } = context;
  const state = { ...before, resumeLog: null };
  await transact(file, AbortSignal.timeout(forgettingMsMax), () =>
    writeState(file.sqlite, list, runId, state),
  );
}

/** How long that can wait for another program's lock, in milliseconds. */
const forgettingMsMax = 5_000;

/** Makes sure, without reading the rows, that the content hashes beside them have the expected sum. Throws a MirrorAlteredError. */
export function assertSum({ file: { path, sqlite }, list, sum }: ListContext): void {
  if (!sumOfContents(sqlite, list.resource).equals(sum)) throw altered(path, list.resource);
}

/** Writes down the changes that SQL does not find itself, and returns a function that finds the row of each record of a page, or null. */
function writeChanges({ context, sql, records }: Stage, { reconciliation, deleted, base }: WritePlan) {
  const { sqlite, list, sum } = context;
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
  if (sum.count > 0) sqlite.exec(sql.plainUpdates);
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

/** Writes the rows, and returns the sum that they have then, and the sum of what was read and of what stays. */
async function writeRows(
  { context, sql, records }: Stage,
  { proof }: ReadList,
  { reconciliation, retained, base }: WritePlan,
  slice: TimeSlice,
): Promise<{ rows: Sum; read: Sum }> {
  const { runId: run, sqlite, sum } = context;
  let rows = sum.plus(new Sum());
  for (const content of sqlite.prepare<[], Buffer>(sql.contentsOfEnded).pluck().iterate())
    rows.subtract(content);
  // Of a growing list only the end was read: all other rows stay.
  const { listed, written } = sumsOf(reconciliation, records);
  const read = proof === null ? rows.plus(written) : listed;
  sqlite.prepare(sql.endVersions).run({ run });
  sqlite.exec(sql.remove);
  sqlite.prepare(sql.update).run({ run });
  // Without rows there is nothing to look up, and indexes are made faster afterwards.
  const isNew = sum.count === 0 && records.texts.count > 1000;
  const indexes = isNew ? sqlite.prepare<[], { name: string; sql: string }>(sql.indexes).all() : [];
  for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`);
  for (const insert of [sql.insertPlain, sql.insertAdded, ...sql.insertItems])
    sqlite.prepare(insert).run({ base, run });
  const next = sqlite.prepare<[number, number], [number | null, string | null]>(sql.writtenAfter).raw();
  for (let after: number | null = Number.NEGATIVE_INFINITY; after !== null; ) {
    const [last, contents] = next.get(run, after) as [number | null, string | null];
    rows = rows.plus(Sum.of(Buffer.from(contents ?? '', 'hex')));
    after = last;
    if (slice.isOver) await slice.next();
  }
  for (const index of indexes) sqlite.exec(index.sql);
  noteReturns(sqlite, context.list, run);
  const contentOf = sqlite.prepare<[number], Buffer>(sql.contentOf).pluck();
  for (const id of retained) {
    read.add(contentOf.get(id) as Buffer);
    if (slice.isOver) await slice.next();
  }
  return { rows, read };
}
