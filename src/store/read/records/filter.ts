// The texts are SQL, because a filter chooses the conditions.

import { type Field, listOf } from '../../../contract/lists.ts';
import { instantMs } from '../../../contract/time.ts';
import { allValues, type Sqlite } from '../../tables/ask.ts';
import { registerInstant } from '../../tables/list-table.ts';
import type { Browsable, RecordFilter } from '../browsable.ts';

/** The values that a statement binds, by name. */
export type Values = Record<string, string | number>;

function bind(values: Values, value: string | number): string {
  const name = `value${Object.keys(values).length}`;
  values[name] = value;
  return `@${name}`;
}

/** What is searched: rows of a list as `t`, or ended versions as `h`. */
export type Side = 'row' | 'history';

/** The SQL expression of a field; for a connection, its id. */
export function expressionOf({ kind, name, column }: Field, side: Side): string {
  if (side === 'row') return `t.${column}`;
  return `json_extract(h.record, '$.${name}${kind === 'connection' ? '.id' : ''}')`;
}

/** The condition of a filter; it adds to `values` what it binds. `isByTime` allows only the index by time, which has all columns. */
export function conditionOf(
  sqlite: Sqlite,
  browsable: Browsable,
  { from, to, q, isByPart = false, ...filter }: RecordFilter,
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
    const all = field.kind === 'connection' ? connectionsNamed(sqlite, wanted, isByPart) : [wanted];
    // The plus keeps SQLite from using another index.
    const plus = isByTime && filters.time !== undefined ? '+' : '';
    const places = all.map(each => bind(values, each)).join(', ');
    conditions.push(`${plus}${expressionOf(field, side)} IN (${places})`);
  }
  const span = spanOf({ from, to });
  if (span !== null) {
    if (filters.time === undefined) return '0';
    const text = expressionOf(filters.time, side);
    const time = side === 'row' ? `${text}_ms` : `instant_ms(${text})`;
    conditions.push(`(${time} >= ${bind(values, span.fromMs)} AND ${time} < ${bind(values, span.endMs)})`);
  }
  return conditions.join(' AND ') || '1';
}

/** No time is later, or earlier by its negative. */
const lastMs = 8.64e15;
const dateLength = 'YYYY-MM-DD'.length;

/** The time that a filter means, in milliseconds since 1970, without its end; null if it means all. Its date or second counts whole. */
export function spanOf({ from, to }: Pick<RecordFilter, 'from' | 'to'>) {
  if (from === null && to === null) return null;
  const wholeMs = to?.length === dateLength ? 86_400_000 : 1_000;
  return {
    fromMs: from === null ? -lastMs : (instantMs(from) ?? 0),
    endMs: to === null ? lastMs : (instantMs(to) ?? 0) + wholeMs,
  };
}

/** If more connections have the same name, the rest is left out. */
const sameNameMax = 100;

/** The connections that a filter names: one by its id, or all with a name; by a part of it only if none has that name. */
function connectionsNamed(sqlite: Sqlite, wanted: string, isByPart: boolean): number[] {
  if (/^-?\d+$/.test(wanted)) return [Number(wanted)];
  const named = (around: '%' | '') => {
    const values: Values = {};
    const query = `SELECT id FROM connections WHERE ${alike(['name'], fold(wanted), values, around)} LIMIT ${sameNameMax}`;
    return allValues<number>(sqlite, query, values);
  };
  const exact = named('');
  // A connection without a name is offered as this.
  const id = /^connection (-?\d+)$/.exec(wanted)?.[1];
  if (exact.length === 0 && id !== undefined) return [Number(id)];
  return exact.length > 0 || !isByPart ? exact : named('%');
}

const wordsMax = 8;

function wordConditions({ resource, texts, fields }: Browsable, q: string, side: Side, values: Values) {
  const own = texts.map(field => expressionOf(field, side));
  const words = fold(q).split(/\s+/).filter(Boolean).slice(0, wordsMax);
  return words.map(word => {
    if (side === 'history') return alike([...own, ...fields.flatMap(namesInVersion)], word, values, '%');
    const named = `(SELECT id FROM connections WHERE ${alike(['name'], word, values, '%')})`;
    const ofConnections = fields.flatMap(field => {
      if (field.kind === 'connection') return [`t.${field.column} IN ${named}`];
      if (field.kind !== 'connections') return [];
      const owners = `SELECT ${listOf(resource).ownerColumn} FROM ${field.table}`;
      return [`t.id IN (${owners} WHERE ${field.column} IN ${named})`];
    });
    return `(${[alike(own, word, values, '%'), ...ofConnections].join(' OR ')})`;
  });
}

function namesInVersion({ kind, name }: Field): string[] {
  if (kind === 'connection') return [`json_extract(h.record, '$.${name}.name')`];
  if (kind !== 'connections') return [];
  return [`(SELECT group_concat(value ->> 'name', char(10)) FROM json_each(h.record, '$.${name}'))`];
}

/** A text without its case in any script, through small letters, so that `ẞ` equals `ß`. Accents are composed: a Mac has them apart. */
export function fold(text: string): string {
  return (mark.test(text) ? text.normalize('NFC') : text).toLowerCase().toUpperCase();
}

const mark = /\p{M}|[\u1100-\u11ff]/u;

/** Lets a connection compare texts without their case, because SQLite's own functions know only the letters A to Z. */
export function registerFold(sqlite: Sqlite): void {
  registerInstant(sqlite);
  sqlite.function('fold', { deterministic: true }, text => (typeof text === 'string' ? fold(text) : null));
}

/** A condition: one of some SQL expressions is what `fold` returned, or has it inside. SQLite itself compares ASCII: calls take longer. */
export function alike(texts: readonly string[], wanted: string, values: Values, around: '%' | '' = '') {
  const pattern = bind(values, `${around}${wanted.replace(/[\\%_]/g, '\\$&')}${around}`);
  const folded = (text: string) => `iif(octet_length(${text}) = length(${text}), ${text}, fold(${text}))`;
  const each = texts.map(text => `${folded(text)} LIKE ${pattern} ESCAPE '\\'`);
  return `coalesce(${each.join(' OR ') || '0'}, 0)`;
}
