import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { MerkleTree } from '../../audit/hashes.ts';
import { type ListSum, type Receipt, type RunReceipt, receiptOrNull } from '../../audit/receipt.ts';
import { tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { keptSums } from '../receipts/pruned.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { lastState, type RunChanges, RunComposer, workOf } from '../receipts/run-receipt.ts';
import type { Audit } from './verify.ts';

type Resource = ListSum['resource'];
type Changes = ReadonlyMap<Resource, RunChanges>;

/** A checkpoint that the receipts must agree with, and its file. */
export interface PinnedCheckpoint extends Checkpoint {
  readonly file: string;
}

/**
 * Checks the receipts by themselves: that places have no gap, that each receipt is canonical and of this mirror, that each hash is
 * right, and that the root is that of each checkpoint at its size. Returns how many there are.
 */
export function verifyLog(audit: Audit, checkpoints: readonly PinnedCheckpoint[]): number {
  const { sqlite, report, mirrorIds } = audit;
  if (mirrorIds.length !== 1) report('_mirror', null, `${mirrorIds.length} ids, but a mirror has one`);
  const sizes = new Set(checkpoints.map(({ size }) => size));
  const tree = new MerkleTree();
  const roots = new Map([[0, tree.root()]]);
  const seen = new Set<string>();
  let lastRunId = 0;
  for (const { leafIndex, runId, receipt: text, hash, leafHash } of new ReceiptLog(sqlite).receipts()) {
    const add = (what: string) => report('sync_receipts', leafIndex, what);
    if (leafIndex !== tree.size) add(`the receipt before it is missing: ${tree.size} was expected here`);
    if (hash.toString('hex') !== leafHash) add('the receipt and its hash disagree');
    if (seen.has(leafHash)) add('an earlier receipt is the same');
    seen.add(leafHash);
    tree.append(hash);
    if (sizes.has(tree.size)) roots.set(tree.size, tree.root());
    const receipt = receiptOrNull(text);
    if (receipt === null) {
      add('it is no receipt in canonical JSON with the fields of its kind');
      continue;
    }
    // If the mirror has lost its id, that was already reported.
    if (mirrorIds.length > 0 && receipt.mirrorId !== mirrorIds[0])
      add(`it is of mirror ${receipt.mirrorId}, and this one is ${mirrorIds[0]}`);
    const said = receipt.kind === 'run' ? receipt.runId : null;
    if (said !== runId) add(`run_id is ${runId}, but the receipt says ${said}`);
    if (said !== null && said <= lastRunId) add(`it comes after that of run ${lastRunId}`);
    lastRunId = said ?? lastRunId;
  }
  for (const { file, origin, size, root } of checkpoints) {
    const here = originOf(mirrorIds[0] ?? 'lost');
    const add = (what: string) => report('sync_receipts', null, `${file}: ${what}`);
    if (origin !== here) add(`the checkpoint is of ${origin}, and this is ${here}`);
    else if (size > tree.size) add(`the checkpoint counts ${size} receipts, and there are ${tree.size}`);
    else if (!roots.get(size)?.equals(root))
      add(`one of the first ${size} receipts is not what the checkpoint pins`);
  }
  return tree.size;
}

/**
 * Compares the present lists with the newest receipts, and composes the receipt of every run again from the tables, the newest first.
 * It takes away what each run added and puts back what it ended, and so has each list as every run left it.
 *
 * @param present the sum of each list and of the connections, recomputed from their rows.
 */
export async function verifyRuns(audit: Audit, present: ReadonlyMap<Resource, Sum>): Promise<void> {
  const { sqlite, slice, knownAfter } = audit;
  const rewind = new Rewind(audit, present);
  const underWay = sqlite.prepare<[], number>(
    'SELECT id FROM sync_runs WHERE id NOT IN (SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL)',
  );
  for (const runId of underWay.pluck().all()) rewind.undo(rewind.composer.changes(runId));
  rewind.checkPresent();
  const receipts = sqlite.prepare<[], { leafIndex: number; runId: number | null; text: string }>(
    'SELECT leaf_index AS leafIndex, run_id AS runId, receipt AS text FROM sync_receipts ORDER BY leaf_index DESC',
  );
  // False for what is further back than rows and history go.
  let isKnown = true;
  for (const { leafIndex, runId, text } of receipts.iterate()) {
    rewind.leafIndex = leafIndex;
    if (runId !== null && runId <= knownAfter) isKnown = false;
    const receipt = receiptOrNull(text);
    const changes = isKnown && runId !== null ? rewind.composer.changes(runId) : null;
    // A receipt that can't be read, or is of another kind, was already reported.
    if (receipt?.kind === 'run' && runId !== null) rewind.checkRun(runId, receipt, changes);
    else if (receipt !== null && receipt.kind !== 'run') rewind.checkOther(receipt, isKnown);
    if (changes !== null) rewind.undo(changes);
    // An upgrade just before it had rows that the rebuild dropped.
    if (receipt?.kind === 'rebuild') isKnown = false;
    if (slice.isOver) await slice.next();
  }
  if (isKnown) rewind.checkBeginning();
}

/** The lists in their state after each run, from the newest run back. */
class Rewind {
  readonly #audit: Audit;
  readonly #states: Map<Resource, Sum>;
  readonly composer: RunComposer;
  /** The place in the log of the receipt that is being checked. */
  leafIndex = 0;
  /** The hashes `ended` that erasures changed, by the list and the run. */
  readonly #erased = new Map<string, string>();
  /** False after a pruning, and after the newest receipt that has `kept`. */
  #isKeptKnown = true;

  constructor(audit: Audit, present: ReadonlyMap<Resource, Sum>) {
    this.#audit = audit;
    this.#states = new Map(present);
    this.composer = new RunComposer(audit.sqlite);
  }

  undo(changes: Changes): void {
    for (const [resource, { began, gone }] of changes)
      this.#states.set(resource, this.#stateOf(resource).minus(began).plus(gone));
  }

  /** Compares the lists with the newest receipts. The history is compared with these, so that one fault is reported only once. */
  checkPresent(): void {
    const { sqlite, report } = this.#audit;
    for (const [resource, found] of this.#states) {
      const said = lastState(sqlite, resource);
      if (found.equals(said)) continue;
      const words = `${found.count} rows with the checksum ${found}, but the newest receipt says ${said.count} and ${said}`;
      report(tableOf(resource), null, words);
      this.#states.set(resource, said);
    }
  }

  /** @param changes what the run did by rows and history; null if only the receipt itself has it. */
  checkRun(runId: number, receipt: RunReceipt, changes: Changes | null): void {
    const lists = receipt.lists.map(list => {
      const ended = this.#erased.get(`${list.resource} ${runId}`) ?? list.ended;
      return { ...list, ended };
    });
    const work =
      changes === null
        ? new Map(lists.map(list => [list.resource, list]))
        : workOf(changes, this.#stateOf('connections'));
    const expected = this.composer.compose(runId, this.#audit.mirrorIds[0] ?? '', work);
    if (expected === null) return;
    for (const what of differencesBetween({ ...receipt, lists }, expected)) {
      const isContent = /: (changes|ended|checksum|recordCount) is/.test(what);
      this.#add(`run ${runId}: ${what}`, isContent ? 'content' : 'record of runs');
    }
    if (changes !== null) this.#checkStates(`run ${runId}`, receipt.lists);
  }

  /** Checks a receipt that no run wrote. The hashes of the runs before an upgrade or a rebuild do not have to agree any more. */
  checkOther(receipt: Exclude<Receipt, RunReceipt>, isKnown: boolean): void {
    if (receipt.kind === 'erase')
      for (const { runId, ended } of receipt.ended) {
        const key = `${receipt.resource} ${runId}`;
        if (!this.#erased.has(key)) this.#erased.set(key, ended);
      }
    else if (receipt.kind === 'upgrade' || receipt.kind === 'rebuild') {
      if (isKnown) this.#checkStates(`the ${receipt.kind}`, receipt.lists);
      const { sqlite, acceptedThrough } = this.#audit;
      for (const { resource, count, sum } of this.#isKeptKnown ? keptSums(sqlite, acceptedThrough) : []) {
        const said = receipt.kept.find(each => each.resource === resource);
        if (count !== said?.count || sum !== said.sum)
          this.#add(
            `${resource}: which runs wrote the records up to run ${acceptedThrough} is not what the receipt of the newest upgrade or rebuild says`,
          );
      }
    }
    if (receipt.kind !== 'erase') this.#isKeptKnown = false;
  }

  /** Checks that there was nothing before the first run. */
  checkBeginning(): void {
    const fault = 'rows and history have more or less than the runs wrote';
    for (const [resource, state] of this.#states)
      if (!state.equals(new Sum())) this.#audit.report(tableOf(resource), null, fault);
  }

  /** @param who the name of the receipt that says this, for messages. */
  #checkStates(who: string, said: readonly ListSum[]): void {
    for (const { resource, recordCount, checksum } of said) {
      const state = this.#stateOf(resource);
      const stated = Sum.from(recordCount, checksum);
      if (state.equals(stated)) continue;
      this.#add(
        `${resource}: the receipt of ${who} says ${recordCount} records and ${checksum}, but by rows and history there were ${state.count} and ${state}`,
      );
      this.#states.set(resource, stated);
    }
  }

  #add(what: string, severity: 'content' | 'record of runs' = 'content'): void {
    this.#audit.report('sync_receipts', this.leafIndex, what, severity);
  }

  #stateOf(resource: Resource): Sum {
    return this.#states.get(resource) as Sum;
  }
}

/** The fields in which a stored receipt differs from the recomputed one, as `list: field`, with both values. */
function differencesBetween(stored: RunReceipt, expected: RunReceipt): string[] {
  const fieldsOf = ({ lists, ...run }: RunReceipt) =>
    new Map<string, unknown>([
      ...Object.entries(run),
      ...lists.flatMap(list =>
        Object.entries(list).map(([name, value]) => [`${list.resource}: ${name}`, value] as const),
      ),
    ]);
  const [said, found] = [fieldsOf(stored), fieldsOf(expected)];
  const text = (value: unknown) => JSON.stringify(value) ?? 'nothing';
  return [...new Set([...found.keys(), ...said.keys()])]
    .filter(name => said.get(name) !== found.get(name))
    .map(
      name => `${name} is ${text(said.get(name))} in the receipt, but ${text(found.get(name))} by the tables`,
    );
}
