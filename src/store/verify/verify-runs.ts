import { receiptOrNull } from '../../audit/read-receipt.ts';
import type { ListSum } from '../../audit/receipt.ts';
import { keptResources } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { composeRunReceipt } from '../receipts/run-receipt.ts';
import { firstValue } from '../tables/query.ts';
import type { WorkOfRuns } from './groundwork.ts';
import type { Audit } from './verify-list.ts';
import { differencesBetween, type VerifiedReceipts } from './verify-receipts.ts';

type Resource = ListSum['resource'];

interface RunState {
  readonly id: number;
  readonly status: string;
  readonly receipt: string | null;
}

/**
 * Recomputes the receipt of every run from the rows and the history, the newest first: what a run put into a list is taken away
 * again and what it ended is put back, so that each list is known as every run left it.
 *
 * @param states the lists and the connections as they stand, recomputed from their rows.
 * @param work what the runs changed, by the rows and the history.
 */
export async function verifyRuns(
  audit: Audit,
  states: ReadonlyMap<string, Sum>,
  { upgrades }: VerifiedReceipts,
  work: WorkOfRuns,
): Promise<void> {
  const { sqlite, differences, prunedThrough, slice } = audit;
  const rewind = new Rewind(audit, states, work);
  const rest = [...upgrades];
  const checkUpgrades = (afterRunId: number) => {
    while (rest.length > 0 && Number(rest.at(-1)?.afterRunId) >= afterRunId) {
      rewind.checkStates('an upgrade', rest.pop()?.receipt.lists ?? []);
      // Earlier receipts are over the contents of another shape.
      rewind.isOver = true;
    }
  };
  const runs = sqlite.prepare<[], RunState>(
    `SELECT r.id, r.status, l.receipt FROM sync_runs r
     LEFT JOIN sync_receipts l ON l.run_id = r.id ORDER BY r.id DESC`,
  );
  for (const run of runs.iterate()) {
    if (run.id <= prunedThrough) rewind.isOver = true;
    checkUpgrades(run.id);
    if (run.receipt !== null) rewind.checkRun(run.id, run.receipt);
    else if (run.status !== 'running') {
      differences.add('sync_runs', run.id, 'the run has ended, but has no receipt');
    }
    if (run.receipt !== null && run.status === 'running') {
      differences.add('sync_runs', run.id, 'the run has a receipt, but has not ended');
    }
    rewind.takeBack(run.id);
    if (slice.isOver) await slice.next();
  }
  checkUpgrades(-1);
}

/** The lists as they stood after one run after another, going back. */
class Rewind {
  /** True if the history does not go back any further, or the mirror was upgraded since. */
  isOver = false;
  readonly #audit: Audit;
  readonly #states: Map<string, Sum>;
  readonly #mirrorId: string;
  readonly #work: WorkOfRuns;

  constructor(audit: Audit, states: ReadonlyMap<string, Sum>, work: WorkOfRuns) {
    this.#audit = audit;
    this.#work = work;
    this.#states = new Map(states);
    this.#mirrorId = firstValue(audit.sqlite, 'SELECT mirror_id FROM _mirror') ?? '';
  }

  checkRun(runId: number, text: string): void {
    const stored = receiptOrNull(text);
    // A receipt that can't be read, or is of another kind, was named already.
    if (stored?.kind !== 'run') return;
    const ofStored = new Map(stored.lists.map(list => [list.resource, list]));
    const expected = composeRunReceipt(this.#audit.sqlite, runId, {
      mirrorId: this.#mirrorId,
      stateAfter: resource => (this.isOver ? sumIn(ofStored.get(resource)) : this.#stateOf(resource)),
      changes: resource => {
        // Of that time, the receipt's own word is all there is.
        const said = ofStored.get(resource)?.changes;
        if (this.isOver) return { count: said === undefined ? 0 : 1, digest: said ?? '' };
        const work = this.#work.of(runId, resource);
        return 'value' in work ? work.value : { count: 1, digest: 'not to be read' };
      },
    });
    if (expected === null) return;
    for (const what of differencesBetween(stored, expected)) {
      const isContent = /: (changes|checksum|recordCount) is/.test(what);
      this.#audit.differences.add(
        'sync_receipts',
        null,
        `run ${runId}: ${what}`,
        isContent ? 'content' : 'record of runs',
      );
    }
    this.checkStates(`run ${runId}`, stored.lists);
  }

  /** @param who of whose receipt the states are, in words. */
  checkStates(who: string, said: readonly ListSum[]): void {
    if (this.isOver) return;
    for (const { resource, recordCount, checksum } of said)
      this.#compare(who, resource, recordCount, checksum);
  }

  /** Undoes what a run did. */
  takeBack(runId: number): void {
    for (const resource of this.isOver ? [] : keptResources) {
      const work = this.#work.of(runId, resource);
      if ('problem' in work) {
        const what = `${resource}, run ${runId}: ${work.problem}`;
        this.#audit.differences.add('record_history', null, what);
        continue;
      }
      const state = this.#states.get(resource);
      const { began, gone, updatedAway } = work.value;
      if (state !== undefined) this.#states.set(resource, state.minus(began).plus(gone).plus(updatedAway));
    }
  }

  #compare(who: string, resource: Resource, recordCount: number, checksum: string): void {
    const state = this.#stateOf(resource);
    if (state.count === recordCount && state.toString() === checksum) return;
    const words = `${resource}: the receipt of ${who} says ${recordCount} records and ${checksum}, but by rows and history there were ${state.count} and ${state}`;
    this.#audit.differences.add('sync_receipts', null, words, 'content');
    // From here on back, what the receipts say of each other is held against the history: one fault is named once.
    this.#states.set(resource, Sum.from(recordCount, checksum));
  }

  #stateOf(resource: Resource): Sum {
    const state = this.#states.get(resource);
    if (state === undefined) throw new Error(`${resource} was not verified.`);
    return state;
  }
}

/** How a receipt says that a list stood. */
function sumIn(state: ListSum | undefined): Sum {
  return state === undefined ? new Sum() : Sum.from(state.recordCount, state.checksum);
}
