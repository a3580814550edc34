import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import type { Audit } from './verify-list.ts';

/**
 * Holds the receipts as they stand against what a checkpoint pins.
 *
 * @param found how many there are, and the root of as many as the checkpoint counts; null where they are fewer.
 */
export function verifyCheckpoint(
  { sqlite, differences }: Audit,
  { origin, size, root }: Checkpoint,
  found: { readonly count: number; readonly root: Buffer | null },
): void {
  const mirrorId = sqlite.prepare<[], string>('SELECT mirror_id FROM _mirror').pluck().get();
  const here = mirrorId === undefined ? 'a mirror that has lost its id' : originOf(mirrorId);
  const add = (what: string) => differences.add('sync_receipts', null, what);
  if (origin !== here) add(`the checkpoint is of ${origin}, and this is ${here}`);
  else if (found.root === null) add(`the checkpoint counts ${size} receipts, and there are ${found.count}`);
  else if (!found.root.equals(root)) add(`one of the first ${size} receipts is not what the checkpoint pins`);
}
