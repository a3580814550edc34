import { strToU8, Zip, ZipDeflate } from 'fflate';
import { greatestOf } from '../contract/extremes.ts';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';
import type { CellValue, Column } from '../store/read/cells.ts';
import { inBatches, type Rows } from './csv.ts';
import parts from './workbook.json' with { type: 'json' };

// An Excel workbook with one sheet (ECMA-376). Most libraries for it hold all cells in memory: 200,000 exports take 1.6 GB there.
// `hucre` writes row by row, but then it has no filter and no style for the heading.

/** The most rows that a sheet has below its heading, and the most characters of a cell. */
const [rowsMax, textMax] = [1_048_575, 32_767];
const rowsPerPiece = 500;
/** The greatest width of a column, in characters. */
const widthMax = 60;
/** Numbers of more digits are written as texts, because a spreadsheet keeps only so many. */
const exactMax = 10 ** 15;

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** The styles of cells in `workbook.json`, which has all parts but the sheet. Some readers refuse a file without one of them. */
const styles = { heading: 1, time: 2, date: 3 };

/** Rows as an Excel workbook, piece by piece: texts are texts, cut to what a cell can have, and times are times in UTC. */
export function* xlsxPieces(columns: readonly Column[], rows: Rows): Generator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    pieces.push(piece);
  });
  const begin = (name: string) => {
    const file = new ZipDeflate(name, { level: 2 });
    zip.add(file);
    return file;
  };
  for (const [name, text] of Object.entries(parts)) begin(name).push(strToU8(xml + text), true);
  const sheet = begin('xl/worksheets/sheet1.xml');
  const letters = columns.map((_, at) => lettersOf(at));
  const isTime = columns.map(({ kind }) => kind === 'time' || kind === 'instant');
  const rowXml = (row: readonly CellValue[], number: number) => {
    const cells = row.map((value, at) => cellOf(value, `${letters[at]}${number}`, isTime[at] === true));
    // Readers that go row by row take the last cell for the end of the table.
    if (cells.at(-1) === '') cells.push(`<c r="${letters.at(-1)}${number}"/>`);
    return `<row r="${number}">${cells.join('')}</row>`;
  };
  const heading = columns.map(({ name }, at) => textCell(name, `${letters[at]}1`, styles.heading));
  // If this ends early, the statement behind the rows ends, too.
  using batches = inBatches(rows, rowsPerPiece);
  let batch = batches.next();
  const widths = columns.map(({ name }, at) => {
    const lengths = (batch.value ?? []).map((row: readonly CellValue[]) => String(row[at] ?? '').length);
    // The button of the filter covers three characters.
    const width = Math.min(widthMax, Math.max(name.length, greatestOf(lengths)) + 3);
    return `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
  });
  const write = (text: string, isLast = false) => sheet.push(strToU8(text), isLast);
  const head = `${xml}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols>${widths.join('')}</cols><sheetData><row r="1">${heading.join('')}</row>`;
  write(head);
  let rowCount = 0;
  for (; batch.done !== true; batch = batches.next()) {
    const firstNumber = rowCount + 2;
    rowCount += batch.value.length;
    const tooMany = `--format xlsx: a sheet has at most ${rowsMax} rows below its heading, and this is more. Use --format csv or parquet.`;
    if (rowCount > rowsMax) throw new UsageError(tooMany);
    write(batch.value.map((row, at) => rowXml(row, firstNumber + at)).join(''));
    yield* pieces.splice(0);
  }
  write(`</sheetData><autoFilter ref="A1:${letters.at(-1)}${rowCount + 1}"/></worksheet>`, true);
  zip.end();
  yield* pieces;
}

function lettersOf(at: number): string {
  return (at < 26 ? '' : lettersOf(Math.floor(at / 26) - 1)) + String.fromCharCode(65 + (at % 26));
}

function cellOf(value: CellValue, place: string, isTime: boolean): string {
  if (value === null) return '';
  if (typeof value === 'object') return textCell(JSON.stringify(value), place);
  // A time is days since the end of 1899. A spreadsheet counts 1900 as a leap year, and has none after 9999.
  const days = isTime ? (instantMs(String(value)) ?? Number.NaN) / 86_400_000 + 25_569 : Number.NaN;
  if (days >= 61 && days < 2_958_466) {
    const style = String(value).length > 10 ? styles.time : styles.date;
    // SheetJS and read-excel-file cut to the millisecond. A fraction is rounded up, so that they don't read the one before.
    const raised = Number.isInteger(days) ? days : days * (1 + Number.EPSILON);
    return `<c r="${place}" s="${style}"><v>${raised}</v></c>`;
  }
  const isNumber = typeof value !== 'string' && Math.abs(Number(value)) < exactMax;
  return isNumber ? `<c r="${place}"><v>${value}</v></c>` : textCell(String(value), place);
}

function textCell(text: string, place: string, style?: number): string {
  // No half of a character is before the mark.
  const begin = text.slice(0, textMax - 1).replace(/[\ud800-\udbff]$/, '');
  // XML has no word for most characters below the space, so that workbooks write them as `_x0001_`.
  const codeOf = (sign: string) => sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const kept = text.length > textMax ? `${begin}…` : text;
  const escaped = kept.replace(special, sign => names[sign] ?? `_x${codeOf(sign)}_`);
  const own = style === undefined ? '' : ` s="${style}"`;
  return `<c r="${place}"${own} t="inlineStr"><is><t xml:space="preserve">${escaped}</t></is></c>`;
}

const special = /[&<>\ufffe\uffff]|(?![\t\n\u007f-\u009f])\p{Cc}|_(?=x[0-9a-f]{4}_)/giu;
const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
