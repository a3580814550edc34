import { type ListSum, type RunReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { erasedHashes } from '../receipts/pruned.ts';
import { type RunChanges, RunHashes } from '../receipts/run-hashes.ts';
import { composeRunReceipt, lastState } from '../receipts/run-receipt.ts';
import type { Audit } from './differences.ts';
import type { VerifiedLog } from './verify-log.ts';

type Resource = ListSum['resource'];
type Changes = ReadonlyMap<Resource, RunChanges>;

/**
 * Compares the present lists with the newest receipts, and recomputes the receipt of every run from the tables, the newest first. It
 * takes away what each run added and puts back what it ended, and so has each list as every run left it.
 *
 * @param present the sum of each list and of the connections, recomputed from their rows.
 */
export async function verifyRuns(
  audit: Audit,
  present: ReadonlyMap<Resource, Sum>,
  { states }: VerifiedLog,
): Promise<void> {
  const { sqlite, slice, knownAfter } = audit;
  const rewind = new Rewind(audit, present);
  const underWay = sqlite.prepare<[], number>(
    'SELECT id FROM sync_runs WHERE id NOT IN (SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL)',
  );
  for (const runId of underWay.pluck().all()) rewind.undo(rewind.changesOf(runId));
  rewind.checkPresent();
  const rest = [...states];
  const receipts = sqlite.prepare<[], { runId: number; text: string }>(
    'SELECT run_id AS runId, receipt AS text FROM sync_receipts WHERE run_id IS NOT NULL ORDER BY run_id DESC',
  );
  // Rows and history do not go back any further.
  let isOver = false;
  for (const { runId, text } of receipts.iterate()) {
    for (let stated = rest.at(-1); stated !== undefined && stated.afterRunId >= runId; stated = rest.at(-1)) {
      rest.pop();
      if (!isOver) rewind.checkStates(`the ${stated.receipt.kind}`, stated.receipt.lists);
      // An upgrade just before it had rows that the rebuild dropped.
      if (stated.receipt.kind === 'rebuild') isOver = true;
    }
    if (runId <= knownAfter) isOver = true;
    const receipt = receiptOrNull(text);
    const changes = isOver ? null : rewind.changesOf(runId);
    // A receipt that can't be read, or is of another kind, was already reported.
    if (receipt?.kind === 'run') rewind.checkRun(runId, receipt, changes);
    if (changes !== null) rewind.undo(changes);
    if (slice.isOver) await slice.next();
  }
  if (!isOver) rewind.checkBeginning();
}

/** The lists in their state after each run, from the newest run back. */
class Rewind {
  readonly #audit: Audit;
  readonly #states: Map<Resource, Sum>;
  readonly #erased: ReadonlyMap<string, string>;
  readonly #hashes: RunHashes;

  constructor(audit: Audit, present: ReadonlyMap<Resource, Sum>) {
    this.#audit = audit;
    this.#states = new Map(present);
    this.#erased = erasedHashes(audit.sqlite);
    this.#hashes = new RunHashes(audit.sqlite);
  }

  changesOf(runId: number): Changes {
    return new Map(keptResources.map(resource => [resource, this.#hashes.changes(runId, resource)]));
  }

  undo(changes: Changes): void {
    for (const [resource, { began, gone }] of changes)
      this.#states.set(resource, this.#stateOf(resource).minus(began).plus(gone));
  }

  /** Compares the lists with the newest receipts. The history is compared with these, so that one fault is reported only once. */
  checkPresent(): void {
    const { sqlite, differences } = this.#audit;
    for (const [resource, found] of this.#states) {
      const said = lastState(sqlite, resource);
      if (found.equals(said)) continue;
      const words = `${found.count} rows with the checksum ${found}, but the newest receipt says ${said.count} and ${said}`;
      differences.add(tableOf(resource), null, words);
      this.#states.set(resource, said);
    }
  }

  /** @param changes what the run did by rows and history; null if only the receipt itself has it. */
  checkRun(runId: number, receipt: RunReceipt, changes: Changes | null): void {
    const { sqlite, differences, mirrorIds } = this.#audit;
    // If versions of a list were erased, the receipt of the erasure has its hash.
    const lists = receipt.lists.map(list => {
      const ended = this.#erased.get(`${list.resource} ${runId}`) ?? list.ended;
      return { ...list, ended };
    });
    const stated = (resource: Resource) => lists.find(list => list.resource === resource);
    const expected = composeRunReceipt(sqlite, runId, {
      mirrorId: mirrorIds[0] ?? '',
      books: id => this.#hashes.books(id),
      changes: resource => changes?.get(resource) ?? statedChanges(stated(resource)),
      connectionsAfter: () =>
        changes === null ? sumIn(stated('connections')) : this.#stateOf('connections'),
    });
    if (expected === null) return;
    for (const what of differencesBetween({ ...receipt, lists }, expected)) {
      const isContent = /: (changes|ended|checksum|recordCount) is/.test(what);
      const severity = isContent ? 'content' : 'record of runs';
      differences.add('sync_receipts', null, `run ${runId}: ${what}`, severity);
    }
    if (changes !== null) this.checkStates(`run ${runId}`, receipt.lists);
  }

  /** @param who the name of the receipt that says this, for messages. */
  checkStates(who: string, said: readonly ListSum[]): void {
    for (const list of said) {
      const { resource, recordCount, checksum } = list;
      const state = this.#stateOf(resource);
      if (state.equals(sumIn(list))) continue;
      const words = `${resource}: the receipt of ${who} says ${recordCount} records and ${checksum}, but by rows and history there were ${state.count} and ${state}`;
      this.#audit.differences.add('sync_receipts', null, words, 'content');
      this.#states.set(resource, sumIn(list));
    }
  }

  /** Checks that there was nothing before the first run. */
  checkBeginning(): void {
    const fault = 'rows and history have more or less than the runs wrote';
    for (const [resource, state] of this.#states)
      if (!state.equals(new Sum())) this.#audit.differences.add(tableOf(resource), null, fault);
  }

  #stateOf(resource: Resource): Sum {
    return this.#states.get(resource) as Sum;
  }
}

function statedChanges(list: RunReceipt['lists'][number] | undefined): RunChanges {
  const { changes = '', ended = '' } = list ?? {};
  return { count: list === undefined ? 0 : 1, changes, ended, began: new Sum(), gone: new Sum() };
}

/** The state of a list in a receipt, as a sum. */
function sumIn(state: ListSum | undefined): Sum {
  return state === undefined ? new Sum() : Sum.from(state.recordCount, state.checksum);
}

/** The fields in which a stored receipt differs from the recomputed one, as `list: field`, with both values. */
function differencesBetween(stored: RunReceipt, expected: RunReceipt): string[] {
  const [said, found] = [stored, expected].map(({ lists, ...run }) => {
    const ofLists = lists.flatMap(list =>
      Object.entries(list).map(([name, value]) => [`${list.resource}: ${name}`, value] as const),
    );
    return new Map<string, unknown>([...Object.entries(run), ...ofLists]);
  }) as [Map<string, unknown>, Map<string, unknown>];
  return [...new Set([...found.keys(), ...said.keys()])]
    .filter(name => said.get(name) !== found.get(name))
    .map(name => {
      const [inReceipt, byTables] = [said, found].map(
        values => JSON.stringify(values.get(name)) ?? 'nothing',
      );
      return `${name} is ${inReceipt} in the receipt, but ${byTables} by the tables`;
    });
}
