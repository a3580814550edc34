import { createHmac } from 'node:crypto';
import { type Checkpoint, originOf } from '../../audit/checkpoint.ts';
import { leafHash, MerkleTree } from '../../audit/hashes.ts';
import { type Receipt, receiptText } from '../../audit/receipt.ts';
import { MirrorFileError } from '../../errors.ts';
import { allValues, firstRow, firstValue, type Sqlite } from '../tables/ask.ts';
import { mirrorIds } from '../tables/views.ts';

/** The receipts of a mirror, in the order in which they were written: the leaves of its Merkle tree. */
export class ReceiptLog {
  readonly #sqlite;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  /** The mirror's own id; in a share, that of the newest receipt. Throws a MirrorFileError if the file has lost it. */
  mirrorId(): string {
    const newest = "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1";
    const ids = isMirror(this.#sqlite) ? mirrorIds(this.#sqlite) : allValues<string>(this.#sqlite, newest);
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

  /** How many receipts the log of a mirror has in common with a share's, the newest run among them (0 if there is none), whether that is all of the share's, and the place of its newest upgrade. */
  sharedWith(share: ReceiptLog) {
    const hashes = new ReceiptHashes(this.#sqlite);
    const [own, others] = [leafHashes(this.#sqlite), leafHashes(share.#sqlite)];
    const isSame = (at: number) => hashes.isOf(own.at(at), others.at(at));
    let [size, parted] = [0, Math.min(own.size, others.size) + 1];
    // Logs that have parted have no later receipt in common, because each names its time.
    while (parted - size > 1) {
      const middle = Math.floor((size + parted) / 2);
      if (isSame(middle - 1)) size = middle;
      else parted = middle;
    }
    const newest = 'SELECT max(run_id) FROM sync_receipts WHERE leaf_index < ?';
    const runId = firstValue<number>(this.#sqlite, newest, size) ?? 0;
    const upgrade = `SELECT max(leaf_index) FROM sync_receipts WHERE run_id IS NULL AND instr(receipt, '"kind":"upgrade"') > 0`;
    const upgradedAt = firstValue<number>(this.#sqlite, upgrade);
    return { size, runId, upgradedAt, isWhole: size === others.size };
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

/** The stored hashes of receipts by their place, and how many there are. */
function leafHashes(sqlite: Sqlite) {
  const size = firstValue<number>(sqlite, 'SELECT max(leaf_index) + 1 FROM sync_receipts') ?? 0;
  const stored = sqlite.prepare<[number], string>('SELECT leaf_hash FROM sync_receipts WHERE leaf_index = ?');
  return { size, at: (index: number) => stored.pluck().get(index) ?? null };
}

const isMirror = (sqlite: Sqlite) =>
  firstRow(sqlite, "SELECT 1 FROM sqlite_schema WHERE name = '_mirror'") !== undefined;

/**
 * The hashes by which shares and cursors know receipts. They are made with a key that only the mirror has: with the stored hashes, a reader
 * could check a guess of what a share lacks. In a share the stored ones are these.
 */
export class ReceiptHashes {
  /** Null in a share, and in a mirror of before 0.6. */
  readonly #key: Buffer | null;
  readonly #isTrusting: boolean;
  readonly #ofRun;

  /** @param cursor whose hashes are compared. A share can't compare those without the key, and takes them for right. */
  constructor(sqlite: Sqlite, cursor: { readonly isKeyed?: boolean } = { isKeyed: true }) {
    type Row = { readonly share_key?: Buffer | null };
    const row = isMirror(sqlite) ? firstRow<Row>(sqlite, 'SELECT * FROM _mirror') : undefined;
    this.#key = row?.share_key ?? null;
    this.#isTrusting = this.#key === null && cursor.isKeyed !== true;
    const ofRun = 'SELECT leaf_hash FROM sync_receipts WHERE run_id = ?';
    this.#ofRun = sqlite.prepare<[number], string>(ofRun).pluck();
  }

  /** False if the mirror has lost its key, or is older than it. */
  get isKeyed(): boolean {
    return this.#key !== null;
  }

  /** The hash, 64 hexadecimal digits, of a stored one, or of another text that a share must not show. */
  of(text: string): string {
    return this.#key === null ? text : createHmac('sha256', this.#key).update(text).digest('hex');
  }

  /** The stored hash of the receipt of a run; null if it has none. */
  stored(runId: number): string | null {
    return this.#ofRun.get(runId) ?? null;
  }

  /** The same with the key. */
  ofRun(runId: number): string | null {
    const stored = this.stored(runId);
    return stored === null ? null : this.of(stored);
  }

  /** Whether a hash, or the beginning of one, is that of a stored one; those of before 0.6 are without the key. */
  isOf(stored: string | null, hash: string | null): boolean {
    if (stored === null || hash === null) return stored === hash;
    return this.#isTrusting || stored.startsWith(hash) || this.of(stored).startsWith(hash);
  }
}
