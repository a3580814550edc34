import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import {
  type ArrayField,
  arrayFields,
  type ListDefinition,
  type Scalar,
  scalarFields,
  timeColumnOf,
  timeIndexOf,
} from '../../contract/lists.ts';
import { keyOfTime } from '../../contract/record-key.ts';
import { MirrorFileError } from '../../errors.ts';

/** A record's row and the runs that wrote it. */
export interface StoredRow {
  readonly id: number;
  readonly record: RecordValues;
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
  /** As in the row, in hexadecimal digits: a buffer for each row would take as long as all its other columns. */
  readonly content: string;
}

/** A row's key: its id, or its time in milliseconds; NaN if it has none. */
export interface RowKey {
  readonly id: number;
  readonly key: number;
}

/** A record that was read. */
export interface NewRecord extends RecordValues {
  readonly content: Buffer;
}

type RawRow = [
  id: number,
  firstSeenRunId: number,
  changedRunId: number,
  content: string,
  extra: string | null,
  ...scalars: Scalar[],
];

/** Look-ups per statement: more are no faster, and one by one they take nearly twice as long. */
const looksPerFind = 8;
const rowsPerSpan = 256;

/** One list's tables, read by prepared statements that are made from its definition. A run writes them by its plan, in sets. */
export class ListTable {
  readonly list: ListDefinition;
  readonly #sqlite: Database.Database;
  /** The column that leads the index for finding a content: the time, or the id. */
  readonly #lead: string;
  readonly #timeAt: number;
  readonly #rows: string;
  readonly #find: Database.Statement<[Scalar, Buffer], number>;
  readonly #findMany: Database.Statement<[(Scalar | Buffer)[]], (number | null)[]>;
  readonly #others: Database.Statement<[Scalar, Buffer, number, number], number>;
  readonly #read: Database.Statement<[number], RawRow>;
  readonly #children: readonly ArrayField[];
  readonly #items: readonly Database.Statement<[number], Scalar>[];

