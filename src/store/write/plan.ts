import { identityOf } from '../../contract/record.ts';
import type { UnshownRow } from '../../proof/reading.ts';
import { mayRemove, type RemovalGuard } from '../../proof/removal.ts';
import { miscount } from '../../proof/totals.ts';
import type { Answer } from '../../proof/window.ts';
import type { ReadList } from './memory.ts';
import type { Settlement } from './records.ts';
import type { Stage } from './stage.ts';

/** The result of reading a list. */
export interface Result extends ReadList {
  readonly answers: readonly Answer[];
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
  readonly removals: RemovalGuard;
}

/** What a run does to a list. It is found by reading alone, and `apply` writes it. */
export interface Plan {
  readonly settlement: Settlement;
  /** A new row is this and the number of its version: the greatest id of all rows so far; 0 in a list with ids. */
  readonly base: number;
  /** Rows that go, and unshown rows that stay. */
  readonly gone: readonly number[];
  readonly stays: readonly number[];
  /** How many rows would go if removals were not withheld. */
  readonly withheld: number;
  readonly undecided: number;
  /** Why the list is not proven; null if it is. */
  readonly unproven: string | null;
  /** Why what an earlier run has read does not do; null if it does. */
  readonly outdated: string | null;
}

/** Finds what a run does to a list that was read. */
export function planOf(
  stage: Stage,
  { proof, answers, undecided, removals, unproven, journal }: Result,
): Plan {
  const { context, rejected, records, settlement } = stage;
  const { list, sqlite, table, sum } = context;
  const missing = proof === null ? [] : records.unshown(settlement);
  const fates = new Map((proof?.rows ?? []).map(({ id, fate }) => [id, fate]));
  const gone = missing.filter(({ id }) => fates.get(id) === 'gone').map(({ id }) => id);
  const isCounted = proof !== null && unproven === null && journal === null && rejected.count === 0;
  const short = isCounted ? miscount(answers, sum.count + settlement.added - missing.length) : null;
  const going = new Set(mayGo() ? gone : []);
  const kept = gone.length - going.size;
  return {
    settlement,
    base:
      list.identity.by === 'id' ? 0 : (sqlite.prepare<[], number>(stage.sql.lastId).pluck().get() as number),
    gone: [...going],
    stays: missing.map(({ id }) => id).filter(id => !going.has(id)),
    withheld: short === null ? kept : 0,
    undecided: undecided + (short === null ? 0 : kept),
    unproven: unproven ?? short,
    outdated: stage.hasRecalled ? short : null,
  };

  /** Whether rows that are gone can be removed. A rejected record might be one of them, and they might be too many. */
  function mayGo(): boolean {
    if (gone.length === 0) return true;
    if (rejected.hasUnreadableNew(sqlite, context.records.last('sure', list.resource)?.runId ?? 0))
      return false;
    const settled = context.records.last('settled', list.resource);
    // Only rows up to the last settled run count: otherwise the next run could remove all that this one withholds.
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const count = gone.filter(row => table.read(row).firstSeenRunId <= settledRunId).length;
    return short === null && mayRemove(count, settled?.recordCount ?? sum.count, removals);
  }
}

/** The rows that no answer leaves room for, but for those with the identity of a rejected record: nobody knows what is in it. */
export function missingRows({ rejected, context, records, settlement }: Stage): UnshownRow[] {
  const identities = new Set(rejected.all.map(({ identity }) => identity));
  const isProtected = (row: number) =>
    identities.size > 0 && identities.has(identityOf(context.list, context.table.read(row).record)); // guard: rejected records keep their rows
  return records.unshown(settlement).filter(({ id }) => !isProtected(id));
}
