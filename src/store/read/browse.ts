// The texts are SQL, because a filter chooses the table, the conditions and the order.
import type Database from 'better-sqlite3';
import { type Field, listOf, lists } from '../../contract/lists.ts';
import { instantMs } from '../../contract/time.ts';
import { openForReading } from '../file/open.ts';
import { registerInstant } from '../tables/list-table.ts';
import { connectionJson, rowJson } from '../tables/view-sql.ts';
import {
  type Browsable,
  browsableOf,
  browsables,
  type ListOrder,
  noFilter,
  type RecordFilter,
} from './browsable.ts';
import { type Column, cellsOf } from './cells.ts';

/** A record of a list or a connection, as it is in the mirror. */
export interface FoundRecord {
  readonly resource: string;
  readonly id: number;
  /** The id that the service gave it; null if it gave none. */
  readonly ownId: number | null;
  /** JSON text in the service's own shape; null if it was erased. */
  readonly record: string | null;
}

/** Selects records of a list. */
interface ListRequest {
  readonly resource: string;
  readonly filter: RecordFilter;
  readonly order: ListOrder;
}

/** Some records, and how many match the filter in all. */
export type FoundRecords = ReturnType<typeof findRecords>;

/** The values that a statement binds, by name. */
type Values = Record<string, string | number>;

/** Adds a value, and returns the name of its place in the statement. */
function bind(values: Values, value: string | number): string {
  const name = `value${Object.keys(values).length}`;
  values[name] = value;
  return `@${name}`;
}

/** Reads a mirror from one state of the file, even if a run writes meanwhile. */
export function readMirror<T>(path: string, read: (sqlite: Database.Database) => T): T {
  using file = openForReading(path);
  registerFold(file.sqlite);
  return file.sqlite.transaction(() => read(file.sqlite))();
}

/** Reads rows one at a time, from one state of the file. It is closed when the last is taken, or nobody takes more. */
export function* iterateMirror<T>(
  path: string,
  read: (sqlite: Database.Database) => Iterable<T>,
): Generator<T> {
  using file = openForReading(path);
  registerFold(file.sqlite);
  file.sqlite.exec('BEGIN');
  yield* read(file.sqlite);
}

/** The records of one page of a list. */
export function findRecords(
  sqlite: Database.Database,
  { offset, limit, ...request }: ListRequest & { readonly offset: number; readonly limit: number },
) {
  const { resource, filter } = request;
  const values: Values = { offset, limit };
  const { browsable, columns, by, condition } = listOfRequest(sqlite, request, values);
  const read = recordReader(sqlite, resource);
  const page = (rows: string) => `SELECT t.id FROM ${rows} ORDER BY ${by} LIMIT @limit OFFSET @offset`;
  if (filter.q === '') {
    const count = countOf(sqlite, browsable, filter);
    const ids = sqlite.prepare<object, number>(page(`${browsable.table} t WHERE ${condition}`)).pluck();
    // A filter that finds nothing would read all rows in their order.
    return { items: count === 0 ? [] : ids.all(values).map(read), count };
  }
  // Rows are searched once for the count and the page.
  const found = sqlite
    .prepare<object, [count: number, ids: string]>(
      `WITH found AS MATERIALIZED (SELECT ${columns} FROM ${browsable.table} t NOT INDEXED WHERE ${condition})
       SELECT (SELECT count(*) FROM found), (SELECT json_group_array(id) FROM (${page('found t')}))`,
    )
    .raw();
  const [count, ids] = found.get(values) as [number, string];
  return { items: (JSON.parse(ids) as number[]).map(read), count };
}

