import {
  arrayFields,
  type ListDefinition,
  type Scalar,
  scalarFields,
  timeIndexOf,
} from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { compareTimes } from '../tables/connection-claims.ts';
import type { ReleasedMention } from '../tables/connection-names.ts';
import type { ConnectionTable } from '../tables/connection-table.ts';
import type { ListTable, NewRecord, StoredRow } from '../tables/list-table.ts';
import { History } from './history.ts';
import type { OpenTransaction } from './transaction.ts';

/** The values that a `RowWriter` needs besides the transaction. */
export interface RowWriterOptions {
  readonly table: ListTable;
  readonly connections: ConnectionTable;
  readonly runId: number;
  /** M, the sum of the list's rows before the run. */
  readonly sum: Sum;
}

/** Writes a list's rows and the history of the versions that end. It updates M, the sum over the rows, with every change. */
export class RowWriter {
  readonly history: History;
  readonly counts = { inserted: 0, updated: 0, removed: 0 };
  /** The current M. */
  readonly sum = new Sum();
  readonly #table: ListTable;
  readonly #runId: number;
  readonly #references: References;
  readonly #timeAt: number;
  readonly #released = new Map<number, string | null>();

  constructor({ sqlite }: OpenTransaction, { table, connections, runId, sum }: RowWriterOptions) {
    const { list } = table;
    this.#table = table;
    this.#runId = runId;
    this.history = new History(sqlite, list, connections, runId);
    this.sum.addSum(sum);
    this.#references = new References(list);
    this.#timeAt = timeIndexOf(list);
  }

  /** Inserts a record and returns its row's id. */
  insert(record: NewRecord): number {
    const id = this.#table.insert(record, this.#runId);
    this.sum.add(record.content);
    this.counts.inserted++;
    return id;
  }

  /** Inserts records into a list without ids and returns their rows' ids, in the same order. */
  insertAll(records: readonly NewRecord[]): number[] {
    for (const { content } of records) this.sum.add(content);
    this.counts.inserted += records.length;
    return this.#table.insertAll(records, this.#runId);
  }

  update(id: number, record: NewRecord): void {
    const row = this.#table.read(id);
    this.history.endRecord(row, 'update');
    this.#release(row);
    this.sum.add(record.content);
    const isBack = row.changedRunId === this.#runId && this.history.takeBack(row.id, record.content);
    this.#table.update(id, record, isBack ? isBack.validFromRunId : this.#runId);
    if (isBack) this.counts.updated--;
    else if (row.changedRunId !== this.#runId) this.counts.updated++;
  }

  remove(id: number): void {
    const row = this.#table.read(id);
    this.history.endRecord(row, 'removal');
    this.#release(row);
    this.#table.remove(id);
    // A row that existed only within this run does not count.
    if (row.firstSeenRunId === this.#runId) this.counts.inserted--;
    else {
      this.counts.removed++;
      if (row.changedRunId === this.#runId) this.counts.updated--;
    }
  }

  /** The connections that removed or updated rows referred to, each with the newest time of these rows. */
  *releasedMentions(): Generator<ReleasedMention> {
    for (const [id, time] of this.#released) yield { id, time };
  }

  /** Subtracts a row's old version from the sum, and notes the connections that it referred to. */
  #release(row: StoredRow): void {
    this.sum.subtractHex(row.content);
    const time = this.#timeAt < 0 ? null : (row.record.scalars[this.#timeAt] as string | null);
    for (const id of this.#references.of(row)) {
      const known = this.#released.get(id);
      if (known === undefined || compareTimes(time, known) > 0) this.#released.set(id, time);
    }
  }
}

/** Finds the connections that a row refers to. */
class References {
  readonly #scalarsAt: readonly number[];
  readonly #arraysAt: readonly number[];

  constructor(list: ListDefinition) {
    const places = <T>(fields: readonly T[], isWanted: (field: T) => boolean) =>
      fields.flatMap((field, at) => (isWanted(field) ? [at] : []));
    this.#scalarsAt = places(scalarFields(list), ({ kind }) => kind === 'connection');
    this.#arraysAt = places(arrayFields(list), ({ kind }) => kind === 'connections');
  }

  of({ record }: StoredRow): number[] {
    const values: (Scalar | undefined)[] = [
      ...this.#scalarsAt.map(at => record.scalars[at]),
      ...this.#arraysAt.flatMap(at => record.arrays[at] ?? []),
    ];
    return values.filter(value => typeof value === 'number');
  }
}
