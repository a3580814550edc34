import type Database from 'better-sqlite3';
import { and, count, eq, gt, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
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
import { columnOf, keyOf, type RowsTable, rowsTable, schemaTable } from './rows-table.ts';
import type { StandingRecord } from './standing-record.ts';
import {
  hexOf,
  isSame,
  marks,
  prepare,
  prepareArrays,
  prepareValue,
  select,
  textOf,
  type Worded,
  words,
} from './statement.ts';

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

/** One list's tables by prepared statements. Their columns are those that the list's definition names. */
export class ListTable {
  readonly list: ListDefinition;
  readonly #sqlite: Database.Database;
  readonly #table: RowsTable;
  /** The column that leads the index by which a content is looked up: the time, or the id. */
  readonly #leadColumn: SQLiteColumn;
  /** Which scalar leads that index; -1 in a list with ids. */
  readonly #timeAt: number;
  readonly #find: Database.Statement<[Scalar, Buffer], number>;
  readonly #findMany: Database.Statement<[(Scalar | Buffer)[]], (number | null)[]>;
  readonly #findAfter: Database.Statement<[Scalar, Buffer, number], number>;
  readonly #columns: Readonly<Record<string, SQL | SQLiteColumn>>;
  readonly #has: Database.Statement<[number], number>;
  readonly #read: Database.Statement<[number], RawRow>;
  readonly #insert: Database.Statement<unknown[]>;
  /** Many rows by one statement, which is faster than as many statements; null if a record has rows in other tables. */
  readonly #insertMany: Database.Statement<unknown[]> | null;
  readonly #update: Database.Statement<unknown[]>;
  readonly #remove: Database.Statement<[number]>;
  #atTime: Database.Statement<[Scalar], RawRow> | undefined;
  readonly #children: readonly ChildTable[];

  constructor(sqlite: Database.Database, list: ListDefinition) {
    this.list = list;
    this.#sqlite = sqlite;
    const table = rowsTable(list.resource);
    this.#table = table;
    const scalarNames = scalarFields(list).map(field => field.column);
    const scalars = scalarNames.map(name => columnOf(table, name));
    this.#timeAt = timeIndexOf(list);
    const lead = scalars[this.#timeAt] ?? table.id;
    this.#leadColumn = lead;
    this.#children = arrayFields(list).map(field => new ChildTable(sqlite, list, field));

    const says = (value: Scalar, content: Buffer) => and(isSame(lead, value), eq(table.content, content));
    const find = (value: Scalar, content: Buffer) =>
      select({ id: table.id }).from(table).where(says(value, content));
    this.#find = prepareValue(sqlite, find);
    // By hand: a SELECT without a table, of many looks at once.
    const looks = `SELECT ${new Array(looksPerFind).fill(`(${this.#find.source})`).join(', ')}`;
    this.#findMany = sqlite.prepare<[(Scalar | Buffer)[]], (number | null)[]>(looks).raw();
    this.#findAfter = prepareValue(sqlite, (value: Scalar, content: Buffer, id: number) =>
      select({ id: table.id })
        .from(table)
        .where(and(says(value, content), gt(table.id, id)))
        .orderBy(table.id)
        .limit(1),
    );
    this.#columns = {
      id: table.id,
      firstSeenRunId: table.firstSeenRunId,
      changedRunId: table.changedRunId,
      content: hexOf(table.content),
      extra: table.extra,
      ...Object.fromEntries(scalars.map((column, at) => [`scalar${at}`, column])),
    };
    this.#has = prepareValue(sqlite, (id: number) =>
      select({ id: table.id }).from(table).where(eq(table.id, id)),
    );
    this.#read = this.#prepareRows((id: number) => this.#selectRows().where(eq(table.id, id)));

    const written = schemaTable(list.table);
    const ownId = list.identity.by === 'id' ? ['id'] : [];
    const bound = [...ownId, ...scalarNames.map(name => keyOf(table, name)), 'extra', 'content'];
    // The run is bound once a statement, not once a row.
    const ofRun = { firstSeenRunId: sql`@run`, changedRunId: sql`@run` };
    const insert = (rowCount: number) => {
      const values = marks(bound.length * rowCount);
      const row = () => ({ ...ofRun, ...Object.fromEntries(bound.map(name => [name, values.shift()])) });
      return sqlite.prepare<unknown[]>(
        textOf(words.insert(written).values(Array.from({ length: rowCount }, row))),
      );
    };
    this.#insert = insert(1);
    this.#insertMany = this.#children.length > 0 || list.identity.by === 'id' ? null : insert(rowsPerInsert);
    const updated = [...bound.slice(ownId.length, -2), 'changedRunId', 'extra', 'content', 'id'];
    const values = marks(updated.length);
    const { id, ...set } = Object.fromEntries(updated.map((name, at) => [name, values[at]]));
    this.#update = sqlite.prepare<unknown[]>(
      textOf(words.update(written).set(set).where(isSame(table.id, id))),
    );
    this.#remove = prepare(sqlite, (row: number) => words.delete(table).where(eq(table.id, row)));
  }

  count(): number {
    return prepareValue(this.#sqlite, () => select({ count: count() }).from(this.#table)).get() ?? 0;
  }

  /** True where one content stands in several rows, of a list without ids. */
  hasRepeats(): boolean {
    const { content } = this.#table;
    const repeated = prepareValue(this.#sqlite, () =>
      select({ count: count() })
        .from(this.#table)
        .groupBy(this.#leadColumn, content)
        .having(gt(count(), 1))
        .limit(1),
    );
    return repeated.get() !== undefined;
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
    // By hand: SQLite's own table.
    const made =
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL";
    const indexes = this.#sqlite.prepare<[string], { name: string; sql: string }>(made).all(this.list.table);
    // By hand: Drizzle drops nothing.
    for (const { name } of indexes) this.#sqlite.exec(`DROP INDEX "${name}"`);
    return indexes.map(({ sql }) => sql);
  }

  update(id: number, record: NewRecord, runId: number): void {
    this.#update.run(...record.scalars, runId, record.extra, record.content, id);
    for (const [at, values] of record.arrays.entries()) this.#children[at]?.replace(id, values);
  }

  remove(id: number): void {
    for (const child of this.#children) child.remove(id);
    this.#remove.run(id);
  }

  /** Writes a row's content, and the form of its further fields; what it says stays as it is. */
  setContent(id: number, content: string, extra: string | null): void {
    prepare(this.#sqlite, (further: string | null, bytes: Buffer, row: number) =>
      words.update(this.#table).set({ extra: further, content: bytes }).where(eq(this.#table.id, row)),
    ).run(extra, Buffer.from(content, 'hex'), id);
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
    const rows = this.#prepareRows((from: bigint, to: bigint) =>
      this.#selectRows().where(this.#isBetween(from, to)).orderBy(this.#table.id),
    );
    for (const span of rowSpans(this.#sqlite, this.#table, rowsPerSpan))
      for (const row of rows.all(...span)) yield this.#toStoredRow(row);
  }

  /** Some rows in the order of their ids. */
  rowsAt(offset: number, limit: number): StoredRow[] {
    const rows = this.#prepareRows((most: number, from: number) =>
      this.#selectRows().orderBy(this.#table.id).limit(most).offset(from),
    );
    return rows.all(limit, offset).map(row => this.#toStoredRow(row));
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
    this.#atTime ??= this.#prepareRows((time: Scalar) =>
      this.#selectRows().where(isSame(this.#leadColumn, time)).orderBy(this.#table.id),
    );
    return this.#atTime.all(this.timeOf(record)).map(row => this.#toStoredRow(row));
  }

  /** The rows that a run wrote, in the order of their ids. */
  *writtenBy(runId: number): Generator<StoredRow> {
    const rows = this.#prepareRows((run: number) =>
      this.#selectRows().where(eq(this.#table.changedRunId, run)).orderBy(this.#table.id),
    );
    for (const row of rows.iterate(runId)) yield this.#toStoredRow(row);
  }

  /** Of every row its key, by which lists are ordered, and its content, in the order of its id. */
  *keysAndContents(): Generator<KeyedRow> {
    const { id: column, content: bytes } = this.#table;
    const rows = prepareArrays<RowSpan, [id: number, lead: Scalar, content: string]>(
      this.#sqlite,
      (from, to) =>
        select({ id: column, lead: this.#leadColumn, content: hexOf(bytes) })
          .from(this.#table)
          .where(this.#isBetween(from, to))
          .orderBy(column),
    );
    for (const span of rowSpans(this.#sqlite, this.#table, rowsPerSpan))
      for (const [id, lead, content] of rows.all(...span)) yield { id, key: this.#keyOf(lead), content };
  }

  /** Of the rows from one id to another their keys, in the order of their ids. */
  *keysBetween(from: number, to: number): Generator<Pick<KeyedRow, 'id' | 'key'>> {
    if (from > to) return;
    for (const [id, lead] of this.#keys().all(from, to)) yield { id, key: this.#keyOf(lead) };
  }

  /** Of every row its key, in the order of its id. */
  *keys(): Generator<Pick<KeyedRow, 'id' | 'key'>> {
    const keys = this.#keys();
    for (const span of rowSpans(this.#sqlite, this.#table, rowsPerSpan))
      for (const [id, lead] of keys.all(...span)) yield { id, key: this.#keyOf(lead) };
  }

  #keys() {
    return prepareArrays<[from: number | bigint, to: number | bigint], [id: number, lead: Scalar]>(
      this.#sqlite,
      (from, to) =>
        select({ id: this.#table.id, lead: this.#leadColumn })
          .from(this.#table)
          .where(this.#isBetween(from, to))
          .orderBy(this.#table.id),
    );
  }

  #keyOf(lead: Scalar): number {
    return this.#timeAt < 0 ? (lead as number) : keyOfTime(lead as string | null);
  }

  *ids(): Generator<number> {
    for (const { id } of this.keys()) yield id;
  }

  #selectRows() {
    return select(this.#columns).from(this.#table);
  }

  /** Statements that give the columns of `#columns` as they stand there. */
  #prepareRows<Values extends unknown[]>(word: (...values: Values) => Worded) {
    return prepareArrays<Values, RawRow>(this.#sqlite, word);
  }

  #isBetween(from: number | bigint, to: number | bigint): SQL {
    return sql`${this.#table.id} between ${from} and ${to}`;
  }

  #lead(record: RecordValues): Scalar {
    return this.#timeAt < 0 ? record.id : (record.scalars[this.#timeAt] as Scalar);
  }

  #toStoredRow(row: RawRow): StoredRow {
    const [id, firstSeenRunId, changedRunId, content, extra, ...scalars] = row;
    const arrays = this.#children.map(child => child.read(id));
    const record = { id: this.list.identity.by === 'id' ? id : null, scalars, arrays, extra };
    return { id, record, firstSeenRunId, changedRunId, content };
  }
}
