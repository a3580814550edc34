import type { Browsable } from '../../contract/browsable.ts';
import { type CellValue, cellsOf, type Column as FileColumn, type Item } from '../../contract/cells.ts';
import type { BrowsedRecord } from '../../store/read/browse-reader.ts';
import type { Change } from '../../store/read/change.ts';
import { csvPieces } from '../csv.ts';
import { shownEndpoint } from '../endpoint.ts';
import { flatChanges } from '../flat-changes.ts';

// Files for people, from a browser: written for a spreadsheet, and without the secrets that pages hide.

interface Column extends FileColumn {
  readonly of: (item: Item, id: number) => CellValue;
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

function encoded<T>(
  columns: readonly FileColumn[],
  items: Iterable<T | null>,
  rowOf: (item: T) => readonly CellValue[],
): Generator<string> {
  const rows = Iterator.from(items).filter((item): item is NonNullable<typeof item> => item !== null);
  return csvPieces(columns, rows.map(rowOf), true);
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
