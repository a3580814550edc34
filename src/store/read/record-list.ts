// All by hand: the filter chooses the table, the conditions and the order.
import type Database from 'better-sqlite3';
import { type Browsable, browsableOf, type ListOrder, type RecordFilter } from '../../contract/browsable.ts';
import {
  type AllowedIndex,
  allOf,
  conditionsOf,
  expressionOf,
  timeOf,
  wordConditions,
} from './record-conditions.ts';
import { type Condition, wordsOf } from './words.ts';

/** Selects some records of a list, and where they begin. */
export interface ListRequest {
  readonly resource: string;
  readonly filter: RecordFilter;
  readonly order: ListOrder;
  readonly limit: number;
  /** How many records to skip from the beginning, or the place after which, or before which, the page is. */
  readonly from: { readonly offset: number } | { readonly after: Place } | { readonly before: Place };
}

/** The values by which a record is sorted: texts, numbers and nulls. */
export type Place = readonly (string | number | null)[];

/** A record that was found. */
export interface FoundRow {
  readonly id: number;
  readonly place: Place;
}

/** The result of a search, in the requested order. */
export interface FoundRows {
  readonly rows: readonly FoundRow[];
  /** How many records match the filter, on all pages. */
  readonly count: number;
  readonly hasBefore: boolean;
  readonly hasAfter: boolean;
}

/** Rows whose words are checked at once. It takes some ten milliseconds, in which a server answers nobody else. */
const rowsPerTurn = 20_000;

/**
 * Finds the records of one page. Without words this is a look-up in an index, or at most one pass over the rows, which takes a
 * tenth of a second for a million. Words are searched in every row, and others have their turn in between.
 */
export function* findRows(sqlite: Database.Database, request: ListRequest): Generator<void, FoundRows> {
  const { filter, order, limit, from } = request;
  const browsable = browsableOf(request.resource);
  const keys = keysOf(browsable, order.sort);
  const isBackwards = 'before' in from;
  const place = 'after' in from ? from.after : 'before' in from ? from.before : null;
  const offset = 'offset' in from ? from.offset : 0;
  const isDescending = order.isDescending !== isBackwards;
  const words = wordConditions(browsable, filter.q, 'row');
  const index = words.length > 0 ? 'none' : indexFor(browsable, order);
  const conditions = conditionsOf(sqlite, browsable, filter, 'row', index);
  if (conditions === null) return { rows: [], count: 0, hasBefore: false, hasAfter: false };
  const query = { table: browsable.table, keys, isDescending };
  const wanted = allOf([...conditions, ...(place === null ? [] : [afterPlace(keys, place, isDescending)])]);
  const found =
    words.length === 0
      ? {
          rows: select(sqlite, query, wanted, limit + 1, offset),
          count: countOf(sqlite, browsable, filter),
        }
      : yield* inTurns(sqlite, query, { conditions, place, words, limit: offset + limit + 1 });
  const all = words.length === 0 ? found.rows : found.rows.slice(offset);
  const rows = all.slice(0, limit);
  const hasMore = all.length > limit;
  return {
    rows: isBackwards ? rows.toReversed() : rows,
    count: found.count,
    hasBefore: isBackwards ? hasMore : place !== null || offset > 0,
    hasAfter: isBackwards || hasMore,
  };
}

/** Every record that matches, in order, one at a time; null in place of one without the words, so that others have their turn. */
export function* everyRow(
  sqlite: Database.Database,
  { resource, filter, order }: Pick<ListRequest, 'resource' | 'filter' | 'order'>,
): Generator<number | null> {
  const browsable = browsableOf(resource);
  const conditions = conditionsOf(sqlite, browsable, filter, 'row', indexFor(browsable, order));
  if (conditions === null) return;
  const { sql, values } = allOf(conditions);
  const keys = keysOf(browsable, order.sort);
  const ids = sqlite
    .prepare<(string | number)[], number>(
      `SELECT t.id FROM ${browsable.table} t WHERE ${sql} ORDER BY ${orderBy(keys, order.isDescending)}`,
    )
    .pluck();
  const words = allOf(wordConditions(browsable, filter.q, 'row'));
  const fits = sqlite
    .prepare<(string | number)[], number>(`SELECT ${words.sql} FROM ${browsable.table} t WHERE t.id = ?`)
    .pluck();
  const hasWords = wordsOf(filter.q).length > 0;
  for (const id of ids.iterate(...values)) yield !hasWords || fits.get(...words.values, id) === 1 ? id : null;
}

/** How many values a place has in a list with this sort order. */
export function placeLength(browsable: Browsable, sort: string): number {
  return keysOf(browsable, sort).length;
}

function indexFor({ filters }: Browsable, { sort }: ListOrder): AllowedIndex {
  return sort === filters.time?.name ? 'time' : 'any';
}

interface Query {
  readonly table: string;
  readonly keys: readonly string[];
  readonly isDescending: boolean;
}

/** SQL expressions that put the rows in order, the last one the id. */
function keysOf({ sorts, filters }: Browsable, sort: string): string[] {
  const field = sorts.find(({ name }) => name === sort);
  if (field === undefined) return ['t.id'];
  const expression = expressionOf(field, 'row');
  // This is the order of the index, so SQLite does not sort the rows.
  if (field === filters.time) return [timeOf(field, 'row'), 'hex(t._content)', 't.id'];
  return [`lower(${expression})`, 't.id'];
}

