import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { MalformedError } from '../../audit/malformed-error.ts';
import { MerkleTree } from '../../audit/merkle.ts';
import {
  type RebuildReceipt,
  type Receipt,
  type RunReceipt,
  readReceipt,
  type UpgradeReceipt,
} from '../../audit/receipt.ts';
import { ReceiptLog, type StoredReceipt } from '../receipts/receipt-log.ts';
import { mirrorIds } from '../tables/initialise-mirror.ts';
import type { Audit } from './verify-list.ts';

/** The result of checking the receipts by themselves, before they are compared with the tables. */
export interface VerifiedReceipts {
  readonly count: number;
  /** Receipts that no run wrote and that state what the lists had, each with the last run before it. */
  readonly states: readonly {
    readonly receipt: UpgradeReceipt | RebuildReceipt;
    readonly afterRunId: number;
  }[];
}

/**
 * Checks the receipts by themselves: that places have no gap, that each receipt is canonical and of this mirror, and that each hash
 * is right.
 *
 * @param eachLeaf called with the empty tree, and then after each receipt, in order, with the tree of the hashes so far.
 */
export function verifyReceipts(audit: Audit, eachLeaf: (tree: MerkleTree) => void): VerifiedReceipts {
  const { sqlite, differences } = audit;
  const log = new ReceiptLog(sqlite);
  const ids = mirrorIds(sqlite);
  if (ids.length !== 1) differences.add('_mirror', null, `${ids.length} ids, but a mirror has one`);
  const tree = new MerkleTree();
  const states: { receipt: UpgradeReceipt | RebuildReceipt; afterRunId: number }[] = [];
  let lastRunId: number | null = null;
  eachLeaf(tree);
  for (const stored of log.receipts()) {
    const { hash } = stored;
    const add = (what: string) => differences.add('sync_receipts', stored.leafIndex, what);
    if (stored.leafIndex !== tree.size)
      add(`the receipt before it is missing: ${tree.size} was expected here`);
    if (hash.toString('hex') !== stored.leafHash) add('the receipt and its hash disagree');
    tree.append(hash);
    eachLeaf(tree);
    const receipt = readOrNull(stored, add);
    if (receipt === null) continue;
    // If the mirror has lost its id, that was already reported.
    if (ids.length > 0 && receipt.mirrorId !== ids[0])
      add(`it is of mirror ${receipt.mirrorId}, and this one is ${ids[0]}`);
    const runId: number | null = receipt.kind === 'run' ? receipt.runId : null;
    if (runId !== stored.runId) add(`run_id is ${stored.runId}, but the receipt says ${runId}`);
    if (runId !== null && lastRunId !== null && runId <= lastRunId)
      add(`it comes after that of run ${lastRunId}`);
    if (receipt.kind === 'upgrade' || receipt.kind === 'rebuild')
      states.push({ receipt, afterRunId: lastRunId ?? 0 });
    lastRunId = runId ?? lastRunId;
  }
  return { count: tree.size, states };
}

/** A checkpoint that the receipts must agree with, and its file. */
export interface PinnedCheckpoint extends Checkpoint {
  readonly file: string;
}

/**
 * Compares the present receipts with a checkpoint.
 *
 * @param found how many there are, and the root of as many as the checkpoint counts; null if there are fewer.
 */
export function verifyCheckpoint(
  { sqlite, differences }: Audit,
  { file, origin, size, root }: PinnedCheckpoint,
  found: { readonly count: number; readonly root: Buffer | null },
): void {
  const [mirrorId] = mirrorIds(sqlite);
  const here = mirrorId === undefined ? 'a mirror that has lost its id' : originOf(mirrorId);
  const add = (what: string) => differences.add('sync_receipts', null, `${file}: ${what}`);
  if (origin !== here) add(`the checkpoint is of ${origin}, and this is ${here}`);
  else if (found.root === null) add(`the checkpoint counts ${size} receipts, and there are ${found.count}`);
  else if (!found.root.equals(root)) add(`one of the first ${size} receipts is not what the checkpoint pins`);
}

function readOrNull({ receipt }: StoredReceipt, add: (what: string) => void): Receipt | null {
  try {
    return readReceipt(receipt);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    add(error.message);
    return null;
  }
}

/** The fields in which a stored receipt differs from the recomputed one, as `list: field`, with both values. */
export function differencesBetween(stored: RunReceipt, expected: RunReceipt): string[] {
  const found: string[] = [];
  const compare = (prefix: string, left: object, right: object) => {
    for (const [name, value] of Object.entries(right)) {
      const said: unknown = Reflect.get(left, name);
      if (name === 'lists' || said === value) continue;
      found.push(
        `${prefix}${name} is ${JSON.stringify(said)} in the receipt, but ${JSON.stringify(value)} by the tables`,
      );
    }
  };
  compare('', stored, expected);
  const named = (receipt: RunReceipt) => new Map(receipt.lists.map(list => [list.resource, list]));
  const [ofStored, ofExpected] = [named(stored), named(expected)];
  for (const resource of new Set([...ofStored.keys(), ...ofExpected.keys()])) {
    const [left, right] = [ofStored.get(resource), ofExpected.get(resource)];
    if (left === undefined)
      found.push(`${resource}: the tables say that the run worked on it, the receipt does not`);
    else if (right === undefined)
      found.push(`${resource}: the receipt says that the run worked on it, the tables do not`);
    else compare(`${resource}: `, left, right);
  }
  return found;
}
