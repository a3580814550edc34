import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import {
  type ListDefinition,
  type Scalar,
  scalarFields,
  timeColumnOf,
  timeIndexOf,
} from '../../contract/lists.ts';
import { keyOfTime } from '../../contract/record-key.ts';
import { MirrorFileError } from '../../errors.ts';
import { ChildTable } from './child-table.ts';
import { type ListWords, listWords } from './list-words.ts';
import { type RowSpan, rowSpans } from './row-spans.ts';
import type { StandingRecord } from './standing-record.ts';
import { prepare, prepareArrays, prepareValue, registerInstant } from './statement.ts';

/** A record's row and the runs that wrote it. */
export interface StoredRow extends StandingRecord {
  /** As in the row, in hexadecimal digits: a buffer for each row would take as long as all its other columns. */
  readonly content: string;
}

/** A row with its key. */
export interface KeyedRow {
  readonly id: number;
  /** The id, or the time in milliseconds; NaN if it has none. */
  readonly key: number;
  /** In hexadecimal digits. */
  readonly content: string;
}

/** A record that will be written. */
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

/** One list's tables by prepared statements. */
export class ListTable {
  readonly list: ListDefinition;
  readonly #sqlite: Database.Database;
  readonly #words: ListWords;
  /** The place of the scalar with the time, which leads the index for finding a content; -1 in a list with ids. */
  readonly #timeAt: number;
  readonly #find: Database.Statement<[Scalar, Buffer], number>;
  readonly #findMany: Database.Statement<[(Scalar | Buffer)[]], (number | null)[]>;
  readonly #others: Database.Statement<[Scalar, Buffer, number, number], number>;
  readonly #has: Database.Statement<[number], number>;
  readonly #read: Database.Statement<[number], RawRow>;
  readonly #insert: Database.Statement<unknown[]>;
  readonly #update: Database.Statement<unknown[]>;
  readonly #remove: Database.Statement<[number]>;
  readonly #children: readonly ChildTable[];

