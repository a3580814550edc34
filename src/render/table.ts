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

/** Lays rows out in columns under their headings; plain text that ends with a line feed. */
export function renderTable(
  columns: readonly { name: string; align?: Align }[],
  rows: readonly (readonly string[])[],
): string {
  const table = new Table({
    head: columns.map(({ name }) => name),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    chars: noBorders,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map(row => row.map(printable)));
  const lines = table
    .toString()
    .split('\n')
    .map(line => line.trimEnd());
  return `${lines.join('\n')}\n`;
}
