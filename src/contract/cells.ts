import { isRawNumber } from './json.ts';
import { type Field, fieldsOf, type Scalar } from './lists.ts';

/**
 * The kind of value in a column of a file. An `instant` is a point in time. A `time` is a text that mostly is one, as the service sent
 * it. A `json` value is a text that is JSON.
 */
export type ColumnKind = 'integer' | 'real' | 'text' | 'instant' | 'time' | 'json' | 'texts' | 'integers';

/** A column of a file. If the format has types, the kind chooses the type. */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** A value of a row; an array if the field has several values. */
export type CellValue = Scalar | bigint | readonly Scalar[];

/** An item in the service's shape. */
export type Item = Readonly<Record<string, unknown>>;

/** A column of a field, and how to get its value from an item. */
export interface Cell extends Column {
  readonly label: string;
  /** True for the names of connections, which are beside their ids. */
  readonly isName: boolean;
  /** What does not fit the kind is JSON text. */
  of(item: Item): CellValue;
}

/** The columns of a field in tables and files. A connection has two: its id and its name. */
export function cellsOf({ kind, name, column, label, filter }: Field): Cell[] {
  const named = column.replace(/_id$/, '_name');
  const isName = false;
  switch (kind) {
    case 'text':
    case 'integer': {
      const as = filter === 'time' ? 'time' : kind;
      return [{ name: column, kind: as, label, isName, of: item => scalarOf(item[name]) }];
    }
    case 'texts':
      return [{ name, kind, label, isName, of: item => arrayOf(item[name]) }];
    case 'connection':
      return [
        {
          name: column,
          kind: 'integer',
          label: `${label} id`,
          isName,
          of: item => memberOf(item[name], 'id'),
        },
        { name: named, kind: 'text', label, isName: true, of: item => memberOf(item[name], 'name') },
      ];
    case 'connections':
      return [
        {
          name: `${column}s`,
          kind: 'integers',
          label: `${label} ids`,
          isName,
          of: item => membersOf(item[name], 'id'),
        },
        { name: `${named}s`, kind: 'texts', label, isName: true, of: item => membersOf(item[name], 'name') },
      ];
  }
}

/** The members of an item that have no column, as JSON; null if there are none. */
export function furtherFields(resource: string, item: Item): string | null {
  const known = new Set(['id', ...fieldsOf(resource).map(({ name }) => name)]);
  const rest = Object.entries(item).filter(([name]) => !known.has(name));
  return rest.length === 0 ? null : JSON.stringify(Object.fromEntries(rest));
}

/**
 * The names of the fields in which two versions of a record differ. Null is the same as missing, and a connection counts by its id: if it
 * is only called otherwise, the record did not change.
 */
export function changedFields(resource: string, before: Item, after: Item): string[] {
  const references = new Set(
    fieldsOf(resource).flatMap(({ kind, name }) =>
      kind === 'connection' || kind === 'connections' ? [name] : [],
    ),
  );
  const textOf = (item: Item, name: string) => {
    const value = item[name] ?? null;
    if (!references.has(name)) return JSON.stringify(value);
    return JSON.stringify(Array.isArray(value) ? value.map(idOf) : idOf(value));
  };
  return [...new Set([...Object.keys(after), ...Object.keys(before)])].filter(
    name => textOf(before, name) !== textOf(after, name),
  );
}

function idOf(reference: unknown): unknown {
  return isItem(reference) ? (reference.id ?? null) : reference;
}

/** True for an object that JSON has as one. */
export function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function scalarOf(value: unknown): CellValue {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}

function arrayOf(value: unknown): CellValue {
  return Array.isArray(value) ? value.map(each => scalarOf(each) as Scalar) : scalarOf(value);
}

function memberOf(reference: unknown, name: 'id' | 'name'): CellValue {
  return isItem(reference) ? scalarOf(reference[name]) : null;
}

function membersOf(references: unknown, name: 'id' | 'name'): CellValue {
  if (!Array.isArray(references)) return scalarOf(references);
  return references.map(each => memberOf(each, name) as Scalar);
}
