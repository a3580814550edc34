import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { MerkleTree } from '../../audit/hashes.ts';
import { receiptOrNull } from '../../audit/receipt.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import type { Audit } from './differences.ts';

/** A checkpoint that the receipts must agree with, and its file. */
export interface PinnedCheckpoint extends Checkpoint {
  readonly file: string;
}

/**
 * Checks the receipts by themselves: that places have no gap, that each receipt is canonical and of this mirror, that each hash is
 * right, and that the root is that of each checkpoint at its size. Returns how many there are.
 */
export function verifyLog(audit: Audit, checkpoints: readonly PinnedCheckpoint[]): number {
  const { sqlite, differences, mirrorIds } = audit;
  if (mirrorIds.length !== 1)
    differences.add('_mirror', null, `${mirrorIds.length} ids, but a mirror has one`);
  const sizes = new Set(checkpoints.map(({ size }) => size));
  const tree = new MerkleTree();
  const roots = new Map([[0, tree.root()]]);
  const seen = new Set<string>();
  let lastRunId = 0;
  for (const { leafIndex, runId, receipt: text, hash, leafHash } of new ReceiptLog(sqlite).receipts()) {
    const add = (what: string) => differences.add('sync_receipts', leafIndex, what);
    if (leafIndex !== tree.size) add(`the receipt before it is missing: ${tree.size} was expected here`);
    if (hash.toString('hex') !== leafHash) add('the receipt and its hash disagree');
    if (seen.has(leafHash)) add('an earlier receipt is the same');
    seen.add(leafHash);
    tree.append(hash);
    if (sizes.has(tree.size)) roots.set(tree.size, tree.root());
    const receipt = receiptOrNull(text);
    if (receipt === null) {
      add(
        'it is no receipt of kind run, upgrade, prune, rebuild or erase, in canonical JSON with the fields of its kind',
      );
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
    const [mirrorId] = mirrorIds;
    const here = mirrorId === undefined ? 'a mirror that has lost its id' : originOf(mirrorId);
    const add = (what: string) => differences.add('sync_receipts', null, `${file}: ${what}`);
    if (origin !== here) add(`the checkpoint is of ${origin}, and this is ${here}`);
    else if (size > tree.size) add(`the checkpoint counts ${size} receipts, and there are ${tree.size}`);
    else if (!roots.get(size)?.equals(root))
      add(`one of the first ${size} receipts is not what the checkpoint pins`);
  }
  return tree.size;
}
