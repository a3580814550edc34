import { stringify } from 'csv-stringify/sync';

type Cell = string | number | bigint | null;

/** Spreadsheets recognise a formula by a sign at the text's beginning, also after characters that they ignore there. */
const formula = /^[\s"'“”\u00ad\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|^[\t\r]/;

/**
 * Rows as comma-separated values by RFC 4180: an empty text is quoted, a null is not.
 *
 * @param forSpreadsheet texts that a spreadsheet would run as formulas begin with an apostrophe, and those that it
 * would split into several cells are quoted. Numbers stay as they are.
 */
export function csvText(rows: readonly (readonly Cell[])[], forSpreadsheet: boolean): string {
  // A carriage return alone ends a line for some readers.
  if (!forSpreadsheet) return stringify([...rows], { quoted_match: /[\r\n]|^$/ });
  return stringify(
    rows.map(row => row.map(harmless)),
    { quoted_match: /[\r\n\t;]|^$/ },
  );
}

function harmless(cell: Cell): Cell {
  return typeof cell === 'string' && formula.test(cell) ? `'${cell}` : cell;
}
