import { readFileSync } from 'node:fs';
import { Workbook, type Worksheet } from 'exceljs';

/** The sheet of a workbook, as a library of others reads it. */
export async function sheetIn(file: string | Uint8Array): Promise<Worksheet> {
  const bytes = Uint8Array.from(typeof file === 'string' ? readFileSync(file) : file);
  const book = new Workbook();
  await book.xlsx.load(bytes.buffer);
  const [sheet, ...others] = book.worksheets;
  if (sheet === undefined || others.length > 0) throw new Error('There is not one sheet.');
  return sheet;
}

/** The values of its cells, row by row, with null for an empty one; times are Dates. */
export function valuesIn(sheet: Worksheet): unknown[][] {
  const columns = Array.from({ length: sheet.columnCount }, (_, at) => at + 1);
  return Array.from({ length: sheet.rowCount }, (_, row) =>
    columns.map(column => sheet.getCell(row + 1, column).value),
  );
}

/** The rows below the heading, as objects. */
export function recordsIn(sheet: Worksheet): Record<string, unknown>[] {
  const [heading = [], ...rows] = valuesIn(sheet);
  return rows.map(row => Object.fromEntries(heading.map((name, at) => [String(name), row[at]])));
}
