import type Database from 'better-sqlite3';
import { originOf, type ReadCheckpoint } from '../../audit/checkpoint.ts';
import type { MerkleTree } from '../../audit/merkle.ts';
import type { Differences } from './differences.ts';

/** Holds the receipts as they stand against what a checkpoint pins. */
export class CheckpointCheck {
  readonly #read: ReadCheckpoint | null;
  readonly #differences: Differences;
  #root: Buffer | null = null;
  #size = 0;

  /** @param read null where there is none to hold them against. */
  constructor(read: ReadCheckpoint | null, differences: Differences) {
    this.#read = read;
    this.#differences = differences;
  }

  /** Told of the tree each time it has one leaf more, from no leaf on. */
  add(tree: MerkleTree): void {
    this.#size = tree.size;
    if (tree.size === this.#read?.checkpoint.size) this.#root = tree.root();
  }

  finish(sqlite: Database.Database): void {
    if (this.#read === null) return;
    const { origin, size, root } = this.#read.checkpoint;
    const mirrorId = sqlite.prepare<[], string>('SELECT mirror_id FROM _mirror').pluck().get() ?? '';
    const add = (what: string) => this.#differences.add('sync_receipts', null, what);
    if (origin !== originOf(mirrorId))
      add(`the checkpoint is of ${origin}, and this is ${originOf(mirrorId)}`);
    else if (this.#root === null) add(`the checkpoint counts ${size} receipts, and there are ${this.#size}`);
    else if (!this.#root.equals(root))
      add(`one of the first ${size} receipts is not what the checkpoint pins`);
  }
}
