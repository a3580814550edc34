import { identityOf } from '../../contract/record.ts';
import type { UnshownRow } from '../../proof/reading.ts';
import { mayRemove, type RemovalGuard } from '../../proof/removal.ts';
import type { Answer } from '../../proof/window.ts';
import type { ReadList } from './memory.ts';
import type { Stage } from './stage.ts';

/** The result of reading a list. */
export interface Result extends ReadList {
  readonly answers: readonly Answer[];
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
  readonly removals: RemovalGuard;
}

/** What a run does to a list. It is found by reading alone, and `apply` writes it. */
export type Plan = ReturnType<typeof planOf>;

/** Finds what a run does to a list that was read. */
export function planOf(stage: Stage, { proof, removals }: Result) {
  const { list, sqlite, records, table, sum } = stage.context;
  const { sql, isOfIds } = stage;
  const settlement = stage.settle();
  sqlite.exec(sql.resetCopies);
  const setCopies = sqlite.prepare(sql.setCopies);
  for (const [n, count] of settlement.copies) setCopies.run(count, n);

  const missing = proof === null ? [] : unshownRows(stage);
  const fates = new Map((proof?.rows ?? []).map(({ id, fate }) => [id, fate]));
  const gone = missing.filter(({ id }) => fates.get(id) === 'gone');
  const older = gone.filter(({ id }) => stage.isOlderText(id));
  const mayAnyGo =
    gone.length === 0 ||
    !stage.rejected.hasUnreadableNew(sqlite, records.last('sure', list.resource)?.runId ?? 0);
  const isAllowed = mayAnyGo && mayGo();
  const going = new Set((isAllowed ? gone : mayAnyGo ? older : []).map(({ id }) => id));
  return {
    ...settlement,
    gone: [...going],
    /** Unshown rows that stay. */
    stays: missing.map(({ id }) => id).filter(id => !going.has(id)),
    /** How many of them would go if the removals were not withheld, and the field of their identity that seems to be written otherwise. */
    withheld: gone.length - going.size,
    changedIdentity: isAllowed ? null : changedIdentity(),
    /** A staged version gets the row of this and its number: the greatest id of the rows so far or, in a list with ids, 0. */
    base: isOfIds ? 0 : (sqlite.prepare<[], number>(sql.lastId).pluck().get() as number),
  };

  /** Whether rows that are gone can be removed: not if they are too many. An older text of a record that is there is none of them. */
  function mayGo(): boolean {
    const settled = records.last('settled', list.resource);
    // Only rows up to the last settled run count. A run that withheld removals is not settled: otherwise the next run could remove
    // them all.
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const isCounted = ({ id }: UnshownRow) =>
      !stage.isOlderText(id) && table.read(id).firstSeenRunId <= settledRunId;
    return mayRemove(gone.filter(isCounted).length, settled?.recordCount ?? sum.count, removals);
  }

  /** The field in which as many new records differ from those that are gone: the service seems to write it otherwise. */
  function changedIdentity(): string | null {
    const ids = JSON.stringify(gone.map(({ id }) => id));
    const isOnly = ({ query }: { query: string }) => sqlite.prepare(query).pluck().get(ids) === 1;
    return sql.changedIdentity.find(isOnly)?.name ?? null;
  }
}

/**
 * The rows that no answer leaves room for. A row with the identity of a rejected record is not among them: nobody knows what is the matter
 * with it.
 */
export function missingRows(stage: Stage): UnshownRow[] {
  const { rejected, context } = stage;
  const identities = new Set(rejected.all.map(({ identity }) => identity));
  const isProtected = (row: number) =>
    identities.size > 0 && identities.has(identityOf(context.list, context.table.read(row).record)); // guard: rejected records keep their rows
  return unshownRows(stage).filter(({ id }) => !isProtected(id));
}

/** The same with those rows, in the order of their ids. */
function unshownRows(stage: Stage): UnshownRow[] {
  const { context, sql, isOfIds, shown } = stage;
  const { table, sqlite, sum } = context;
  const { held } = stage.settle();
  if (sum.count === 0 || (held.size === 0 && shown.size >= table.count())) return [];
  // Ids of the service can be far apart.
  if (isOfIds) return table.keys().filter(({ id }) => !shown.has(id) && !held.has(id));
  const unshown: UnshownRow[] = [];
  const [least, most] = sqlite.prepare<[], [number, number]>(sql.idSpan).raw().get() as [number, number];
  for (let from = shown.firstMissing(least, most); from !== null; from = shown.firstMissing(from, most)) {
    let to = from;
    while (to < most && !shown.has(to + 1)) to++;
    for (const row of table.keys(from, to)) if (!held.has(row.id)) unshown.push(row);
    from = to + 1;
  }
  return unshown;
}