/** An index contains the column and not its digits. Both have the same order. */
const sorted = (key: string) => key.replace(/^hex\((.*)\)$/, '$1');

function orderBy(keys: readonly string[], isDescending: boolean): string {
  return keys.map(key => `${sorted(key)}${isDescending ? ' DESC' : ''}`).join(', ');
}

type Bound = string | number;

function select(
  sqlite: Database.Database,
  { table, keys, isDescending }: Query,
  { sql, values }: Condition,
  limit: number,
  offset = 0,
): FoundRow[] {
  return sqlite
    .prepare<Bound[], Place>(
      `SELECT ${keys.join(', ')} FROM ${table} t WHERE ${sql} ORDER BY ${orderBy(keys, isDescending)} LIMIT ? OFFSET ?`,
    )
    .raw()
    .all(...values, limit, offset)
    .map(place => ({ id: place.at(-1) as number, place }));
}

/** Only the first key can be null, and null comes before all other values. */
function afterPlace(keys: readonly string[], [key = null, ...rest]: Place, isDescending: boolean): Condition {
  const sign = isDescending ? '<' : '>';
  const [first = '', ...others] = keys;
  const next = `(${others.map(sorted).join(', ')}) ${sign} (${others.map(each => (each === sorted(each) ? '?' : 'unhex(?)')).join(', ')})`;
  const values = rest.filter(value => value !== null);
  if (others.length === 0) return { sql: `${first} ${sign} ?`, values: key === null ? [] : [key] };
  if (key === null)
    return {
      sql: isDescending ? `${first} IS NULL AND ${next}` : `(${first} IS NOT NULL OR ${next})`,
      values,
    };
  const later = `(${first} ${sign} ? OR ${first} = ? AND ${next}${isDescending ? ` OR ${first} IS NULL` : ''})`;
  return { sql: later, values: [key, key, ...values] };
}

/**
 * How many records match. A single connection is counted by its own index, everything else by the one that has all columns of the
 * filters.
 */
function countOf(sqlite: Database.Database, browsable: Browsable, filter: RecordFilter): number {
  const given = Object.values({ ...filter, q: null }).filter(value => value !== null);
  const index = given.length > 1 && browsable.filters.time !== undefined ? 'time' : 'any';
  const { sql, values } = allOf(conditionsOf(sqlite, browsable, filter, 'row', index) ?? []);
  const where = given.length === 0 ? '' : `WHERE ${sql}`;
  return Number(
    sqlite
      .prepare<Bound[]>(`SELECT count(*) FROM ${browsable.table} t ${where}`)
      .pluck()
      .get(...values),
  );
}

/** Searches the rows for words, some rows at a time, and keeps the first matches after the place. It counts all matches. */
function* inTurns(
  sqlite: Database.Database,
  query: Query,
  {
    conditions,
    place,
    words,
    limit,
  }: {
    readonly conditions: readonly Condition[];
    readonly place: Place | null;
    readonly words: readonly Condition[];
    readonly limit: number;
  },
): Generator<void, { rows: FoundRow[]; count: number }> {
  let rows: FoundRow[] = [];
  let count = 0;
  const isAfter =
    place === null ? { sql: '1', values: [] } : afterPlace(query.keys, place, query.isDescending);
  const { sql, values } = allOf([...conditions, { sql: 't.id BETWEEN ? AND ?', values: [] }, ...words]);
  const bounds = conditions.flatMap(each => each.values);
  const statement = sqlite
    .prepare<Bound[], [number, number, ...(string | number | null)[]]>(
      `SELECT count(*) OVER (), ${isAfter.sql} AS is_after, ${query.keys.join(', ')}
       FROM ${query.table} t WHERE ${sql} ORDER BY is_after DESC, ${orderBy(query.keys, query.isDescending)} LIMIT ?`,
    )
    .raw();
  for (const [low, high] of turnsOf(sqlite, query.table)) {
    const found = statement.all(
      ...isAfter.values,
      ...bounds,
      low,
      high,
      ...values.slice(bounds.length),
      limit,
    );
    count += found[0]?.[0] ?? 0;
    const later = found
      .filter(row => row[1] === 1)
      .map(([, , ...keys]) => ({ id: keys.at(-1) as number, place: keys }));
    if (later.length > 0)
      rows = [...rows, ...later]
        .sort((a, b) => comparePlaces(a.place, b.place) * (query.isDescending ? -1 : 1))
        .slice(0, limit);
    yield;
  }
  return { rows, count };
}

/** The bounds of some ids at a time, from the newest row to the oldest. */
export function* turnsOf(
  sqlite: Database.Database,
  table: string,
  rowCount = rowsPerTurn,
): Generator<[low: number, high: number]> {
  const lowestOfTurn = sqlite
    .prepare<[number, number], number | null>(
      `SELECT min(id) FROM (SELECT id FROM ${table} WHERE id <= ? ORDER BY id DESC LIMIT ?)`,
    )
    .pluck();
  for (let high = Number.MAX_SAFE_INTEGER; ; ) {
    const low = lowestOfTurn.get(high, rowCount) ?? null;
    if (low === null) return;
    yield [low, high];
    high = low - 1;
  }
}

/** Compares as SQLite does: nulls first, then numbers, then texts by their bytes. */
function comparePlaces(left: Place, right: Place): number {
  for (const [at, a] of left.entries()) {
    const b = right[at] ?? null;
    if (a === b) continue;
    if (a === null || b === null) return a === null ? -1 : 1;
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
  }
  return 0;
}
