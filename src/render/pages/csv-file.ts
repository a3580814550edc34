import type { Browsable } from '../../contract/browsable.ts';
import { type Field, lists } from '../../contract/lists.ts';
import type { BrowsedRecord } from '../../store/read/browse-reader.ts';
import type { Change } from '../../store/read/change.ts';
import type { ExportColumn, ExportValue } from '../../store/read/export-tables.ts';
import { shownEndpoint } from '../endpoint.ts';
import { CsvEncoder } from '../export-formats.ts';
import { flatChanges } from '../flat-changes.ts';

// Files for people, from a browser: written for a spreadsheet, and without the secrets that pages hide.

type Item = Readonly<Record<string, unknown>>;

interface Column extends ExportColumn {
  readonly of: (item: Item, id: number) => ExportValue;
}

/** Records as comma-separated values, piece by piece; an empty piece means a record that does not fit. */
export function* recordFile(browsable: Browsable, items: Iterable<BrowsedRecord | null>): Generator<string> {
  const columns = columnsOf(browsable);
  yield* encoded(columns, items, ({ id, record }) => {
    const item = JSON.parse(record) as Item;
    return columns.map(column => column.of(item, id));
  });
}

/** Changes in the same way, flat: each field before and after. */
export function* changeFile(changes: Iterable<Change | null>): Generator<string> {
  const { columns, rowOf } = flatChanges();
  const kept = columns.map(({ name }) => !/^(before|after)_extra$/.test(name));
  const isEndpoint = columns.map(({ name }) => /_endpoint$/.test(name));
  yield* encoded(
    columns.filter((_, at) => kept[at]),
    changes,
    change =>
      rowOf(change)
        .map((value, at) => (isEndpoint[at] && typeof value === 'string' ? shownEndpoint(value) : value))
        .filter((_, at) => kept[at]),
  );
}

function* encoded<T>(
  columns: readonly ExportColumn[],
  items: Iterable<T | null>,
  rowOf: (item: T) => readonly ExportValue[],
): Generator<string> {
  let text = '';
  const encoder = new CsvEncoder(
    columns,
    piece => {
      text += piece;
    },
    true,
  );
  for (const item of items) {
    if (item !== null) encoder.add(rowOf(item));
    yield text;
    text = '';
  }
  encoder.finish();
  yield text;
}

function columnsOf({ resource, idName, filters }: Browsable): Column[] {
  const fields = lists.find(list => list.resource === resource)?.fields ?? [
    { kind: 'text', name: 'name', column: 'name' } as const,
  ];
  return [
    { name: idName, kind: 'integer', of: (_, id) => id },
    ...fields.flatMap(field => columnsOfField(field, field === filters.time)),
  ];
}

function columnsOfField({ kind, name, column }: Field, isTime: boolean): Column[] {
  const named = column.replace(/_id$/, '_name');
  switch (kind) {
    case 'text':
    case 'integer':
      return [{ name: column, kind: isTime ? 'time' : 'text', of: item => cell(name, item[name]) }];
    case 'texts':
      return [{ name, kind: 'texts', of: item => cell(name, item[name]) }];
    case 'connection':
      return [
        { name: column, kind: 'integer', of: item => cell('', memberOf(item[name], 'id')) },
        { name: named, kind: 'text', of: item => cell('', memberOf(item[name], 'name')) },
      ];
    case 'connections':
      return [
        { name: `${column}s`, kind: 'text', of: item => cell('', membersOf(item[name], 'id')) },
        { name: `${named}s`, kind: 'text', of: item => cell('', membersOf(item[name], 'name')) },
      ];
  }
}

function memberOf(reference: unknown, name: 'id' | 'name'): unknown {
  return typeof reference === 'object' && reference !== null ? (reference as Item)[name] : null;
}

function membersOf(references: unknown, name: 'id' | 'name'): unknown {
  return Array.isArray(references) ? references.map(each => memberOf(each, name) ?? null) : null;
}

function cell(name: string, value: unknown): ExportValue {
  if (value === undefined || value === null) return null;
  if (name === 'endpoint') return shownEndpoint(String(value));
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}
