import { createHash, hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** A value of a column, as SQLite returns it. */
export type ColumnValue = string | number | null | Uint8Array;

/** A row as canonical JSON (RFC 8785) by its columns, without nulls; a BLOB in lower-case hexadecimal digits. Source: docs/audit.md. */
export function canonicalRow(row: Readonly<Record<string, ColumnValue>>): string {
  const members = Object.entries(row)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value]);
  return canonicalize(Object.fromEntries(members)) as string;
}

const textPerUpdate = 64 * 1024;

/** A SHA-256 over lines, each of which ends with a line feed. No line is kept, so their number is not limited. */
export class LinesHash {
  count = 0;
  readonly #hash = createHash('sha256');
  #text = '';

  /** Adds a line, or so many lines in one text. */
  add(lines: string, count = 1): void {
    this.count += count;
    this.#text += lines;
    if (this.#text.length < textPerUpdate) return;
    this.#hash.update(this.#text);
    this.#text = '';
  }

  /** The hash in 64 hexadecimal digits, once. Without lines it is the SHA-256 of nothing. */
  digest(): string {
    return this.#hash.update(this.#text).digest('hex');
  }
}

const leafPrefix = Buffer.from([0]);
const nodePrefix = Buffer.from([1]);

/** The hash of a leaf (RFC 6962): the SHA-256 over a zero byte and the leaf's bytes. A text is taken as UTF-8. */
export function leafHash(leaf: string | Uint8Array): Buffer {
  return createHash('sha256').update(leafPrefix).update(leaf).digest();
}

function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([nodePrefix, left, right]), 'buffer');
}

/** A Merkle tree of RFC 6962. It keeps only the roots of its perfect subtrees, the largest first: one for each 1 of its size in binary. */
export class MerkleTree {
  size = 0;
  readonly #perfect: Buffer[] = [];

  append(hashOfLeaf: Uint8Array): void {
    let root: Buffer = Buffer.from(hashOfLeaf);
    // Each trailing 1 of the old size is a perfect tree as large as the new one. Both together make the next one.
    for (let digits = this.size; digits % 2 === 1; digits = Math.floor(digits / 2))
      root = nodeHash(this.#perfect.pop() as Buffer, root);
    this.#perfect.push(root);
    this.size++;
  }

  /** The root of the leaves so far; there is none of a smaller size any more. Without leaves it is the SHA-256 of nothing. */
  root(): Buffer {
    const last = this.#perfect.at(-1);
    if (last === undefined) return hash('sha256', '', 'buffer');
    return this.#perfect.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
  }
}
