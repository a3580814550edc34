// What a run will do to a list, and what it must not do. Nothing is written yet.

import { scalarFields } from '../../contract/lists.ts';
import { identityOf } from '../../contract/record.ts';

import type { Finding } from '../../proof/findings.ts';
import type { AbsentRow } from '../../proof/questions.ts';
import { miscount } from '../../proof/totals.ts';
import type { Reconciliation } from './reconcile.ts';
import type { Stage } from './stage.ts';
import type { ReadList } from './sync-state.ts';

/** What a run does to a list. It is found by reading alone, and `apply` writes it. */
export interface WritePlan {
  readonly reconciliation: Reconciliation;
  /** A new row is this and the number of its version: the greatest id of all rows so far; 0 in a list with ids. */
  readonly base: number;
  /** Rows that go, and absent rows that stay. */
  readonly deleted: readonly number[];
  readonly retained: readonly number[];
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
export function planOf(
  stage: Stage,
  { proof, answers, undecided, findings, toResume }: ReadList,
  removals: DeleteLimit,
): WritePlan {
  const { context, rejected, reconciliation } = stage;
  const { list, sqlite, table, sum } = context;
  const absent = proof === null ? [] : stage.absentRows;
  const decisions = new Map((proof?.rows ?? []).map(({ id, decision }) => [id, decision]));
  const gone = absent.filter(({ id }) => decisions.get(id) === 'gone').map(({ id }) => id);
  const isCounted = proof !== null && findings.length === 0 && toResume === null && rejected.count === 0;
  const short = isCounted ? miscount(answers, sum.count + reconciliation.inserted - absent.length) : null;
  const heldBackBy = whyHeldBack();
  const deleted = new Set(short === null && heldBackBy === null ? gone : []);
  const kept = gone.length - deleted.size;
  return {
    reconciliation,
    base:
      list.identity.by === 'id' ? 0 : (sqlite.prepare<[], number>(stage.sql.lastId).pluck().get() as number),
    deleted: [...deleted],
    retained: absent.map(({ id }) => id).filter(id => !deleted.has(id)),
    heldBack: short === null ? kept : 0,
    heldBackBy,
    undecided: undecided + (short === null ? 0 : kept),
    findings: short === null ? findings : [...findings, short],
    outdated: stage.hasRecalled ? short : null,
  };

  /** Why rows that are gone can't be removed: a rejected record might be one of them, or they are too many; null if they can. */
  function whyHeldBack(): WritePlan['heldBackBy'] {
    if (gone.length === 0) return null;
    const sureRunId = context.runs.last('sure', list.resource)?.runId ?? 0;
    if (rejected.hasUnreadableNew(sureRunId)) return { why: 'rejected', limit: null };
    const clean = context.runs.last('clean', list.resource);
    // Only rows up to the last clean run count: otherwise the next run could remove all that this one holds back.
    const cleanRunId = clean?.runId ?? Number.POSITIVE_INFINITY;
    const count = gone.filter(row => table.read(row).firstSeenRunId <= cleanRunId).length;
    const limit = removalsMax(clean?.recordCount ?? sum.count, removals);
    return count > limit ? { why: 'limit', limit } : null;
  }
}

/** How much of a list a run can remove. */
export interface DeleteLimit {
  /** The greatest share of the rows of the last clean run, from 0 to 1. */
  readonly shareMax: number;
  /** True lifts the share, and nothing else. */
  readonly allowAny: boolean;
}

/** Up to this many removals are always allowed: a small list can change by half and more. */
const removalsAlwaysAllowed = 20;

/** How many rows that are gone a run can remove, of the `cleanCount` rows of the last clean run. Newer rows do not count. */
function removalsMax(cleanCount: number, { shareMax, allowAny }: DeleteLimit): number {
  const most = Math.max(removalsAlwaysAllowed, Math.floor(cleanCount * shareMax));
  return allowAny ? Number.POSITIVE_INFINITY : most; // guard: removals
}

/** So many records of a list must be known, and such a share of them be replaced, before a run writes nothing. */
const [knownMin, replacedShare] = [20, 0.9];

/**
 * Says that the list seems to be another one under the same ids, or that a field by which its records are known is in none of them any more,
 * so that each would count as a new one; nothing if it is not so, or if the guard lets any removals through.
 */
export function replacementOf({ context, sql }: Stage, { allowAny }: DeleteLimit): readonly Finding[] {
  const { sqlite, sum, list } = context;
  if (allowAny || sum.count < knownMin) return []; // guard: records that were replaced
  const count = sqlite.prepare<[], number>(sql.replaced).pluck().get() ?? 0;
  if (count < sum.count * replacedShare) return [];
  const fields = list.identity.by === 'id' ? [] : list.identity.fields;
  const gone = fields.filter(name => {
    const column = scalarFields(list).find(field => field.name === name)?.column;
    const has = (table: string) =>
      sqlite.prepare(`SELECT 1 FROM ${table} WHERE ${column} IS NOT NULL LIMIT 1`).get() !== undefined;
    return has(list.table) && !has('temp.incoming'); // guard: an identity that lost a field
  });
  if (list.identity.by === 'content' && gone.length === 0) return [];
  return [
    { code: 'records_replaced', count },
    ...gone.map(field => ({ code: 'field_gone' as const, field, count })),
  ];
}

/** The rows that no answer leaves room for, but for those with the identity of a rejected record: nobody knows what is in it. */
export function rowsToDecide({ rejected, context, absentRows }: Stage): AbsentRow[] {
  const isProtected = (row: number) =>
    rejected.count > 0 && rejected.hasIdentity(identityOf(context.list, context.table.read(row).record)); // guard: rejected records keep their rows
  return absentRows.filter(({ id }) => !isProtected(id));
}
