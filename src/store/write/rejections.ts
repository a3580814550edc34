import type Database from 'better-sqlite3';
import type { Rejection } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';
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
  /** The rows of earlier runs that were not met again, by the contents of their texts; read when the first record comes. */
  #before: Map<string, number[]> | null = null;
  #count = 0;

  constructor({ sqlite }: OpenTransaction, resource: string, runId: number) {
    this.#sqlite = sqlite;
    this.#resource = resource;
    this.#runId = runId;
    this.#moveOn = sqlite.prepare('UPDATE rejected_records SET last_run_id = ? WHERE id = ?');
    this.#insert = sqlite.prepare(
      `INSERT INTO rejected_records (run_id, last_run_id, resource, page_no, position, reason, record, content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  get count(): number {
    return this.#count;
  }

  add(pageNo: number, { position, reason, record }: Rejection): void {
    this.#count++;
    this.#before ??= this.#readBefore();
    const content = hash16(record);
    const known = this.#before.get(content.toString('latin1'))?.pop();
    if (known !== undefined) this.#moveOn.run(this.#runId, known);
    else
      this.#insert.run(this.#runId, this.#runId, this.#resource, pageNo, position, reason, record, content);
  }

  #readBefore(): Map<string, number[]> {
    const before = new Map<string, number[]>();
    const rows = this.#sqlite.prepare<[string, number], { id: number; content: Buffer }>(
      'SELECT id, content FROM rejected_records WHERE resource = ? AND last_run_id < ? ORDER BY id DESC',
    );
    for (const { id, content } of rows.iterate(this.#resource, this.#runId)) {
      const name = content.toString('latin1');
      const ids = before.get(name);
      if (ids === undefined) before.set(name, [id]);
      else ids.push(id);
    }
    return before;
  }
}