/** Reads records of a list, or connections, by their ids, in the service's own shape. */
export function recordReader(sqlite: Database.Database, resource: string): (id: number) => FoundRecord {
  const list = lists.find(each => each.resource === resource);
  const read = sqlite
    .prepare<[number], string>(
      list === undefined
        ? `SELECT ${connectionJson} FROM connections c WHERE c.id = ?`
        : `SELECT ${rowJson(list)} FROM ${list.table} t WHERE t.id = ?`,
    )
    .pluck();
  return id => {
    return { resource, id, ownId: list?.identity.by === 'content' ? null : id, record: read.get(id) ?? null };
  };
}

/** All records that match, as the columns and rows of a file: the id, then those of each field. */
export function recordTable(sqlite: Database.Database, request: ListRequest) {
  const values: Values = {};
  const { browsable, by, condition } = listOfRequest(sqlite, request, values);
  const { idName, fields, table } = browsable;
  const columns: Column[] = [{ name: idName, kind: 'integer' }, ...fields.flatMap(cellsOf)];
  const names = columns.map(({ name }) => `t.${name === idName ? 'id' : name}`);
  const view = table === 'connections' ? table : `${table}_named`;
  // The view has no content, so records of the same time are sorted by their ids.
  const order = by.replace(/t\._content( DESC)?, /, '');
  const rows = sqlite.prepare<object, (string | number | null)[]>(
    `SELECT ${names.join(', ')} FROM ${view} t WHERE ${condition} ORDER BY ${order}`,
  );
  return { columns, rows: rows.raw().iterate(values) };
}

/**
 * How many records match. A single connection is counted by its own index, everything else by the one that has all columns of the
 * filters.
 */
function countOf(sqlite: Database.Database, browsable: Browsable, filter: RecordFilter): number {
  const given = Object.values(filter).filter(value => value !== null && value !== '').length;
  const values: Values = {};
  const condition = conditionOf(sqlite, browsable, filter, 'row', values, given > 1);
  const count = `SELECT count(*) FROM ${browsable.table} t ${given === 0 ? '' : `WHERE ${condition}`}`;
  return sqlite.prepare<object, number>(count).pluck().get(values) ?? 0;
}

/** The condition of a list, the columns by which it is sorted, and how. */
function listOfRequest(sqlite: Database.Database, { resource, filter, order }: ListRequest, values: Values) {
  const browsable = browsableOf(resource);
  const field = browsable.sorts.find(({ name }) => name === order.sort);
  // The order of time is that of the index, so SQLite does not sort the rows.
  const isByTime = field !== undefined && field === browsable.filters.time;
  const columns = isByTime ? [`t.${field.column}_ms`, 't._content'] : field ? [`t.${field.column}`] : [];
  const keys = [...columns.map(column => (isByTime ? column : `lower(${column})`)), 't.id'];
  const by = keys.map(key => (order.isDescending ? `${key} DESC` : key)).join(', ');
  const condition = conditionOf(sqlite, browsable, filter, 'row', values, isByTime);
  return { browsable, columns: [...columns, 't.id'].join(', '), by, condition };
}

/** What is searched: rows of a list as `t`, or ended versions as `h`. */
type Side = 'row' | 'history';

/** The SQL expression of a field; for a connection, its id. */
function expressionOf({ kind, name, column }: Field, side: Side): string {
  if (side === 'row') return `t.${column}`;
  return `json_extract(h.record, '$.${name}${kind === 'connection' ? '.id' : ''}')`;
}

/** No time is later, or earlier by its negative. */
const lastMs = 8.64e15;
const dateLength = 'YYYY-MM-DD'.length;

/**
 * The condition of a filter for the records of a list.
 *
 * @param values gets the values that the condition binds.
 * @param isByTime true to use no other index than the one by time, which has all columns of the filters.
 */
