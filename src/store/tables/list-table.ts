import type { RecordValues } from '../../contract/content.ts';
import {
  arrayFields,
  type ListDefinition,
  type Scalar,
  scalarFields,
  timeColumnOf,
} from '../../contract/lists.ts';
import { contentBytesOf, type MirrorRecord } from '../../contract/record.ts';
import { instantMs } from '../../contract/time.ts';
import { MirrorFileError } from '../../errors.ts';
import { allRows, firstValue, type Sqlite } from './ask.ts';

/** By what rows are found. A key that is no number is bound as null. */
type Sought = Pick<MirrorRecord, 'key' | 'contents' | 'offset'>;

type RawRow = [
  id: number,
  firstSeenRunId: number,
  changedRunId: number,
  content: string,
  extra: string | null,
  sortKey: number | null,
  ...scalars: Scalar[],
];

/** Look-ups per statement: more are no faster, and one by one they take nearly twice as long. */
const looksPerFind = 8;
/** One statement for so many rows is faster than one step for each. */
const rowsPerStep = 256;

/** One list's tables, read by prepared statements that are made from its definition. A run writes them by its plan, in sets. */
export class ListTable {
  readonly list: ListDefinition;
  readonly #sqlite;
  /** The column that leads the index for finding a content: the time, or the id. */
  readonly #sortKey;
  readonly #rows;
  readonly #find;
  readonly #findMany;
  readonly #keys;
  readonly #read;
  readonly #items;
  readonly #unlike;

  /** @param unlike rows that no record finds, whatever their contents. */
  constructor(sqlite: Sqlite, list: ListDefinition, unlike: ReadonlySet<number> = new Set()) {
    const { table, ownerColumn } = list;
    this.list = list;
    this.#sqlite = sqlite;
    this.#unlike = unlike;
    this.#sortKey = timeColumnOf(list) ?? 'id';
    const columns = scalarFields(list).map(({ column }) => column);
    const runs = ['_first_seen_run_id', '_changed_run_id'];
    const all = ['id', ...runs, 'lower(hex(_content))', '_extra', this.#sortKey, ...columns];
    this.#rows = `SELECT ${all.join(', ')} FROM ${table}`;
    const find = `SELECT id FROM ${table} WHERE ${this.#sortKey} IS ? AND _content = ?`;
    const looks = `SELECT ${new Array(looksPerFind).fill(`(${find})`).join(', ')}`;
    const keys = `SELECT id, ${this.#sortKey} FROM ${table} WHERE id BETWEEN ? AND ? ORDER BY id`;
    this.#keys = sqlite.prepare<[number, number], [id: number, sortKey: number | null]>(keys).raw();
    this.#find = sqlite.prepare<[number, Buffer], number>(find).pluck();
    this.#findMany = sqlite.prepare<[(number | Buffer)[]], (number | null)[]>(looks).raw();
    this.#read = sqlite.prepare<[number], RawRow>(`${this.#rows} WHERE id = ?`).raw();
    this.#items = arrayFields(list).map(items => {
      const ofRow = `SELECT ${items.column} FROM ${items.table} WHERE ${ownerColumn} = ? ORDER BY position`;
      return sqlite.prepare<[number], Scalar>(ofRow).pluck();
    });
  }

  count(): number {
    return firstValue<number>(this.#sqlite, `SELECT count(*) FROM ${this.list.table}`) ?? 0;
  }

  /** For each record the first row with its content; undefined if there is none. */
  findAll(records: readonly Sought[]): (number | undefined)[] {
    const found: (number | undefined)[] = [];
    let at = 0;
    for (; at + looksPerFind <= records.length; at += looksPerFind) {
      const values: (number | Buffer)[] = [];
      for (const each of records.slice(at, at + looksPerFind)) values.push(each.key, contentBytesOf(each));
      for (const id of this.#findMany.get(values) ?? []) found.push(id ?? undefined);
    }
    for (; at < records.length; at++) {
      const each = records[at] as Sought;
      found.push(this.#find.get(each.key, contentBytesOf(each)));
    }
    if (this.#unlike.size === 0) return found;
    return found.map(id => (id === undefined || this.isUnlike(id) ? undefined : id));
  }

  isUnlike(row: number): boolean {
    return this.#unlike.has(row);
  }

  /** @throws MirrorFileError if the row is gone: another program can remove one that a run has seen. */
  read(id: number) {
    const row = this.#read.get(id);
    if (row !== undefined) return this.#toStoredRow(row);
    throw new MirrorFileError(
      `The mirror is damaged, or another program removed a row meanwhile: ${this.list.table} has no row ${id}. "docmirror verify" shows what else is wrong.`,
    );
  }

  /** The rows after one id and up to another, or every row, in the order of their ids, some hundred at a time. */
  *rows(after = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY) {
    const batch = `${this.#rows} WHERE id > ? AND id <= ? ORDER BY id LIMIT ${rowsPerStep}`;
    const next = this.#sqlite.prepare<[number, number], RawRow>(batch).raw();
    let rows: RawRow[] = [];
    do {
      rows = next.all(after, to);
      yield rows.map(row => this.#toStoredRow(row));
      after = rows.at(-1)?.[0] ?? after;
    } while (rows.length === rowsPerStep);
  }

  /** The keys of the rows from one id to another in the order of their ids, or of all rows: the id, or the time; NaN if there is none. */
  keys(from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): { id: number; key: number }[] {
    return this.#keys.all(from, to).map(([id, sortKey]) => ({ id, key: sortKey ?? Number.NaN }));
  }

  /** Finds the rows whose items are not at 0, 1, 2 and so on, or belong to no record. */
  malformed() {
    const { table, ownerColumn } = this.list;
    const queries = arrayFields(this.list).map(
      items => `SELECT '${items.table}' AS "table", ${ownerColumn} AS id, 'the positions have a gap' AS what
        FROM ${items.table} GROUP BY 2
        HAVING min(position) <> 0 OR max(position) <> count(*) - 1 OR ${ownerColumn} NOT IN (SELECT id FROM ${table})`,
    );
    type Fault = { table: string; id: number; what: string };
    return queries.flatMap(query => allRows<Fault>(this.#sqlite, query));
  }

  remove(id: number): void {
    const { table, ownerColumn } = this.list;
    for (const items of arrayFields(this.list))
      this.#sqlite.prepare(`DELETE FROM ${items.table} WHERE ${ownerColumn} = ?`).run(id);
    this.#sqlite.prepare(`DELETE FROM ${table} WHERE id = ?`).run(id);
  }

  // The content is in hexadecimal digits: a buffer for each row would take as long as all its other columns.
  #toStoredRow([id, firstSeenRunId, changedRunId, content, extra, sortKey, ...scalars]: RawRow) {
    const arrays = this.#items.map(items => items.all(id));
    const record: RecordValues = { id: this.list.identity.by === 'id' ? id : null, scalars, arrays, extra };
    return { id, record, firstSeenRunId, changedRunId, content, sortKey };
  }
}

/** Lets statements read a time as a number: `instant_ms(text)`, null if the text is none. */
export function registerInstant(sqlite: Sqlite): void {
  const read = (text: unknown) => (typeof text === 'string' ? instantMs(text) : null);
  sqlite.function('instant_ms', { deterministic: true }, read);
}
