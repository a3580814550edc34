import { eastAsianWidth } from 'get-east-asian-width';
import { greatestOf } from '../contract/extremes.ts';
import { printable } from '../printable.ts';

const number = /^(–|[\d,.]+(\s\D{1,5}(\s\d+ \D+)?)?)?$/;

/** Whether each cell of a column is a number, maybe with its unit. Such a column is aligned to the right. */
export function isOfNumbers(cells: readonly unknown[]): boolean {
  return cells.every(cell => typeof cell === 'number' || (typeof cell === 'string' && number.test(cell)));
}

type Cells = readonly string[];

/** Rows in columns under their headings, numbers to the right. If a line would be longer than `width`, each row is a block instead. */
export function renderTable(columns: Cells, rows: readonly Cells[], width = Infinity) {
  const cells = rows.map(row => row.map(printable));
  const all = [columns, ...cells];
  const layout = columns.map((_, at) => ({
    isNumber: isOfNumbers(cells.map(row => row[at] ?? '')),
    columns: greatestOf(all.map(row => columnsOf(row[at] ?? ''))),
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

/** The most columns of a terminal that a text takes: East Asian characters and emoji take two, most others one, and accents none. */
export function columnsOf(text: string): number {
  // Most texts are of this kind, and the segmenter is slow.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of charactersOf(text)) {
    const [base] = character.replaceAll(/[\p{Mn}\p{Me}\p{Cf}]/gu, '');
    const width = base === undefined ? 0 : eastAsianWidth(base.codePointAt(0) as number);
    columns += /^\p{RGI_Emoji}$/v.test(character) ? 2 : width;
  }
  return columns;
}

let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as people see them: a letter with its accents, a family that is one emoji. */
function charactersOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter();
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** A text of at most `max` columns of a terminal; a mark shows where it was cut. */
export function cut(text: string, max: number): string {
  if (columnsOf(text) <= max) return text;
  let shown = '';
  let left = max - 1;
  for (const character of charactersOf(text)) {
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

/** Breaks a text at spaces into lines of at most `width` columns. Longer words are only broken if they are East Asian. */
export function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  let isBegun = false;
  const add = (part: string, space: string) => {
    if (isBegun && columnsOf(line + space + part) > width) {
      lines.push(line);
      line = indent + part;
    } else line += isBegun ? space + part : part;
    isBegun = true;
  };
  for (const word of text.split(' ')) {
    const isBreakable = isWide.test(word) && columnsOf(indent + word) > width;
    const [first = '', ...rest] = isBreakable ? charactersOf(word) : [word];
    add(first, ' ');
    for (const part of rest) add(part, '');
  }
  return [...lines, line];
}

/** Each line of a text, in lines of at most `width` columns. */
export function wrapLines(text: string, width: number): string {
  return linesOf(text.split('\n').flatMap(line => wrap(line, width, '  ')));
}

const isWide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
