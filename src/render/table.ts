import Table from 'cli-table3';
import { printable } from '../printable.ts';

/** At which side the cells of a column stand. */
export type Align = 'left' | 'right';

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly align?: Align;
}

/**
 * Lays rows out in columns under their headings or, where a line would be longer than `width`, as a block a row; plain text that
 * ends with a line feed.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map(row => row.map(printable));
  const table = new Table({
    head: columns.map(({ name }) => name),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...cells);
  const lines = table
    .toString()
    .split('\n')
    .map(line => line.trimEnd());
  const fits = lines.every(line => line.length <= width);
  return (fits ? lines : cells.flatMap(row => blockLines(columns, row))).map(line => `${line}\n`).join('');
}

/** A row under its first cell; empty cells are left out. */
function blockLines(
  [first, ...columns]: readonly Column[],
  [head = '', ...cells]: readonly string[],
): string[] {
  // A number alone does not say what it is of.
  const heading = first?.align === 'right' ? `${first.name} ${head}` : head;
  return [heading, ...columns.flatMap(({ name }, at) => (cells[at] ? [`  ${name}: ${cells[at]}`] : []))];
}
