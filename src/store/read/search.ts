import type Database from 'better-sqlite3';
import { type Browsable, browsables } from '../../contract/browsable.ts';
import { allOf, expressionOf, wordConditions } from './record-conditions.ts';
import { turnsOf } from './record-list.ts';
import { type Condition, fold, hasWord, isText, wordsOf } from './words.ts';

/** A record that was found. */
export interface SearchHit {
  readonly resource: string;
  /** The name of the list. */
  readonly list: string;
  readonly recordId: number;
  /** Its title or name; null if it has none. */
  readonly title: string | null;
  /** Further details by which a reader recognizes it: references, version, time. */
  readonly details: readonly string[];
  /** True if the service no longer lists it. */
  readonly isRemoved: boolean;
}

/** The result of a search. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** How many records were found. `hits` can have fewer. */
  readonly hitCount: number;
  /** False if the time was over before everything was searched. */
  readonly isWhole: boolean;
}

/** The limits of a search. */
export interface SearchBounds {
  /** Hits to skip; none if left out. */
  readonly skip?: number;
  readonly hitsMax: number;
  /** The most time that it takes, in milliseconds. */
  readonly timeMsMax: number;
}

/** A table that is searched. The first hits of all tables together are returned. */
interface Place {
  readonly table: string;
  /** Selects the columns of a `Row`, without the count. */
  readonly columns: string;
  readonly conditions: readonly Condition[];
  /** The values that the columns bind. */
  readonly values: readonly (string | number)[];
}

type Row = readonly [
  found: number,
  isExact: number,
  order: string | null,
  id: number,
  resource: string,
  title: string | null,
  ...details: (string | null)[],
];

interface Ranked {
  readonly row: Row;
  /** The position of its table among all. */
  readonly at: number;
}

/**
 * Finds records whose title and references have all words of a text, in any case. Records with exactly this reference come first.
 * Then come connections, webhooks, collections and exports, the newest first, and at the end removed records. It has no index,
 * because that would slow down each sync. It reads all rows, and yields now and then, so that a server can answer others meanwhile.
 */
export function* search(
  sqlite: Database.Database,
  text: string,
  { skip = 0, hitsMax, timeMsMax }: SearchBounds,
): Generator<void, SearchResult> {
  const words = wordsOf(text);
  const wanted = fold(text.trim());
  // The short lists first, because their hits are found quickly.
  const standing = browsables.toReversed().map(browsable => rowsOf(browsable, text, wanted));
  const places = words.length === 0 ? [] : [...standing, removedRecords(words, wanted)];
  let best: Ranked[] = [];
  let hitCount = 0;
  let isLate = false;
  const endsAtMs = performance.now() + timeMsMax;
  for (const [at, place] of places.entries()) {
    for (const rows of slices(sqlite, place, skip + hitsMax)) {
      if (isLate) return { hits: hitsOf(best, skip, standing.length), hitCount, isWhole: false };
      hitCount += rows[0]?.[0] ?? 0;
      if (rows.length > 0)
        best = [...best, ...rows.map(row => ({ row, at }))].sort(byRank).slice(0, skip + hitsMax);
      isLate = performance.now() > endsAtMs;
      yield;
    }
  }
  return { hits: hitsOf(best, skip, standing.length), hitCount, isWhole: true };
}

function byRank(a: Ranked, b: Ranked): number {
  const [[, exactA, orderA, idA], [, exactB, orderB, idB]] = [a.row, b.row];
  if (exactA !== exactB) return exactB - exactA;
  if (a.at !== b.at) return a.at - b.at;
  if (orderA === orderB) return idB - idA;
  if (orderA === null || orderB === null) return orderA === null ? 1 : -1;
  return orderA < orderB ? 1 : -1;
}

function hitsOf(best: readonly Ranked[], skip: number, removedAt: number): SearchHit[] {
  return best.slice(skip).map(({ row: [, , , recordId, resource, title, ...details], at }) => ({
    resource,
    list: browsables.find(each => each.resource === resource)?.title ?? resource,
    recordId,
    title,
    details: details.filter(detail => detail !== null && detail !== ''),
    isRemoved: at === removedAt,
  })) as SearchHit[];
}

/** The rows of one list. */
function rowsOf(browsable: Browsable, text: string, wanted: string): Place {
  const { resource, table, texts, references, filters } = browsable;
  const column = (field: Browsable['texts'][number]) => expressionOf(field, 'row');
  const exact = isText(references.map(column), wanted);
  const time = filters.time === undefined ? 'NULL' : column(filters.time);
  const details = [...texts.slice(1).map(column), ...(filters.time === undefined ? [] : [time])];
  return {
    table,
    columns: [exact.sql, time, 't.id', `'${resource}'`, ...texts.slice(0, 1).map(column), ...details].join(
      ', ',
    ),
    values: exact.values,
    conditions: wordConditions(browsable, text, 'row'),
  };
}

/** The newest version of each record that is gone. */
function removedRecords(words: readonly string[], wanted: string): Place {
  const member = (name: string) => `json_extract(t.record, '$.${name}')`;
  const namesOf = (pick: (browsable: Browsable) => Browsable['texts']) => [
    ...new Set(browsables.flatMap(pick).map(({ name }) => name)),
  ];
  const texts = namesOf(browsable => browsable.texts);
  const titles = namesOf(browsable => browsable.texts.slice(0, 1)).map(member);
  const references = namesOf(browsable => browsable.references).map(member);
  const [time = 'NULL'] = namesOf(({ filters: { time } }) => (time === undefined ? [] : [time])).map(member);
  const exact = isText(references, wanted);
  const stands = browsables.map(
    ({ resource, table }) =>
      `WHEN '${resource}' THEN EXISTS (SELECT 1 FROM ${table} s WHERE s.id = t.record_id)`,
  );
  const isGone = `t.ended_by = 'removal' AND NOT CASE t.resource ${stands.join(' ')} END
    AND NOT EXISTS (SELECT 1 FROM record_history n WHERE n.resource = t.resource AND n.record_id = t.record_id
      AND (n.valid_from_run_id, n.id) > (t.valid_from_run_id, t.id))`;
  return {
    table: 'record_history',
    columns: [
      exact.sql,
      time,
      't.record_id',
      't.resource',
      `coalesce(${titles.join(', ')})`,
      ...references,
      time,
    ].join(', '),
    values: exact.values,
    conditions: [{ sql: isGone, values: [] }, ...words.map(word => hasWord(texts.map(member), word))],
  };
}

/** The first hits among some rows of a table at a time, from the newest row to the oldest. Each slice also has the number of its hits. */
function* slices(
  sqlite: Database.Database,
  { table, columns, values, conditions }: Place,
  hitsMax: number,
): Generator<Row[]> {
  const fits = allOf(conditions);
  const select = sqlite
    // By hand: a window function.
    .prepare<(string | number)[], Row>(
      `SELECT count(*) OVER (), ${columns} FROM ${table} t
       WHERE t.id BETWEEN ? AND ? AND ${fits.sql} ORDER BY 2 DESC, 3 DESC, 4 DESC LIMIT ?`,
    )
    .raw();
  for (const [low, high] of turnsOf(sqlite, table, rowsPerTurn))
    yield select.all(...values, low, high, ...fits.values, hitsMax);
}

/** Rows that are read at once. It takes a few milliseconds, in which a server answers nobody else. */
const rowsPerTurn = 10_000;
