import type Database from 'better-sqlite3';
import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { leafHash, MerkleTree, merkleHashBytes } from '../../audit/merkle.ts';
import { type Receipt, receiptText } from '../../audit/receipt.ts';
import { MirrorFileError } from '../../errors.ts';
import type { ReceiptHead } from '../../sync/ports.ts';
import { firstValue, firstValues } from '../tables/query.ts';

/** A receipt as it is stored. */
export interface StoredReceipt {
  readonly leafIndex: number;
  readonly runId: number | null;
  readonly receipt: string;
  /** The receipt's own, over its bytes as they stand: one that is no UTF-8 reads as another. */
  readonly hash: Buffer;
  /** In hexadecimal digits, as it is stored beside it. */
  readonly leafHash: string;
}

const mirrorIdOfReceipts =
  "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1";

/** The receipts of a mirror, in the order in which they were written: the leaves of its Merkle tree. */
export class ReceiptLog {
  readonly #sqlite: Database.Database;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
  }

  /**
   * The mirror's own id; in a share, which has no table for it, the one that its newest receipt names.
   *
   * @throws MirrorFileError where the file has lost it.
   */
  mirrorId(): string {
    const isMirror = firstValue(this.#sqlite, "SELECT 1 FROM sqlite_schema WHERE name = '_mirror'");
    const ids = firstValues<string>(
      this.#sqlite,
      isMirror === undefined ? mirrorIdOfReceipts : 'SELECT mirror_id FROM _mirror LIMIT 2',
    );
    if (ids.length === 1) return ids[0] as string;
    throw new MirrorFileError(
      'The mirror has lost its id, which its receipts name. "docmirror verify" shows what else is wrong.',
    );
  }

  /**
   * Makes sure that a receipt can be added: a run that can't be given one would stand as if it had never ended.
   *
   * @throws MirrorFileError where the file has lost its id, or the log holds what is no hash.
   */
  assertReady(): void {
    this.mirrorId();
    this.head();
  }

  /** Appends a receipt, in the transaction that ends what it speaks of. */
  append(receipt: Receipt): void {
    const text = receiptText(receipt);
    const hash = leafHash(text);
    const runId = receipt.kind === 'run' ? receipt.runId : null;
    this.#sqlite
      .prepare(
        `INSERT INTO sync_receipts (leaf_index, run_id, receipt, leaf_hash)
         VALUES ((SELECT coalesce(max(leaf_index) + 1, 0) FROM sync_receipts), ?, ?, ?)`,
      )
      .run(runId, text, hash.toString('hex'));
  }

  /** Every receipt in order; never all in memory. */
  *receipts(): Generator<StoredReceipt> {
    const rows = this.#sqlite.prepare<[], Omit<StoredReceipt, 'receipt' | 'hash'> & { bytes: Buffer }>(
      `SELECT leaf_index AS leafIndex, run_id AS runId, CAST(receipt AS BLOB) AS bytes, leaf_hash AS leafHash
       FROM sync_receipts ORDER BY leaf_index`,
    );
    for (const { bytes, ...row } of rows.iterate())
      yield { ...row, receipt: bytes.toString(), hash: leafHash(bytes) };
  }

  /**
   * The newest receipt with what the log comes to; null where there is none.
   *
   * @throws MirrorFileError where a leaf's hash is none.
   */
  head(): ReceiptHead | null {
    const tree = this.#tree();
    if (tree.size === 0) return null;
    const leafIndex = tree.size - 1;
    const hashAt = 'SELECT leaf_hash FROM sync_receipts WHERE leaf_index = ?';
    const newest = firstValue<string>(this.#sqlite, hashAt, leafIndex);
    const rootHash = tree.root().toString('hex');
    return { leafIndex, leafHash: newest ?? '', treeSize: tree.size, rootHash };
  }

  /**
   * What the log holds now, as it can be signed: by the receipts themselves, for who signs vouches for them.
   *
   * @throws MirrorFileError where a receipt is missing, or is not what its hash says, or the file has lost its id.
   */
  checkpoint(): Checkpoint {
    const tree = new MerkleTree();
    for (const { leafIndex, hash, leafHash: stored } of this.receipts()) {
      if (leafIndex !== tree.size || hash.toString('hex') !== stored)
        throw new MirrorFileError(
          `sync_receipts is not the log that docmirror wrote, from receipt ${tree.size} on, so there is nothing to sign. "docmirror verify" shows what was changed. Restore the mirror from a backup.`,
        );
      tree.append(hash);
    }
    return { origin: originOf(this.mirrorId()), size: tree.size, root: tree.root() };
  }

  #tree(): MerkleTree {
    const tree = new MerkleTree();
    const hashes = this.#sqlite
      .prepare<[], string>('SELECT leaf_hash FROM sync_receipts ORDER BY leaf_index')
      .pluck();
    for (const text of hashes.iterate()) {
      const hash = Buffer.from(text, 'hex');
      if (hash.length !== merkleHashBytes)
        throw new MirrorFileError(
          'sync_receipts contains a hash that docmirror did not write, so nothing can be added to the log. "docmirror verify" names it. Restore the mirror from a backup.',
        );
      tree.append(hash);
    }
    return tree;
  }
}
