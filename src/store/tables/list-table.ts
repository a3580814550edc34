import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import {
  arrayFields,
  type ListDefinition,
  type Scalar,
  scalarFields,
  timeIndexOf,
} from '../../contract/lists.ts';
import { keyOfTime } from '../../contract/record-key.ts';
import { MirrorFileError } from '../../errors.ts';
import { ChildTable } from './child-table.ts';
import { type RowSpan, rowSpans } from './row-spans.ts';
import type { StandingRecord } from './standing-record.ts';

/** A row's own record and its past. */
export interface StoredRow extends StandingRecord {
  /** As it stands in the row, in hexadecimal digits: a buffer for each row would take as long as all its other columns. */
  readonly content: string;
}

/** A row by its key. */
export interface KeyedRow {
  readonly id: number;
  /** The id, or the time in milliseconds; NaN if it has none. */
  readonly key: number;
  /** In hexadecimal digits. */
  readonly content: string;
}

/** A record that is to be written. */
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

/** Rows a statement: more are no faster. */
const rowsPerInsert = 20;
/** Look-ups a statement: more are no faster, and one by one they take nearly twice as long. */
const looksPerFind = 8;
const rowsPerSpan = 256;

/**
 * One list's tables by prepared statements, which are 4× faster here than a query builder. All its SQL comes from the
 * list's definition.
 */
export class ListTable {
  readonly list: ListDefinition;
  readonly #sqlite: Database.Database;
  readonly #scalarColumns: readonly string[];
  /** Which scalar leads the index by which a content is looked up; -1 in a list with ids. */
  readonly #timeAt: number;
  readonly #find: Database.Statement<[Scalar, Buffer], number>;
  readonly #findMany: Database.Statement<[(Scalar | Buffer)[]], (number | null)[]>;
  readonly #findAfter: Database.Statement<[Scalar, Buffer, number], number>;
  readonly #columns: string;
  readonly #has: Database.Statement<[number], number>;
  readonly #read: Database.Statement<[number], Scalar[]>;
  readonly #insert: Database.Statement;
  /** Many rows by one statement, which is faster than as many statements; null where a record has rows in other tables. */
  readonly #insertMany: Database.Statement | null;
  readonly #update: Database.Statement;
  readonly #remove: Database.Statement;
  readonly #children: readonly ChildTable[];

  constructor(sqlite: Database.Database, list: ListDefinition) {
    this.list = list;
    this.#sqlite = sqlite;
    const { table, identity } = list;
    this.#scalarColumns = scalarFields(list).map(field => field.column);
    this.#timeAt = timeIndexOf(list);
    this.#children = arrayFields(list).map(field => new ChildTable(sqlite, list, field));
    const lead = this.#timeAt < 0 ? 'id = ?' : `${this.#scalarColumns[this.#timeAt]} IS ?`;
    const values = [...this.#scalarColumns, '_extra', '_content', '_changed_run_id'];
    const inserted = [...(identity.by === 'id' ? ['id'] : []), ...values, '_first_seen_run_id'];

    const find = `SELECT id FROM ${table} WHERE ${lead} AND _content = ?`;
    this.#find = sqlite.prepare<[Scalar, Buffer], number>(find).pluck();
    this.#findMany = sqlite
      .prepare<[(Scalar | Buffer)[]], (number | null)[]>(
        `SELECT ${new Array(looksPerFind).fill(`(${find})`).join(', ')}`,
      )
      .raw();
    this.#findAfter = sqlite
      .prepare<[Scalar, Buffer, number], number>(
        `SELECT id FROM ${table} WHERE ${lead} AND _content = ? AND id > ? ORDER BY id LIMIT 1`,
      )
      .pluck();
    this.#columns = `id, _first_seen_run_id, _changed_run_id, lower(hex(_content)), _extra, ${this.#scalarColumns.join(', ')}`;
    this.#has = sqlite.prepare<[number], number>(`SELECT 1 FROM ${table} WHERE id = ?`).pluck();
    this.#read = sqlite
      .prepare<[number], Scalar[]>(`SELECT ${this.#columns} FROM ${table} WHERE id = ?`)
      .raw();
    const into = `INSERT INTO ${table} (${inserted.join(', ')}) VALUES`;
    // The run is bound once a statement, not once a row.
    const row = `(${[...inserted.slice(0, -2).map(() => '?'), '@run', '@run'].join(', ')})`;
    this.#insert = sqlite.prepare(`${into} ${row}`);
    this.#insertMany =
      this.#children.length > 0 || identity.by === 'id'
        ? null
        : sqlite.prepare(`${into} ${new Array(rowsPerInsert).fill(row).join(', ')}`);
    this.#update = sqlite.prepare(
      `UPDATE ${table} SET ${values.map(column => `${column} = ?`).join(', ')} WHERE id = ?`,
    );
    this.#remove = sqlite.prepare(`DELETE FROM ${table} WHERE id = ?`);
  }

