import { printable } from '../printable.ts';
import { columnsOf } from './cut.ts';

/** A column of a table by its heading. A column of numbers, aligned to the right, is `{ right: 'Records' }`. */
export type Column = string | { readonly right: string };

/**
 * Lays rows out in columns under their headings. If a line would be longer than `width`, each row is a block instead.
 * The result is plain text that ends with a line feed.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map(row => row.map(printable));
  const all = [columns.map(nameOf), ...cells];
  const widths = columns.map((_, at) => Math.max(...all.map(row => columnsOf(row[at] ?? ''))));
  const lines = all.map(row =>
    row
      .map((cell, at) => {
        const spaces = ' '.repeat((widths[at] ?? 0) - columnsOf(cell));
        return typeof columns[at] === 'string' ? cell + spaces : spaces + cell;
      })
      .join('  ')
      .trimEnd(),
  );
  const fits = lines.every(line => columnsOf(line) <= width);
  return (fits ? lines : cells.flatMap(row => blockLines(columns, row))).map(line => `${line}\n`).join('');
}

/** A row under its first cell; empty cells are left out. */
function blockLines(
  [first, ...columns]: readonly Column[],
  [head = '', ...cells]: readonly string[],
): string[] {
  // A number needs the name of its column.
  const heading = typeof first === 'object' ? `${first.right} ${head}` : head;
  return [
    heading,
    ...columns.flatMap((column, at) => (cells[at] ? [`  ${nameOf(column)}: ${cells[at]}`] : [])),
  ];
}

function nameOf(column: Column): string {
  return typeof column === 'string' ? column : column.right;
}
