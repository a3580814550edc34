import type Database from 'better-sqlite3';
import type { Browsable, RecordFilter } from '../../contract/browsable.ts';
import type { Field } from '../../contract/lists.ts';
import { instantMs } from '../../contract/time.ts';
import { type Condition, fold, hasWord, isText, wordsOf } from './words.ts';

/** The table that is searched: rows of a list as `t`, or ended versions as `h`. */
type Side = 'row' | 'history';

/** The SQL expression of a field; for a connection, its id. */
export function expressionOf({ kind, name, column }: Field, side: Side): string {
  if (side === 'row') return `t.${column}`;
  return `json_extract(h.record, '$.${name}${kind === 'connection' ? '.id' : ''}')`;
}

/** The SQL expression of a time, in milliseconds since 1970; null if the text is none. */
export function timeOf(field: Field, side: Side): string {
  return side === 'row' ? `t.${field.column}_ms` : `instant_ms(${expressionOf(field, side)})`;
}

/** The index that SQLite can use: `any`; `time`, only the one by time, which has all columns of the filters; or `none`, to go by ids. */
export type AllowedIndex = 'any' | 'time' | 'none';

/** The conditions of a filter for the records of a list, without its words; null if no record can match. */
export function conditionsOf(
  sqlite: Database.Database,
  { filters }: Browsable,
  filter: Omit<RecordFilter, 'q'>,
  side: Side,
  index: AllowedIndex = 'any',
): Condition[] | null {
  const conditions: Condition[] = [];
  for (const [name, wanted] of [
    ['source', filter.source],
    ['destination', filter.destination],
    ['kind', filter.kind],
  ] as const) {
    if (wanted === null) continue;
    const field = filters[name];
    if (field === undefined) return null;
    const values = field.kind === 'connection' ? connectionsOf(sqlite, wanted) : [wanted];
    // The plus keeps SQLite from using another index.
    const column = `${index === 'any' ? '' : '+'}${expressionOf(field, side)}`;
    conditions.push({ sql: `${column} IN (${values.map(() => '?').join(', ')})`, values });
  }
  const { from, to } = filter;
  if (filters.time === undefined) {
    if (from !== null || to !== null) return null;
  } else {
    const time = `${index === 'none' ? '+' : ''}${timeOf(filters.time, side)}`;
    const bounds = [
      from === null ? -lastMs : (instantMs(from) ?? lastMs),
      to === null ? lastMs : (instantMs(to) ?? -lastMs) + (to.length === dateLength ? msPerDay : msPerSecond),
    ];
    if (from !== null || to !== null)
      conditions.push({ sql: `(${time} >= ? AND ${time} < ?)`, values: bounds });
  }
  return conditions;
}

/** No time is later, or earlier by its negative. */
const lastMs = 8.64e15;
const dateLength = 'YYYY-MM-DD'.length;
const msPerSecond = 1_000;
const msPerDay = 24 * 60 * 60 * msPerSecond;

/** One condition for each word of the search text. */
export function wordConditions({ texts }: Browsable, q: string, side: Side): Condition[] {
  const expressions = texts.map(field => expressionOf(field, side));
  return wordsOf(q).map(word => hasWord(expressions, word));
}

/** All conditions as one; true if there are none. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND ') || '1',
    values: conditions.flatMap(({ values }) => values),
  };
}

/** If more connections have the same name, the rest is left out. */
const sameNameMax = 100;

/** The connections that a filter names: one by its id, or all with a name. */
function connectionsOf(sqlite: Database.Database, wanted: string): number[] {
  if (/^-?\d+$/.test(wanted)) return [Number(wanted)];
  const { sql, values } = isText(['name'], fold(wanted));
  return (
    sqlite
      // By hand: the condition is a text.
      .prepare<(string | number)[], number>(`SELECT id FROM connections WHERE ${sql} LIMIT ${sameNameMax}`)
      .pluck()
      .all(...values)
  );
}
