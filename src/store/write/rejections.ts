import type Database from 'better-sqlite3';
import { and, desc, eq, lt } from 'drizzle-orm';
import type { Rejection } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';
import { rejectedRecords } from '../tables/schema.ts';
import { prepare, prepareInsert, select, words } from '../tables/statement.ts';
import type { OpenTransaction } from './transaction.ts';

/**
 * Keeps the records of a list that can't be read. If an earlier run rejected the same text, it is not stored again: only its
 * `last_run_id` changes.
 */
export class Rejections {
  readonly #sqlite: Database.Database;
  readonly #resource: string;
  readonly #runId: number;
  readonly #moveOn: Database.Statement<[runId: number, id: number]>;
  readonly #insert: ReturnType<typeof prepareRejection>;
  /** The rows of earlier runs that were not met again, by the contents of their texts; null until the first record comes. */
  #before: Map<string, number[]> | null = null;
  #count = 0;

  constructor({ sqlite }: OpenTransaction, resource: string, runId: number) {
    this.#sqlite = sqlite;
    this.#resource = resource;
    this.#runId = runId;
    this.#moveOn = prepare(sqlite, (lastRunId, id) =>
      words.update(rejectedRecords).set({ lastRunId }).where(eq(rejectedRecords.id, id)),
    );
    this.#insert = prepareRejection(sqlite);
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
    const { id: row, content: bytes, resource, lastRunId } = rejectedRecords;
    const rows = prepare(this.#sqlite, (of: string, runId: number) =>
      select({ id: row, content: bytes })
        .from(rejectedRecords)
        .where(and(eq(resource, of), lt(lastRunId, runId)))
        .orderBy(desc(row)),
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

function prepareRejection(sqlite: Database.Database) {
  return prepareInsert(
    sqlite,
    rejectedRecords,
    'runId',
    'lastRunId',
    'resource',
    'pageNo',
    'position',
    'reason',
    'record',
    'content',
  );
}
