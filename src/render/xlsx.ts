import { strToU8, Zip, ZipDeflate } from 'fflate';
import type { CellValue, Column } from '../contract/cells.ts';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';
import { inBatches } from './csv.ts';

// An Excel workbook with one sheet (ECMA-376). The libraries for it hold all cells in memory: 200,000 exports take 1.6 GB there.

/** The most rows that a sheet has below its heading, and the most characters of a cell. */
const rowsMax = 1_048_575;
const textMax = 32_767;
const rowsPerPiece = 500;
/** Numbers of more digits are written as texts, because a spreadsheet keeps only so many. */
const exactMax = 10 ** 15;
/** A style of `styles.xml`. */
const [timeStyle, headingStyle] = [1, 2];

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The files of the workbook besides its sheet. */
const parts: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
  'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font/><font><b/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf numFmtId="164" applyNumberFormat="1"/><xf fontId="1" applyFont="1"/></cellXfs></styleSheet>`,
};

/**
 * Rows as an Excel workbook, piece by piece: texts are texts whatever they look like, times are times in UTC, and the heading stays in
 * view.
 *
 * @throws UsageError if there are more rows, or longer texts, than a sheet can have.
 */
export function* xlsxPieces(
  columns: readonly Column[],
  rows: Iterable<readonly CellValue[]>,
): Generator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    pieces.push(piece);
  });
  const begin = (name: string) => {
    const file = new ZipDeflate(name, { level: 1 });
    zip.add(file);
    return file;
  };
  for (const [name, text] of Object.entries(parts)) begin(name).push(strToU8(xml + text), true);
  const sheet = begin('xl/worksheets/sheet1.xml');
  const isTime = columns.map(({ kind }) => kind === 'time' || kind === 'instant');
  const heading = columns.map(({ name }) => textCell(name, headingStyle)).join('');
  sheet.push(
    strToU8(
      `${xml}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultColWidth="20" defaultRowHeight="15"/><sheetData><row>${heading}</row>`,
    ),
  );
  let rowCount = 0;
  for (const some of inBatches(rows, rowsPerPiece)) {
    rowCount += some.length;
    if (rowCount > rowsMax)
      throw new UsageError(
        `--format xlsx: a sheet has at most ${rowsMax} rows below its heading, and these are more. Use --format csv or parquet, or ask for less.`,
      );
    const cells = some.map(row => row.map((value, at) => cellOf(value, isTime[at] === true)).join(''));
    sheet.push(strToU8(cells.map(text => `<row>${text}</row>`).join('')));
    yield* pieces.splice(0);
  }
  sheet.push(strToU8('</sheetData></worksheet>'), true);
  zip.end();
  yield* pieces;
}

function cellOf(value: CellValue, isTime: boolean): string {
  if (value === null) return '<c/>';
  if (typeof value === 'object') return textCell(JSON.stringify(value));
  const days = isTime && typeof value === 'string' ? daysOf(value) : null;
  if (days !== null) return `<c s="${timeStyle}"><v>${days}</v></c>`;
  const isNumber = typeof value !== 'string' && Math.abs(Number(value)) < exactMax;
  return isNumber ? `<c><v>${value}</v></c>` : textCell(String(value));
}

/** A time as days since the end of 1899; null if the text is none, or a spreadsheet can't have it: it counts 1900 as a leap year. */
function daysOf(text: string): number | null {
  const days = (instantMs(text) ?? Number.NaN) / 86_400_000 + 25_569;
  return days >= 61 && days < 2_958_466 ? days : null;
}

function textCell(text: string, style = 0): string {
  if (text.length > textMax)
    throw new UsageError(
      `--format xlsx: a cell has at most ${textMax} characters, and one of these texts has more. Use --format csv or parquet.`,
    );
  return `<c s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

const special = /[&<>\ufffe\uffff]|(?![\t\n])\p{Cc}|_(?=x[0-9a-f]{4}_)/giu;

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text in XML. It has no word for control characters, so that workbooks write them as `_x0001_`. */
function escaped(text: string): string {
  const codeOf = (sign: string) => sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return text.replace(special, sign => names[sign] ?? `_x${codeOf(sign)}_`);
}
