import type { Browsable } from '../../contract/browsable.ts';
import { cellsOf, type Item } from '../../contract/cells.ts';
import type { BrowsedRecord } from '../../store/read/browse-reader.ts';
import type { Change } from '../../store/read/change.ts';
import type { ExportColumn, ExportValue } from '../../store/read/export-tables.ts';
import { shownEndpoint } from '../endpoint.ts';
import { CsvEncoder } from '../export-formats.ts';
import { flatChanges } from '../flat-changes.ts';

// Files for people, from a browser: written for a spreadsheet, and without the secrets that pages hide.

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

function columnsOf({ fields, idName }: Browsable): Column[] {
  return [
    { name: idName, kind: 'integer', of: (_, id) => id },
    ...fields.flatMap(field =>
      cellsOf(field).map(({ name, kind, of }): Column => {
        const shown = (item: Item) =>
          field.isSecret ? shownEndpoint(String(of(item) ?? '')) || null : of(item);
        return { name, kind, of: shown };
      }),
    ),
  ];
}
