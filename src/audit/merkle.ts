import { createHash, hash } from 'node:crypto';

/** Bytes of a leaf's, a node's and the root's hash. */
export const merkleHashBytes = 32;

const leafPrefix = Buffer.from([0]);
const nodePrefix = Buffer.from([1]);

/** The hash of a leaf (RFC 6962): the SHA-256 over a zero byte and the leaf's bytes; a text stands for its UTF-8. */
export function leafHash(leaf: string | Uint8Array): Buffer {
  return createHash('sha256').update(leafPrefix).update(leaf).digest();
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([nodePrefix, left, right]), 'buffer');
}

/**
 * A Merkle tree of RFC 6962 to which leaves are appended. Of all its hashes it keeps only the roots of the perfect trees that
 * it falls into, largest first: one for each 1 among the binary digits of its size. So a leaf costs at most log2(size) hashes
 * and one on average, and the root at any size on the way can be had by asking when `size` is there.
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
    // Each trailing 1 of the old size is a perfect tree as large as the one that is being made: together they are the next.
    for (let digits = this.#size; digits % 2 === 1; digits = Math.floor(digits / 2)) {
      root = nodeHash(this.#perfect.pop() as Buffer, root);
    }
    this.#perfect.push(root);
    this.#size++;
  }

  /** The root as the tree stands; of no leaf it is the SHA-256 of nothing. */
  root(): Buffer {
    const last = this.#perfect.at(-1);
    if (last === undefined) return hash('sha256', '', 'buffer');
    return this.#perfect.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), Buffer.from(last));
  }
}
