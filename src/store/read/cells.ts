import { isObject } from '../../contract/json.ts';
import { type Field, fieldsOf, type Scalar } from '../../contract/lists.ts';

/** The kind of value in a file's column. An `instant` is a point in time, a `time` a text that mostly is one, a `json` a text in JSON. */
export type ColumnKind = 'integer' | 'real' | 'text' | 'instant' | 'time' | 'json' | 'texts' | 'integers';

/** A column of a file. If the format has types, the kind chooses the type. */
export type Column = { readonly name: string; readonly kind: ColumnKind };

/** A column of a result, and the kind of its declared type; null if it has none. */
export type ResultColumn = Column & { readonly declared: 'integer' | 'real' | 'text' | null };

/** A value of a row; an array if the field has several values. */
export type CellValue = Scalar | bigint | readonly Scalar[];

/** An item in the service's shape. */
export type Item = Readonly<Record<string, unknown>>;

interface Cell extends Column {
  /** True for the names of connections, which are beside their ids. */
  readonly isName: boolean;
  /** What does not fit the kind is JSON text. */
  of(item: Item): CellValue;
}

/** The columns of a field in tables and files, and how to get their values. A connection has two: its id and its name. */
export function cellsOf({ kind, name, column, filter }: Field): Cell[] {
  const isMany = kind === 'texts' || kind === 'connections';
  const reader = (scalarIn: (value: unknown) => Scalar) => (item: Item) => {
    const value = item[name];
    return isMany && Array.isArray(value) ? value.map(scalarIn) : scalarIn(value);
  };
  if (kind === 'text' || kind === 'integer' || kind === 'texts') {
    const as = filter === 'time' ? 'time' : kind;
    return [{ name: isMany ? name : column, kind: as, isName: false, of: reader(scalarOf) }];
  }
  const member = (which: 'id' | 'name') =>
    reader(reference => (isObject(reference) ? scalarOf(reference[which]) : null));
  const s = isMany ? 's' : '';
  const named = `${column.replace(/_id$/, '_name')}${s}`;
  return [
    { name: `${column}${s}`, kind: `integer${s}`, isName: false, of: member('id') },
    { name: named, kind: `text${s}`, isName: true, of: member('name') },
  ];
}

/** A value in a cell: JSON text if it is no text or number. */
export function scalarOf(value: unknown): Scalar {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}

/** The members of an item that have no column, as JSON; null if there are none. */
export function furtherJson(resource: string, item: Item): string | null {
  const known = new Set(['id', ...fieldsOf(resource).map(({ name }) => name)]);
  const rest = Object.entries(item).filter(([name]) => !known.has(name));
  return rest.length === 0 ? null : JSON.stringify(Object.fromEntries(rest));
}

/** The names of the fields in which two versions of a record differ. Null is the same as missing, and a connection counts by its id. */
export function changedFields(resource: string, before: Item, after: Item): string[] {
  const references = fieldsOf(resource).filter(({ kind }) => kind.startsWith('connection'));
  const idsIn = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(idsIn);
    return isObject(value) ? (value.id ?? null) : value;
  };
  const textOf = (item: Item, name: string) => {
    const value = item[name] ?? null;
    return JSON.stringify(references.some(field => field.name === name) ? idsIn(value) : value);
  };
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].filter(name => textOf(before, name) !== textOf(after, name));
}
