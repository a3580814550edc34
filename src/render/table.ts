import { eastAsianWidth } from 'get-east-asian-width';
import { printable } from '../printable.ts';

// How text is laid out for a terminal.

const number = /^(–|[\d,.]+(\s\D{1,5}(\s\d+ \D+)?)?)?$/;

/** Whether each cell of a column is a number, maybe with its unit. Such a column is aligned to the right. */
export function isOfNumbers(cells: readonly unknown[]): boolean {
  return cells.every(cell => typeof cell === 'number' || (typeof cell === 'string' && number.test(cell)));
}

/** Rows in columns under their headings, numbers to the right. If a line would be longer than `width`, each row is a block instead. */
export function renderTable(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map(row => row.map(printable));
  const all = [columns, ...cells];
  const layout = columns.map((_, at) => ({
    isNumber: isOfNumbers(cells.map(row => row[at] ?? '')),
    columns: Math.max(...all.map(row => columnsOf(row[at] ?? ''))),
  }));
  let lines = all.map(row => {
    const padded = layout.map((column, at) => {
      const cell = row[at] ?? '';
      const spaces = ' '.repeat(column.columns - columnsOf(cell));
      return column.isNumber ? spaces + cell : cell + spaces;
    });
    return padded.join('  ').trimEnd();
  });
  if (!lines.every(line => columnsOf(line) <= width))
    lines = cells.flatMap(row =>
      // Each row under its first cell; empty cells are left out. A number needs the name of its column.
      row.flatMap((cell, at) => {
        if (at === 0) return [layout[0]?.isNumber ? `${columns[0]} ${cell}` : cell];
        return cell === '' ? [] : [`  ${columns[at]}: ${cell}`];
      }),
    );
  return linesOf(lines);
}

/** The most columns of a terminal that a text takes: East Asian characters and emoji take two, most others one. */
function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += eastAsianWidth(character.codePointAt(0) as number);
  return columns;
}

/** A text of at most `max` columns of a terminal; a mark shows where it was cut. */
export function cut(text: string, max: number): string {
  if (columnsOf(text) <= max) return text;
  let shown = '';
  let left = max - 1;
  for (const character of text) {
    left -= columnsOf(character);
    if (left < 0) break;
    shown += character;
  }
  return `${shown}…`;
}

/** Lines of text without spaces at their ends; what is no text is left out. */
export function linesOf(lines: readonly unknown[]): string {
  return lines.map(line => (typeof line === 'string' ? `${line.trimEnd()}\n` : '')).join('');
}

/** Breaks a text at spaces into lines of at most `width` characters; a longer word is not broken. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines: string[] = [];
  let line = first;
  for (const word of words)
    if (line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  return [...lines, line];
}