  count(): number {
    return this.#sqlite.prepare(`SELECT count(*) FROM ${this.list.table}`).pluck().get() as number;
  }

  /** True where one content stands in several rows, of a list without ids. */
  hasRepeats(): boolean {
    const lead = this.#scalarColumns[this.#timeAt];
    const repeated = `SELECT 1 FROM ${this.list.table} GROUP BY ${lead}, _content HAVING count(*) > 1 LIMIT 1`;
    return this.#sqlite.prepare(repeated).get() !== undefined;
  }

  has(id: number): boolean {
    return this.#has.get(id) !== undefined;
  }

  /** The first row that says what a record says; undefined where there is none. */
  find(record: NewRecord): number | undefined {
    // One value by `get` takes a fifth of the time of rows by `all`.
    return this.#find.get(this.#lead(record), record.content);
  }

  /** For each record the first row that says what it says; undefined where there is none. */
  findAll(records: readonly NewRecord[]): (number | undefined)[] {
    const found: (number | undefined)[] = [];
    let at = 0;
    for (; at + looksPerFind <= records.length; at += looksPerFind) {
      const values: (Scalar | Buffer)[] = [];
      for (let look = at; look < at + looksPerFind; look++) {
        const record = records[look] as NewRecord;
        values.push(this.#lead(record), record.content);
      }
      for (const id of this.#findMany.get(values) ?? []) found.push(id ?? undefined);
    }
    for (; at < records.length; at++) found.push(this.find(records[at] as NewRecord));
    return found;
  }

  /** The next row, by its id, that says what a record says. */
  findAfter(record: NewRecord, id: number): number | undefined {
    return this.#findAfter.get(this.#lead(record), record.content, id);
  }

  /** Inserts a record and returns its row's id. */
  insert(record: NewRecord, runId: number): number {
    const result = this.#insert.run(
      ...(record.id === null ? [] : [record.id]),
      ...record.scalars,
      record.extra,
      record.content,
      { run: runId },
    );
    const id = Number(result.lastInsertRowid);
    for (const [at, values] of record.arrays.entries()) this.#children[at]?.insert(id, values);
    return id;
  }

  /** Inserts records into a list without ids and returns their rows' ids, in the same order. */
  insertAll(records: readonly NewRecord[], runId: number): number[] {
    const ids: number[] = [];
    let at = 0;
    for (; this.#insertMany !== null && at + rowsPerInsert <= records.length; at += rowsPerInsert) {
      const values: (Scalar | Buffer)[] = [];
      for (let row = at; row < at + rowsPerInsert; row++) {
        const { scalars, extra, content } = records[row] as NewRecord;
        values.push(...scalars, extra, content);
      }
      // The rows of one statement get ids that follow each other, for no one else writes.
      const last = Number(this.#insertMany.run(values, { run: runId }).lastInsertRowid);
      for (let id = last - rowsPerInsert + 1; id <= last; id++) ids.push(id);
    }
    for (; at < records.length; at++) ids.push(this.insert(records[at] as NewRecord, runId));
    return ids;
  }

  /** Drops the list's indexes, and returns what makes them again: building them afterwards is faster than keeping them. */
  dropIndexes(): string[] {
    const indexes = this.#sqlite
      .prepare<[string], { name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
      )
      .all(this.list.table);
    for (const { name } of indexes) this.#sqlite.exec(`DROP INDEX "${name}"`);
    return indexes.map(({ sql }) => sql);
  }

  update(id: number, record: NewRecord, runId: number): void {
    this.#update.run(...record.scalars, record.extra, record.content, runId, id);
    for (const [at, values] of record.arrays.entries()) this.#children[at]?.replace(id, values);
  }

  remove(id: number): void {
    for (const child of this.#children) child.remove(id);
    this.#remove.run(id);
  }

  /** Writes a row's content, and the form of its further fields; what it says stays as it is. */
  setContent(id: number, content: string, extra: string | null): void {
    this.#sqlite
      .prepare(`UPDATE ${this.list.table} SET _content = unhex(?), _extra = ? WHERE id = ?`)
      .run(content, extra, id);
  }

  /** True if an item of an array belongs to no row, or positions have a gap: docmirror writes neither. */
  isMalformed(): boolean {
    return this.#children.some(child => child.hasItemsOfNone() || child.ownersWithGaps().length > 0);
  }

  /** The rows whose items don't stand at 0, 1, 2 and so on: a gap shows in no content. */
  rowsWithGaps(): { readonly table: string; readonly id: number }[] {
    return this.#children.flatMap(child => child.ownersWithGaps().map(id => ({ table: child.table, id })));
  }

  /** Deletes the items that belong to no row. */
  dropStrayItems(): void {
    for (const child of this.#children) child.dropStrayItems();
  }

  read(id: number): StoredRow {
    const row = this.#read.get(id);
    if (row === undefined)
      throw new MirrorFileError(
        `The mirror is damaged: ${this.list.table} has no row ${id}, though an index names it. Restore it from a backup.`,
      );
    return this.#toStoredRow(row);
  }

  /** What a row says, as a record that could be written. */
  recordOf(id: number): NewRecord {
    const { record, content } = this.read(id);
    return { ...record, content: Buffer.from(content, 'hex') };
  }

  /** Every row in the order of its id. */
  *rows(): Generator<StoredRow> {
    const rows = this.#sqlite
      .prepare<RowSpan, Scalar[]>(
        `SELECT ${this.#columns} FROM ${this.list.table} WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .raw();
    for (const span of rowSpans(this.#sqlite, this.list.table, rowsPerSpan))
      for (const row of rows.all(...span)) yield this.#toStoredRow(row);
  }

  /** Some rows in the order of their ids. */
  rowsAt(offset: number, limit: number): StoredRow[] {
    return this.#sqlite
      .prepare<[number, number], Scalar[]>(
        `SELECT ${this.#columns} FROM ${this.list.table} ORDER BY id LIMIT ? OFFSET ?`,
      )
      .raw()
      .all(limit, offset)
      .map(row => this.#toStoredRow(row));
  }

  /** The rows that a run inserted, in the order of their ids. */
  *insertedBy(runId: number): Generator<StoredRow> {
    for (const row of this.writtenBy(runId)) if (row.firstSeenRunId === runId) yield row;
  }

  /** The time of a record, of a list without ids. */
  timeOf({ scalars }: RecordValues): Scalar {
    return scalars[this.#timeAt] as Scalar;
  }

  /** The rows with the time of a record, of a list without ids. */
  rowsAtTimeOf(record: RecordValues): StoredRow[] {
    const column = this.#scalarColumns[this.#timeAt];
    return this.#sqlite
      .prepare<[Scalar], Scalar[]>(
        `SELECT ${this.#columns} FROM ${this.list.table} WHERE ${column} IS ? ORDER BY id`,
      )
      .raw()
      .all(this.timeOf(record))
      .map(row => this.#toStoredRow(row));
  }

  /** The rows that a run wrote, in the order of their ids. */
  *writtenBy(runId: number): Generator<StoredRow> {
    const rows = this.#sqlite
      .prepare<[number], Scalar[]>(
        `SELECT ${this.#columns} FROM ${this.list.table} WHERE _changed_run_id = ? ORDER BY id`,
      )
      .raw();
    for (const row of rows.iterate(runId)) yield this.#toStoredRow(row);
  }

  /** Of every row its key, by which lists are ordered, and its content, in the order of its id. */
  *keysAndContents(): Generator<KeyedRow> {
    const time = this.#timeAt < 0 ? 'NULL' : this.#scalarColumns[this.#timeAt];
    const rows = this.#sqlite
      .prepare<RowSpan, [number, string | null, string]>(
        `SELECT id, ${time}, lower(hex(_content)) FROM ${this.list.table} WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .raw();
    for (const span of rowSpans(this.#sqlite, this.list.table, rowsPerSpan))
      for (const [id, timeText, content] of rows.all(...span))
        yield { id, key: this.#timeAt < 0 ? id : keyOfTime(timeText), content };
  }

  /** Of the rows from one id to another their keys, in the order of their ids. */
  *keysBetween(from: number, to: number): Generator<Pick<KeyedRow, 'id' | 'key'>> {
    if (from > to) return;
    for (const [id, text] of this.#keys().all(from, to))
      yield { id, key: this.#timeAt < 0 ? id : keyOfTime(text) };
  }

  /** Of every row its key, in the order of its id. */
  *keys(): Generator<Pick<KeyedRow, 'id' | 'key'>> {
    const keys = this.#keys();
    for (const span of rowSpans(this.#sqlite, this.list.table, rowsPerSpan))
      for (const [id, text] of keys.all(...span)) yield { id, key: this.#timeAt < 0 ? id : keyOfTime(text) };
  }

  #keys() {
    const time = this.#timeAt < 0 ? 'NULL' : this.#scalarColumns[this.#timeAt];
    return this.#sqlite
      .prepare<[number | bigint, number | bigint], [number, string | null]>(
        `SELECT id, ${time} FROM ${this.list.table} WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .raw();
  }

  *ids(): Generator<number> {
    const ids = this.#sqlite
      .prepare<RowSpan, number>(`SELECT id FROM ${this.list.table} WHERE id BETWEEN ? AND ? ORDER BY id`)
      .pluck();
    for (const span of rowSpans(this.#sqlite, this.list.table, rowsPerSpan)) yield* ids.all(...span);
  }

  #lead(record: RecordValues): Scalar {
    return this.#timeAt < 0 ? record.id : (record.scalars[this.#timeAt] as Scalar);
  }

  #toStoredRow(row: Scalar[]): StoredRow {
    const [id, firstSeenRunId, changedRunId, content, extra, ...scalars] = row as RawRow;
    const arrays = this.#children.map(child => child.read(id));
    const record = { id: this.list.identity.by === 'id' ? id : null, scalars, arrays, extra };
    return { id, record, firstSeenRunId, changedRunId, content };
  }
}