  constructor(sqlite: Database.Database, list: ListDefinition) {
    const { table, ownerColumn } = list;
    this.list = list;
    this.#sqlite = sqlite;
    this.#lead = timeColumnOf(list) ?? 'id';
    this.#timeAt = timeIndexOf(list);
    const columns = scalarFields(list).map(({ column }) => column);
    const all = ['id', '_first_seen_run_id', '_changed_run_id', 'lower(hex(_content))', '_extra', ...columns];
    this.#rows = `SELECT ${all.join(', ')} FROM ${table}`;
    const find = `SELECT id FROM ${table} WHERE ${this.#lead} IS ? AND _content = ?`;
    const looks = `SELECT ${new Array(looksPerFind).fill(`(${find})`).join(', ')}`;
    this.#find = sqlite.prepare<[Scalar, Buffer], number>(find).pluck();
    this.#findMany = sqlite.prepare<[(Scalar | Buffer)[]], (number | null)[]>(looks).raw();
    // Identical rows are in the order of the index already. To sort them for each page would take hours for many.
    this.#others = sqlite
      .prepare<[Scalar, Buffer, number, number], number>(`${find} AND id <> ? LIMIT ?`)
      .pluck();
    this.#read = sqlite.prepare<[number], RawRow>(`${this.#rows} WHERE id = ?`).raw();
    this.#children = arrayFields(list);
    this.#items = this.#children.map(child =>
      sqlite
        .prepare<[number], Scalar>(
          `SELECT ${child.column} FROM ${child.table} WHERE ${ownerColumn} = ? ORDER BY position`,
        )
        .pluck(),
    );
  }

  count(): number {
    return this.#values<number>(`SELECT count(*) FROM ${this.list.table}`)[0] as number;
  }

  has(id: number): boolean {
    return this.#read.get(id) !== undefined;
  }

  /** For each record the first row with its content; undefined if there is none. */
  findAll(records: readonly NewRecord[]): (number | undefined)[] {
    const found: (number | undefined)[] = [];
    let at = 0;
    for (; at + looksPerFind <= records.length; at += looksPerFind) {
      const values: (Scalar | Buffer)[] = [];
      for (let look = at; look < at + looksPerFind; look++) {
        const record = records[look] as NewRecord;
        values.push(this.#leadOf(record), record.content);
      }
      for (const id of this.#findMany.get(values) ?? []) found.push(id ?? undefined);
    }
    for (; at < records.length; at++) {
      const record = records[at] as NewRecord;
      found.push(this.#find.get(this.#leadOf(record), record.content));
    }
    return found;
  }

  /** Other rows with the content of a record, always in one order. */
  othersOf(record: NewRecord, row: number, limit: number): number[] {
    return this.#others.all(this.#leadOf(record), record.content, row, limit);
  }

  read(id: number): StoredRow {
    const row = this.#read.get(id);
    if (row === undefined)
      throw new MirrorFileError(
        `The mirror is damaged: ${this.list.table} has no row ${id}, though an index names it. Restore it from a backup.`,
      );
    return this.#toStoredRow(row);
  }

  /** Every row in the order of its id. */
  *rows(): Generator<StoredRow> {
    const rows = this.#sqlite
      .prepare<RowSpan, RawRow>(`${this.#rows} WHERE id BETWEEN ? AND ? ORDER BY id`)
      .raw();
    for (const span of rowSpans(this.#sqlite, this.list.table, rowsPerSpan))
      for (const row of rows.all(...span)) yield this.#toStoredRow(row);
  }

  /** Some rows in the order of their ids. */
  rowsAt(offset: number, limit: number): StoredRow[] {
    const rows = this.#sqlite.prepare<[number, number], RawRow>(`${this.#rows} ORDER BY id LIMIT ? OFFSET ?`);
    return rows
      .raw()
      .all(limit, offset)
      .map(row => this.#toStoredRow(row));
  }

  /** The keys of the rows from one id to another, in the order of their ids; of all rows if both are left out. */
  *keys(from?: number, to?: number): Generator<RowKey> {
    const keys = this.#sqlite
      .prepare<[number | bigint, number | bigint], [id: number, lead: number | null]>(
        `SELECT id, ${this.#lead} FROM ${this.list.table} WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .raw();
    const isPart = from !== undefined && to !== undefined;
    const spans = isPart ? [[from, to] as const] : rowSpans(this.#sqlite, this.list.table, rowsPerSpan);
    for (const [least, most] of spans)
      for (const [id, lead] of keys.all(least, most)) yield { id, key: lead ?? Number.NaN };
  }

  /** The time of a record as a number, or nothing in a list with ids. */
  timesOf({ scalars }: RecordValues): Scalar[] {
    if (this.#timeAt < 0) return [];
    const ms = keyOfTime(scalars[this.#timeAt]);
    return [Number.isNaN(ms) ? null : ms];
  }

  /** The rows whose time as a number is not that of their text. */
  rowsWithOtherTimes(): number[] {
    const text = scalarFields(this.list)[this.#timeAt]?.column;
    if (text === undefined) return [];
    registerInstant(this.#sqlite);
    return this.#values(`SELECT id FROM ${this.list.table} WHERE ${this.#lead} IS NOT instant_ms(${text})`);
  }

  /** The rows whose items are not at 0, 1, 2 and so on: the content does not show a gap. */
  rowsWithGaps(): { readonly table: string; readonly id: number }[] {
    const { ownerColumn } = this.list;
    return this.#children.flatMap(({ table }) =>
      this.#values<number>(
        `SELECT ${ownerColumn} FROM ${table} GROUP BY 1 HAVING min(position) <> 0 OR max(position) <> count(*) - 1`,
      ).map(id => ({ table, id })),
    );
  }

  /** True if an item of an array belongs to no row, positions have a gap, or a time is another one: docmirror writes none of these. */
  isMalformed(): boolean {
    const isStray = ({ table }: ArrayField) =>
      this.#values(`SELECT 1 FROM ${table} WHERE ${this.#ofNone} LIMIT 1`).length > 0;
    return (
      this.rowsWithOtherTimes().length > 0 || this.#children.some(isStray) || this.rowsWithGaps().length > 0
    );
  }

  /** Deletes the items that belong to no row. */
  dropStrayItems(): void {
    for (const { table } of this.#children) this.#sqlite.exec(`DELETE FROM ${table} WHERE ${this.#ofNone}`);
  }

  remove(id: number): void {
    const { table, ownerColumn } = this.list;
    for (const child of this.#children)
      this.#sqlite.prepare(`DELETE FROM ${child.table} WHERE ${ownerColumn} = ?`).run(id);
    this.#sqlite.prepare(`DELETE FROM ${table} WHERE id = ?`).run(id);
  }

  get #ofNone(): string {
    return `${this.list.ownerColumn} NOT IN (SELECT id FROM ${this.list.table})`;
  }

  #values<Value>(query: string): Value[] {
    return this.#sqlite.prepare<[], Value>(query).pluck().all();
  }

  #leadOf(record: RecordValues): Scalar {
    return this.#timeAt < 0 ? record.id : (this.timesOf(record)[0] as Scalar);
  }

  #toStoredRow(row: RawRow): StoredRow {
    const [id, firstSeenRunId, changedRunId, content, extra, ...scalars] = row;
    const arrays = this.#items.map(items => items.all(id));
    const record = { id: this.list.identity.by === 'id' ? id : null, scalars, arrays, extra };
    return { id, record, firstSeenRunId, changedRunId, content };
  }
}

/** Lets statements read a time as a number: `instant_ms(text)`, null if the text is none. */
export function registerInstant(sqlite: Database.Database): void {
  sqlite.function('instant_ms', { deterministic: true }, text => {
    const ms = keyOfTime(text);
    return Number.isNaN(ms) ? null : ms;
  });
}

/** The numbers of rows from one to another, both among them. */
type RowSpan = [from: bigint, to: bigint];

const leastId = -(2n ** 63n);
const greatestId = 2n ** 63n - 1n;

/**
 * Spans that together cover a table's rows, with `rowsPerSpan` rows each. One statement per span is faster than one step per row.
 */
function* rowSpans(sqlite: Database.Database, table: string, rowsPerSpan: number): Generator<RowSpan> {
  // Another program can have written a number that JavaScript can't represent exactly.
  const next = sqlite
    .prepare<[bigint], bigint>(
      `SELECT id FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ${rowsPerSpan}`,
    )
    .pluck()
    .safeIntegers();
  for (let from: bigint | undefined = leastId; from !== undefined; ) {
    const after = next.get(from);
    yield [from, after === undefined ? greatestId : after - 1n];
    from = after;
  }
}
