import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { leafHash, MerkleTree } from '../../audit/hashes.ts';
import { type Receipt, receiptText } from '../../audit/receipt.ts';
import { MirrorFileError } from '../../errors.ts';
import { allRows, allValues, firstRow, type Sqlite } from '../tables/ask.ts';
import { mirrorIds } from '../tables/views.ts';

/** The receipts of a mirror, in the order in which they were written: the leaves of its Merkle tree. */
export class ReceiptLog {
  readonly #sqlite;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  /** The mirror's own id; in a share, that of the newest receipt. Throws a MirrorFileError if the file has lost it. */
  mirrorId(): string {
    const isMirror = firstRow(this.#sqlite, "SELECT 1 FROM sqlite_schema WHERE name = '_mirror'");
    const newest = "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1";
    const ids = isMirror ? mirrorIds(this.#sqlite) : allValues<string>(this.#sqlite, newest);
    if (ids.length === 1) return ids[0] as string;
    throw new MirrorFileError(
      'The mirror has lost its id, which its receipts name. "docmirror verify" shows what else is wrong.',
    );
  }

  /** Appends a receipt, in the transaction that ends the run or the change that it is about. */
  append(receipt: Receipt): void {
    const text = receiptText(receipt);
    const runId = receipt.kind === 'run' ? receipt.runId : null;
    const insert = `INSERT INTO sync_receipts (leaf_index, run_id, receipt, leaf_hash)
      VALUES ((SELECT coalesce(max(leaf_index) + 1, 0) FROM sync_receipts), ?, ?, ?)`;
    this.#sqlite.prepare(insert).run(runId, text, leafHash(text).toString('hex'));
  }

  *receipts() {
    type Row = { leafIndex: number; runId: number | null; bytes: Buffer; leafHash: string };
    const all = `SELECT leaf_index AS leafIndex, run_id AS runId, cast(receipt AS blob) AS bytes, leaf_hash AS leafHash
      FROM sync_receipts ORDER BY leaf_index`;
    const rows = this.#sqlite.prepare<[], Row>(all);
    // The hash is that of the bytes as they are stored. Bytes that are not UTF-8 would give another text.
    for (const { bytes, ...row } of rows.iterate())
      yield { ...row, receipt: bytes.toString(), hash: leafHash(bytes) };
  }

  /** How many receipts two logs have in common, the newest run among them (0 if there is none), and whether that is all of the other log. */
  sharedWith(other: ReceiptLog) {
    const leaves = 'SELECT run_id AS runId, leaf_hash AS leafHash FROM sync_receipts ORDER BY leaf_index';
    const leavesOf = (log: ReceiptLog) =>
      allRows<{ runId: number | null; leafHash: string }>(log.#sqlite, leaves);
    const [own, others] = [leavesOf(this), leavesOf(other)];
    const parting = own.findIndex(({ leafHash }, at) => leafHash !== others[at]?.leafHash);
    const shared = parting < 0 ? own : own.slice(0, parting);
    const runId = shared.findLast(leaf => leaf.runId !== null)?.runId ?? 0;
    return { size: shared.length, runId, isWhole: shared.length === others.length };
  }

  /** The newest receipt, with the size and the root hash of the log; null if there is none. */
  head() {
    const tree = new MerkleTree();
    let newest = '';
    const all = 'SELECT leaf_hash FROM sync_receipts ORDER BY leaf_index';
    const hashes = this.#sqlite.prepare<[], string>(all);
    for (newest of hashes.pluck().iterate()) tree.append(Buffer.from(newest, 'hex'));
    if (tree.size === 0) return null;
    const rootHash = tree.root().toString('hex');
    return { leafIndex: tree.size - 1, leafHash: newest, treeSize: tree.size, rootHash };
  }

  /** The state of the log to be signed, computed from the receipts themselves. Throws a MirrorFileError if one is missing or altered. */
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
}
