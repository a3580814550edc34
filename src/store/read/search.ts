import type Database from 'better-sqlite3';
import { type Browsable, browsables } from '../../contract/browsable.ts';
import { allOf, expressionOf, wordConditions } from './record-conditions.ts';
import { turnsOf } from './record-list.ts';
import { type Condition, fold, hasWord, isText, wordsOf } from './words.ts';

/** A record that was found. */
export interface SearchHit {
  readonly resource: string;
  /** What the list is called. */
  readonly list: string;
  readonly recordId: number;
  /** Its title or name; null if it has none. */
  readonly title: string | null;
  /** What else tells it from others: references, version, time. */
  readonly details: readonly string[];
  /** True if the service no longer lists it. */
  readonly isRemoved: boolean;
}

/** What a search came to. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** How many records were found: there may be more than are told. */
  readonly hitCount: number;
  /** False if the time was over before everything was looked at. */
  readonly isWhole: boolean;
}

/** How far a search may go. */
export interface SearchBounds {
  /** Hits that are passed over; none if left out. */
  readonly skip?: number;
  readonly hitsMax: number;
  /** How long it goes on, in milliseconds. */
  readonly timeMsMax: number;
}

/** A table that is looked through; the first hits of all tables together are told. */
interface Place {
  readonly table: string;
  /** Selects what a `Row` has, but for the count. */
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
  /** The place of its table among all. */
  readonly at: number;
}

/**
 * Finds records whose title and references have all words of a text, in any case: first those of which it is a reference, to the
 * letter. Then come connections, webhooks, collections and exports, those made last first, and at the end what was removed. No index
 * is kept for it, because that would cost each sync: it goes through the rows, and yields now and then, so that a server can answer
 * others meanwhile.
 */
export function* search(
  sqlite: Database.Database,
  text: string,
  { skip = 0, hitsMax, timeMsMax }: SearchBounds,
): Generator<void, SearchResult> {
  const words = wordsOf(text);
  const wanted = fold(text.trim());
  // The short lists first: their hits are soon found.
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

/** The first hits among some rows of a table at a time, from the row that came last to the first; each says how many there are. */
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

/** Rows that are looked at in one go: a few milliseconds, in which a server answers no one else. */
const rowsPerTurn = 10_000;