  constructor(sqlite: Database.Database, list: ListDefinition) {
    this.list = list;
    this.#sqlite = sqlite;
    this.#timeAt = timeIndexOf(list);
    const { children, find, others, has, read, insert, update, remove } = listWords(list);
    this.#words = listWords(list);
    this.#children = children.map(each => new ChildTable(sqlite, each));
    this.#find = prepareValue(sqlite, find);
    // By hand: a SELECT without a table, of many looks at once.
    const looks = `SELECT ${new Array(looksPerFind).fill(`(${this.#find.source})`).join(', ')}`;
    this.#findMany = sqlite.prepare<[(Scalar | Buffer)[]], (number | null)[]>(looks).raw();
    this.#others = prepareValue(sqlite, others);
    this.#has = prepareValue(sqlite, has);
    this.#read = prepareArrays(sqlite, read);
    this.#insert = sqlite.prepare(insert);
    this.#update = sqlite.prepare(update);
    this.#remove = prepare(sqlite, remove);
  }

  count(): number {
    return prepareValue(this.#sqlite, this.#words.count).get() ?? 0;
  }

  has(id: number): boolean {
    return this.#has.get(id) !== undefined;
  }

  /** The first row with a record's content; undefined if there is none. */
  find(record: NewRecord): number | undefined {
    // One value by `get` takes a fifth of the time of rows by `all`.
    return this.#find.get(this.#lead(record), record.content);
  }

  /** For each record the first row with its content; undefined if there is none. */
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

  /** Other rows with the content of a record, always in one order. */
  othersOf(record: NewRecord, row: number, limit: number): number[] {
    return this.#others.all(this.#lead(record), record.content, row, limit);
  }

  /** Inserts a record and returns its row's id. */
  insert(record: NewRecord, runId: number): number {
    const result = this.#insert.run(
      ...(record.id === null ? [] : [record.id]),
      ...record.scalars,
      record.extra,
      record.content,
      ...this.timesOf(record),
      { run: runId },
    );
    const id = Number(result.lastInsertRowid);
    for (const [at, values] of record.arrays.entries()) this.#children[at]?.insert(id, values);
    return id;
  }

  /** Drops the list's indexes, and returns the statements that make them again: it is faster to build them afterwards. */
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
    this.#update.run(...record.scalars, runId, record.extra, record.content, ...this.timesOf(record), id);
    for (const [at, values] of record.arrays.entries()) this.#children[at]?.replace(id, values);
  }

  remove(id: number): void {
    for (const child of this.#children) child.remove(id);
    this.#remove.run(id);
  }

  /** Writes a row's content and the form of its further fields; its meaning stays the same. */
  setContent(id: number, content: string, extra: string | null): void {
    const write = prepare(this.#sqlite, this.#words.setContent);
    write.run(extra, Buffer.from(content, 'hex'), id);
  }

  /** The rows whose time as a number is not that of their text. */
  rowsWithOtherTimes(): number[] {
    const [column, text] = [timeColumnOf(this.list), scalarFields(this.list)[this.#timeAt]?.column];
    if (column === null) return [];
    registerInstant(this.#sqlite);
    // By hand: a function of docmirror.
    const other = `SELECT id FROM ${this.list.table} WHERE ${column} IS NOT instant_ms(${text})`;
    return this.#sqlite.prepare<[], number>(other).pluck().all();
  }

  /** True if an item of an array belongs to no row, positions have a gap, or a time is another one: docmirror writes none of these. */
  isMalformed(): boolean {
    if (this.rowsWithOtherTimes().length > 0) return true;
    return this.#children.some(child => child.hasItemsOfNone() || child.ownersWithGaps().length > 0);
  }

  /** The rows whose items are not at 0, 1, 2 and so on: the content does not show a gap. */
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

  /** A row as a record that could be written. */
  recordOf(id: number): NewRecord {
    const { record, content } = this.read(id);
    return { ...record, content: Buffer.from(content, 'hex') };
  }

  /** Every row in the order of its id. */
  *rows(): Generator<StoredRow> {
    const rows = prepareArrays<RowSpan, RawRow>(this.#sqlite, this.#words.rowsBetween);
    for (const span of rowSpans(this.#sqlite, this.#words.table, rowsPerSpan))
      for (const row of rows.all(...span)) yield this.#toStoredRow(row);
  }

  /** Some rows in the order of their ids. */
  rowsAt(offset: number, limit: number): StoredRow[] {
    const rows = prepareArrays<[number, number], RawRow>(this.#sqlite, this.#words.rowsAt);
    return rows.all(limit, offset).map(row => this.#toStoredRow(row));
  }

  /** The rows that a run wrote, in the order of their ids. */
  *writtenBy(runId: number): Generator<StoredRow> {
    const rows = prepareArrays<[number], RawRow>(this.#sqlite, this.#words.rowsWrittenBy);
    for (const row of rows.iterate(runId)) yield this.#toStoredRow(row);
  }

  /** The key and content of every row, in the order of its id. Lists are ordered by the key. */
  *keysAndContents(): Generator<KeyedRow> {
    type Row = [id: number, lead: Scalar, content: string];
    const rows = prepareArrays<RowSpan, Row>(this.#sqlite, this.#words.leadsAndContents);
    for (const span of rowSpans(this.#sqlite, this.#words.table, rowsPerSpan))
      for (const [id, lead, content] of rows.all(...span)) yield { id, key: this.#keyOf(lead), content };
  }

  /** The keys of the rows from one id to another, in the order of their ids. */
  *keysBetween(from: number, to: number): Generator<Pick<KeyedRow, 'id' | 'key'>> {
    if (from > to) return;
    for (const [id, lead] of this.#keys().all(from, to)) yield { id, key: this.#keyOf(lead) };
  }

  /** The key of every row, in the order of its id. */
  *keys(): Generator<Pick<KeyedRow, 'id' | 'key'>> {
    const keys = this.#keys();
    for (const span of rowSpans(this.#sqlite, this.#words.table, rowsPerSpan))
      for (const [id, lead] of keys.all(...span)) yield { id, key: this.#keyOf(lead) };
  }

  #keys() {
    return prepareArrays<[number | bigint, number | bigint], [id: number, lead: Scalar]>(
      this.#sqlite,
      this.#words.leads,
    );
  }

  #keyOf(lead: Scalar): number {
    return lead === null ? Number.NaN : (lead as number);
  }

  *ids(): Generator<number> {
    for (const { id } of this.keys()) yield id;
  }

  #lead(record: RecordValues): Scalar {
    return this.#timeAt < 0 ? record.id : (this.timesOf(record)[0] as Scalar);
  }

  /** The time of a record as a number, or nothing in a list with ids. */
  timesOf({ scalars }: RecordValues): Scalar[] {
    if (this.#timeAt < 0) return [];
    const ms = keyOfTime(scalars[this.#timeAt]);
    return [Number.isNaN(ms) ? null : ms];
  }

  #toStoredRow(row: RawRow): StoredRow {
    const [id, firstSeenRunId, changedRunId, content, extra, ...scalars] = row;
    const arrays = this.#children.map(child => child.read(id));
    const record = { id: this.list.identity.by === 'id' ? id : null, scalars, arrays, extra };
    return { id, record, firstSeenRunId, changedRunId, content };
  }
}
