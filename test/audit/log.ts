import { MerkleTree } from '../../src/audit/hashes.ts';

/**
 * The root over the first `size` leaves, by their hashes in order; null if there are fewer. It reads no further than it
 * must. A log that has grown agrees with an older root if this gives that root again.
 */
export function rootOfFirst(size: number, leafHashes: Iterable<Uint8Array>): Buffer | null {
  const tree = new MerkleTree();
  if (size === 0) return tree.root();
  for (const hashOfLeaf of leafHashes) {
    tree.append(hashOfLeaf);
    if (tree.size === size) return tree.root();
  }
  return null;
}
