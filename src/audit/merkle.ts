import { createHash, hash } from 'node:crypto';

/** Bytes of the hash of a leaf, a node or the root. */
export const merkleHashBytes = 32;

const leafPrefix = Buffer.from([0]);
const nodePrefix = Buffer.from([1]);

/** The hash of a leaf (RFC 6962): the SHA-256 over a zero byte and the leaf's bytes. A text is taken as UTF-8. */
export function leafHash(leaf: string | Uint8Array): Buffer {
  return createHash('sha256').update(leafPrefix).update(leaf).digest();
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([nodePrefix, left, right]), 'buffer');
}

/**
 * A Merkle tree of RFC 6962 to which leaves are appended. It keeps only the roots of its perfect subtrees, the largest first: one
 * for each 1 in its size as a binary number. So a leaf costs at most log2(size) hashes, and one on average. For the root at a
 * smaller size, ask when the tree has that size.
 */
export class MerkleTree {
  readonly #perfect: Buffer[] = [];
  #size = 0;

  /** How many leaves there are. */
  get size(): number {
    return this.#size;
  }

  /** Appends a leaf by its hash. */
  append(hashOfLeaf: Uint8Array): void {
    if (hashOfLeaf.length !== merkleHashBytes) {
      throw new RangeError(`A leaf's hash has ${merkleHashBytes} bytes, not ${hashOfLeaf.length}.`);
    }
    let root: Buffer = Buffer.from(hashOfLeaf);
    // Each trailing 1 of the old size is a perfect tree as large as the new one. Both together make the next one.
    for (let digits = this.#size; digits % 2 === 1; digits = Math.floor(digits / 2)) {
      root = nodeHash(this.#perfect.pop() as Buffer, root);
    }
    this.#perfect.push(root);
    this.#size++;
  }

  /** The root of the leaves so far. Without leaves it is the SHA-256 of nothing. */
  root(): Buffer {
    const last = this.#perfect.at(-1);
    if (last === undefined) return hash('sha256', '', 'buffer');
    return this.#perfect.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), Buffer.from(last));
  }
}
