import type Database from 'better-sqlite3';
import type { Rejection } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';
import { Fingerprints } from '../tables/fingerprints.ts';
import { RowsByText } from './list-comparison.ts';
import type { OpenTransaction } from './transaction.ts';

/**
 * Keeps the records of a list that can't be read. One that an earlier run rejected with the same text is not stored again: its
 * `last_run_id` moves on.
 */
export class Rejections {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly #runId: number;
  readonly #moveOn: Database.Statement<[number, number]>;
  readonly #insert: Database.Statement;
  /** The rows of earlier runs that were not met again, by the hashes of their texts; read when the first record comes. */
  #before: RowsByText | null = null;
  readonly #fingerprints: Fingerprints;
  #count = 0;

  constructor({ sqlite }: OpenTransaction, resource: string, runId: number) {
    this.#sqlite = sqlite;
    this.#resource = resource;
    this.#runId = runId;
    this.#moveOn = sqlite.prepare('UPDATE rejected_records SET last_run_id = ? WHERE id = ?');
    this.#insert = sqlite.prepare(
      `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#fingerprints = new Fingerprints(sqlite, 'rejected_records');
  }

  get count(): number {
    return this.#count;
  }

  add(pageNo: number, { position, reason, record }: Rejection): void {
    this.#count++;
    this.#before ??= this.#readBefore();
    const known = this.#before.take(hashOf(record), () => true);
    if (known !== undefined) {
      this.#moveOn.run(this.#runId, known);
      this.#fingerprints.set(known);
      return;
    }
    const { lastInsertRowid } = this.#insert.run(
      this.#runId,
      this.#runId,
      this.#resource,
      pageNo,
      position,
      reason,
      record,
    );
    this.#fingerprints.set(Number(lastInsertRowid));
  }

  #readBefore(): RowsByText {
    const before = new RowsByText();
    const rows = this.#sqlite.prepare<[string, number], { id: number; record: string }>(
      'SELECT id, record FROM rejected_records WHERE resource = ? AND last_run_id < ? ORDER BY id DESC',
    );
    for (const { id, record } of rows.iterate(this.#resource, this.#runId)) {
      // Moved on, what another program made of it would pass for docmirror's own.
      if (!this.#fingerprints.holds(id)) continue;
      before.add(hashOf(record), id);
    }
    return before;
  }

  /** Writes the sum of their fingerprints; to be called when all were added. */
  finish(): void {
    this.#fingerprints.save();
  }
}

function hashOf(text: string): string {
  return hash16(text).toString('latin1');
}