export function conditionOf(
  sqlite: Database.Database,
  browsable: Browsable,
  { from, to, q, ...filter }: RecordFilter,
  side: Side,
  values: Values,
  isByTime = false,
): string {
  const { filters } = browsable;
  const conditions = wordConditions(browsable, q, side, values);
  for (const name of ['source', 'destination', 'kind'] as const) {
    const wanted = filter[name];
    if (wanted === null) continue;
    const field = filters[name];
    if (field === undefined) return '0';
    const all = field.kind === 'connection' ? connectionsNamed(sqlite, wanted) : [wanted];
    // The plus keeps SQLite from using another index.
    const plus = isByTime && filters.time !== undefined ? '+' : '';
    conditions.push(
      `${plus}${expressionOf(field, side)} IN (${all.map(each => bind(values, each)).join(', ')})`,
    );
  }
  if (from !== null || to !== null) {
    if (filters.time === undefined) return '0';
    const fromMs = from === null ? -lastMs : (instantMs(from) ?? 0);
    const endMs =
      to === null ? lastMs : (instantMs(to) ?? 0) + (to.length === dateLength ? 86_400_000 : 1_000);
    const time =
      side === 'row' ? `t.${filters.time.column}_ms` : `instant_ms(${expressionOf(filters.time, side)})`;
    conditions.push(`(${time} >= ${bind(values, fromMs)} AND ${time} < ${bind(values, endMs)})`);
  }
  return conditions.join(' AND ') || '1';
}

/** If more connections have the same name, the rest is left out. */
const sameNameMax = 100;

/** The connections that a filter names: one by its id, or all with a name. */
function connectionsNamed(sqlite: Database.Database, wanted: string): number[] {
  if (/^-?\d+$/.test(wanted)) return [Number(wanted)];
  const values: Values = {};
  const named = `SELECT id FROM connections WHERE ${alike(['name'], fold(wanted), values)} LIMIT ${sameNameMax}`;
  return sqlite.prepare<object, number>(named).pluck().all(values);
}

/** How many words are searched. Further ones are left out. */
const wordsMax = 8;

/** A condition for each word of a text: it is in one of the record's texts, or in the name of one of its connections. */
function wordConditions({ resource, texts, fields }: Browsable, q: string, side: Side, values: Values) {
  const own = texts.map(field => expressionOf(field, side));
  const words = fold(q).split(/\s+/).filter(Boolean).slice(0, wordsMax);
  return words.map(word => {
    if (side === 'history') return alike([...own, ...fields.flatMap(namesInVersion)], word, values, '%');
    const named = `(SELECT id FROM connections WHERE ${alike(['name'], word, values, '%')})`;
    const ofConnections = fields.flatMap(({ kind, column, ...field }) => {
      if (kind === 'connection') return [`t.${column} IN ${named}`];
      if (kind !== 'connections' || !('table' in field)) return [];
      const { ownerColumn } = listOf(resource);
      return [`t.id IN (SELECT ${ownerColumn} FROM ${field.table} WHERE ${column} IN ${named})`];
    });
    return `(${[alike(own, word, values, '%'), ...ofConnections].join(' OR ')})`;
  });
}

/** The names of connections that an ended version gives. */
function namesInVersion({ kind, name }: Field): string[] {
  if (kind === 'connection') return [`json_extract(h.record, '$.${name}.name')`];
  if (kind !== 'connections') return [];
  return [`(SELECT group_concat(value ->> 'name', char(10)) FROM json_each(h.record, '$.${name}'))`];
}

/**
 * A text without its case, in any script. It goes through the small letters, because only these make `ẞ` and `ß` equal. Letters and
 * their accents are composed, because files from a Mac have them apart.
 */
export function fold(text: string): string {
  return (mark.test(text) ? text.normalize('NFC') : text).toLowerCase().toUpperCase();
}

const mark = /\p{M}|[\u1100-\u11ff]/u;

/** Lets a connection compare texts without their case, because SQLite's own functions know only the letters A to Z. */
export function registerFold(sqlite: Database.Database): void {
  registerInstant(sqlite);
  sqlite.function('fold', { deterministic: true }, text => (typeof text === 'string' ? fold(text) : null));
}

