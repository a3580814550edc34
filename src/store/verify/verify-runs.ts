import { desc, eq, sql } from 'drizzle-orm';
import { type ListSum, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { Books } from '../receipts/books.ts';
import { ChangesOfRuns, type RunChanges } from '../receipts/changes-of-runs.ts';
import { ErasedHashes } from '../receipts/erased.ts';
import { composeRunReceipt } from '../receipts/run-receipt.ts';
import { mirrorIds } from '../tables/initialise-mirror.ts';
import { syncReceipts, syncRuns } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';
import type { Audit } from './verify-list.ts';
import { differencesBetween, type VerifiedReceipts } from './verify-receipts.ts';

type Resource = ListSum['resource'];

/**
 * Recomputes the receipt of every run from the rows and the history, the newest first. It takes away what a run added to a list and
 * puts back what the run ended. So it has each list as every run left it.
 *
 * @param states the present lists and connections, recomputed from their rows.
 */
export async function verifyRuns(
  audit: Audit,
  states: ReadonlyMap<string, Sum>,
  receipts: VerifiedReceipts,
): Promise<void> {
  const { sqlite, differences, knownAfter, slice } = audit;
  const rewind = new Rewind(audit, states);
  const rest = [...receipts.states];
  const runs = prepare(sqlite, () =>
    select({
      id: syncRuns.id,
      status: syncRuns.status,
      receipt: sql<string | null>`${syncReceipts.receipt}`,
    })
      .from(syncRuns)
      .leftJoin(syncReceipts, eq(syncReceipts.runId, syncRuns.id))
      .orderBy(desc(syncRuns.id)),
  );
  for (const run of runs.iterate()) {
    while (Number(rest.at(-1)?.afterRunId) >= run.id) {
      const stated = rest.pop();
      if (stated === undefined) break;
      rewind.checkStates(`the ${stated.receipt.kind}`, stated.receipt.lists);
      // An upgrade just before it had rows that the rebuild dropped.
      if (stated.receipt.kind === 'rebuild') rewind.isOver = true;
    }
    if (run.id <= knownAfter) rewind.isOver = true;
    if (run.receipt !== null) rewind.checkRun(run.id, run.receipt);
    else if (run.status !== 'running')
      differences.add('sync_runs', run.id, 'the run has ended, but has no receipt');
    if (run.receipt !== null && run.status === 'running')
      differences.add('sync_runs', run.id, 'the run has a receipt, but has not ended');
    rewind.takeBack(run.id);
    if (slice.isOver) await slice.next();
  }
  rewind.checkBeginning();
}

/** The lists in their state after each run, from the newest run back. */
class Rewind {
  /** True if rows and history do not go back any further. */
  isOver = false;
  readonly #audit: Audit;
  readonly #states: Map<string, Sum>;
  readonly #erased: ErasedHashes;
  readonly #mirrorId: string;
  readonly #books: Books;
  /** Kept, because a mirror can have thousands of runs. */
  readonly #readers: ReadonlyMap<Resource, ChangesOfRuns>;
  #last: { readonly runId: number; readonly found: Map<Resource, RunChanges> } | null = null;

  constructor(audit: Audit, states: ReadonlyMap<string, Sum>) {
    const { sqlite } = audit;
    this.#audit = audit;
    this.#states = new Map(states);
    this.#erased = new ErasedHashes(sqlite);
    this.#mirrorId = mirrorIds(sqlite)[0] ?? '';
    this.#books = new Books(sqlite);
    this.#readers = new Map(keptResources.map(resource => [resource, new ChangesOfRuns(sqlite, resource)]));
  }

  checkRun(runId: number, text: string): void {
    const stored = receiptOrNull(text);
    // A receipt that can't be read, or is of another kind, was already reported.
    if (stored?.kind !== 'run') return;
    // If versions of a list were erased, the receipt of the erasure has its hash.
    const known = { ...stored, lists: stored.lists.map(list => this.#withErased(runId, list)) };
    const ofKnown = new Map(known.lists.map(list => [list.resource, list]));
    const expected = composeRunReceipt(this.#audit.sqlite, runId, {
      mirrorId: this.#mirrorId,
      books: id => this.#books.of(id),
      connectionsAfter: () =>
        this.isOver ? sumIn(ofKnown.get('connections')) : this.#stateOf('connections'),
      changes: resource => {
        if (!this.isOver) return this.#changesOf(runId, resource);
        // If rows and history no longer have the changes, only the receipt itself has them.
        const said = ofKnown.get(resource);
        return {
          ...nothing,
          count: said === undefined ? 0 : 1,
          changes: said?.changes ?? '',
          ended: said?.ended ?? '',
        };
      },
    });
    if (expected === null) return;
    for (const what of differencesBetween(known, expected)) {
      const isContent = /: (changes|ended|checksum|recordCount) is/.test(what);
      const severity = isContent ? 'content' : 'record of runs';
      this.#audit.differences.add('sync_receipts', null, `run ${runId}: ${what}`, severity);
    }
    this.checkStates(`run ${runId}`, stored.lists);
  }

  /** @param who the name of the receipt that says this, for messages. */
  checkStates(who: string, said: readonly ListSum[]): void {
    if (this.isOver) return;
    for (const { resource, recordCount, checksum } of said)
      this.#compare(who, resource, recordCount, checksum);
  }

  /** Undoes what a run did. */
  takeBack(runId: number): void {
    for (const resource of this.isOver ? [] : keptResources) {
      const { began, gone } = this.#changesOf(runId, resource);
      this.#states.set(resource, this.#stateOf(resource).minus(began).plus(gone));
    }
  }

  /** Checks that there was nothing before the first run. */
  checkBeginning(): void {
    if (this.isOver) return;
    for (const [resource, state] of this.#states)
      if (!state.equals(new Sum()))
        this.#audit.differences.add(tableOf(resource), null, `${state.count} records are of no run`);
  }

  #withErased<List extends ListSum & { readonly ended: string }>(runId: number, list: List): List {
    return { ...list, ended: this.#erased.of(list.resource, runId) ?? list.ended };
  }

  #changesOf(runId: number, resource: Resource): RunChanges {
    if (this.#last?.runId !== runId) this.#last = { runId, found: new Map() };
    const { found } = this.#last;
    const changes = found.get(resource) ?? this.#readers.get(resource)?.of(runId) ?? nothing;
    found.set(resource, changes);
    return changes;
  }

  #compare(who: string, resource: Resource, recordCount: number, checksum: string): void {
    const state = this.#stateOf(resource);
    if (state.count === recordCount && state.toString() === checksum) return;
    const words = `${resource}: the receipt of ${who} says ${recordCount} records and ${checksum}, but by rows and history there were ${state.count} and ${state}`;
    this.#audit.differences.add('sync_receipts', null, words, 'content');
    // From here on back, the history is compared with the receipt's state, so that one fault is reported only once.
    this.#states.set(resource, Sum.from(recordCount, checksum));
  }

  #stateOf(resource: Resource): Sum {
    const state = this.#states.get(resource);
    if (state === undefined) throw new Error(`${resource} was not verified.`);
    return state;
  }
}

const nothing: RunChanges = { count: 0, changes: '', ended: '', began: new Sum(), gone: new Sum() };

/** The state of a list in a receipt, as a sum. */
function sumIn(state: ListSum | undefined): Sum {
  return state === undefined ? new Sum() : Sum.from(state.recordCount, state.checksum);
}
