import type { Rejection } from '../../contract/record.ts';
import { Fingerprints } from '../tables/fingerprints.ts';
import type { OpenTransaction } from './transaction.ts';

/**
 * Keeps the records of a list that can't be read. One that was rejected with the same text by the run before is not stored
 * again: its `last_run_id` moves on.
 */
export class Rejections {
  readonly #transaction: OpenTransaction;
  readonly #resource: string;
  readonly #runId: number;
  /** The rows of the run before that were not met again, by their text. */
  readonly #before: Map<string, number[]>;
  readonly #fingerprints: Fingerprints;
  #count = 0;

  /** @param runBefore the last run that wrote the list; null where there was none. */
  constructor(transaction: OpenTransaction, resource: string, runId: number, runBefore: number | null) {
    this.#transaction = transaction;
    this.#resource = resource;
    this.#runId = runId;
    this.#fingerprints = new Fingerprints(transaction.sqlite, 'rejected_records');
    const rows = transaction.sqlite
      .prepare<[string, number | null], { id: number; record: string }>(
        'SELECT id, record FROM rejected_records WHERE resource = ? AND last_run_id = ? ORDER BY id DESC',
      )
      .all(resource, runBefore);
    this.#before = new Map();
    for (const { id, record } of rows) this.#before.set(record, [...(this.#before.get(record) ?? []), id]);
  }

  get count(): number {
    return this.#count;
  }

  add(pageNo: number, { position, reason, record }: Rejection): void {
    this.#count++;
    const { sqlite } = this.#transaction;
    const known = this.#before.get(record)?.pop();
    if (known !== undefined) {
      sqlite.prepare('UPDATE rejected_records SET last_run_id = ? WHERE id = ?').run(this.#runId, known);
      this.#fingerprints.set(known);
      return;
    }
    const { lastInsertRowid } = sqlite
      .prepare(
        `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(this.#runId, this.#runId, this.#resource, pageNo, position, reason, record);
    this.#fingerprints.set(Number(lastInsertRowid));
  }

  /** Writes the sum of their fingerprints; to be called when all were added. */
  finish(): void {
    this.#fingerprints.save();
  }
}