/**
 * A condition: one of some texts is equal to another without its case. SQLite itself compares texts that are ASCII, because a call
 * out of it takes longer.
 *
 * @param texts SQL expressions.
 * @param wanted what `fold` returned.
 * @param around `%` if a text can have more before and after.
 */
function alike(texts: readonly string[], wanted: string, values: Values, around: '%' | '' = ''): string {
  const pattern = bind(values, `${around}${wanted.replace(/[\\%_]/g, '\\$&')}${around}`);
  const each = texts.map(
    text =>
      `iif(octet_length(${text}) = length(${text}), ${text}, fold(${text})) LIKE ${pattern} ESCAPE '\\'`,
  );
  return `coalesce(${each.join(' OR ') || '0'}, 0)`;
}

/** A record that was found by a search. */
export interface SearchHit extends FoundRecord {
  /** True if the service no longer lists it; `record` is then what it last said. */
  readonly isRemoved: boolean;
}

/**
 * Records with all words of a text in their texts or connections' names. Records with exactly this reference come first. Then come
 * connections, webhooks, collections and exports, the newest first, and at the end removed records. It reads all rows, because an
 * index of words would slow down each sync.
 */
export function searchRecords(
  sqlite: Database.Database,
  text: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): SearchHit[] {
  const wanted = fold(text.trim());
  if (wanted === '') return [];
  const values: Values = { offset, limit };
  const parts = browsables.flatMap((browsable, place) => {
    const { resource, table, references, filters } = browsable;
    const time = filters.time === undefined ? 'NULL' : `t.${filters.time.column}_ms`;
    const head = (side: Side) => {
      const exact = references.map(field => expressionOf(field, side));
      return `SELECT '${resource}' AS resource, ${alike(exact, wanted, values)} AS isExact, ${place} AS place`;
    };
    const words = (side: Side) => conditionOf(sqlite, browsable, { ...noFilter, q: text }, side, values);
    return [
      `${head('row')}, 0 AS isRemoved, ${time} AS time, t.id, NULL AS record FROM ${table} t WHERE ${words('row')}`,
      `${head('history')}, 1, h.valid_to_run_id, h.record_id, h.record FROM record_history h
       WHERE h.resource = '${resource}' AND h.ended_by = 'removal' AND NOT EXISTS (SELECT 1 FROM ${table} WHERE id = h.record_id)
         AND h.id = (SELECT n.id FROM record_history n WHERE n.resource = h.resource AND n.record_id = h.record_id
           ORDER BY n.valid_from_run_id DESC, n.id DESC LIMIT 1) AND ${words('history')}`,
    ];
  });
  return sqlite
    .prepare<object, Omit<FoundRecord, 'ownId'> & { readonly isRemoved: number }>(
      `SELECT resource, id, record, isRemoved FROM (${parts.join(' UNION ALL ')})
       ORDER BY isExact DESC, isRemoved, place DESC, time DESC, id DESC LIMIT @limit OFFSET @offset`,
    )
    .all(values)
    .map(hit =>
      hit.isRemoved === 1
        ? { ...hit, ownId: null, isRemoved: true }
        : { ...recordReader(sqlite, hit.resource)(hit.id), isRemoved: false },
    );
}

/** What a filter form offers by the names of its fields; users can also type others. */
export type Choices = ReturnType<typeof filterChoices>;

/** Names of connections, and kinds of the exports that were made last. */
export function filterChoices(sqlite: Database.Database) {
  const texts = (sql: string) => sqlite.prepare<[], string>(sql).pluck().all();
  const names = texts(
    "SELECT DISTINCT name FROM connections WHERE trim(name) <> '' ORDER BY lower(name) LIMIT 300",
  );
  const kind = texts(`SELECT DISTINCT kind FROM (
      SELECT source_document_kind AS kind FROM document_exports ORDER BY exported_at_ms DESC LIMIT 2000)
    WHERE kind IS NOT NULL ORDER BY 1 LIMIT 50`);
  return { source: names, destination: names, kind };
}
