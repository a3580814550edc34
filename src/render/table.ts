import Table from 'cli-table3';

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

/** A text as one line for a terminal: control characters, which could steer it, are shown as escapes. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, char => JSON.stringify(char).slice(1, -1));
}
