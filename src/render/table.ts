import { printable } from '../printable.ts';
import { columnsOf } from './cut.ts';

const number = /^(–|[\d,.]+(\s\D{1,5}(\s\d+ \D+)?)?)?$/;

/** Whether each cell of a column is a number, maybe with its unit. Such a column is aligned to the right. */
export function isOfNumbers(cells: readonly unknown[]): boolean {
  return cells.every(cell => typeof cell === 'number' || (typeof cell === 'string' && number.test(cell)));
}

/**
 * Lays rows out in columns under their headings, numbers to the right. If a line would be longer than `width`, each row is a block instead.
 * The result is plain text that ends with a line feed.
 */
export function renderTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map(row => row.map(printable));
  const all = [columns, ...cells];
  const areNumbers = columns.map((_, at) => isOfNumbers(cells.map(row => row[at] ?? '')));
  const widths = columns.map((_, at) => Math.max(...all.map(row => columnsOf(row[at] ?? ''))));
  const lines = all.map(row =>
    row
      .map((cell, at) => {
        const spaces = ' '.repeat((widths[at] ?? 0) - columnsOf(cell));
        return areNumbers[at] ? spaces + cell : cell + spaces;
      })
      .join('  ')
      .trimEnd(),
  );
  const fits = lines.every(line => columnsOf(line) <= width);
  return (fits ? lines : cells.flatMap(row => blockLines(columns, row, areNumbers[0])))
    .map(line => `${line}\n`)
    .join('');
}

/** A row under its first cell; empty cells are left out. A number needs the name of its column. */
function blockLines(
  [first, ...columns]: readonly string[],
  [head = '', ...cells]: readonly string[],
  isNumber = false,
): string[] {
  const rest = columns.flatMap((column, at) => (cells[at] ? [`  ${column}: ${cells[at]}`] : []));
  return [isNumber ? `${first} ${head}` : head, ...rest];
}
