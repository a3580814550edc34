import { strToU8, Zip, ZipDeflate } from 'fflate';
import { instantMs } from '../contract/time.ts';
import { UsageError } from '../errors.ts';
import type { CellValue, Column } from '../store/read/cells.ts';
import { inBatches, type Rows } from './csv.ts';

// An Excel workbook with one sheet (ECMA-376). The libraries for it hold all cells in memory: 200,000 exports take 1.6 GB there.

/** The most rows that a sheet has below its heading, and the most characters of a cell. */
const [rowsMax, textMax] = [1_048_575, 32_767];
const rowsPerPiece = 500;
/** Numbers of more digits are written as texts, because a spreadsheet keeps only so many. */
const exactMax = 10 ** 15;

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n';
const schemas = 'http://schemas.openxmlformats.org';
const main = `${schemas}/spreadsheetml/2006/main`;
const office = `${schemas}/officeDocument/2006/relationships`;
const packaged = `${schemas}/package/2006`;

const relations = (...targets: [type: string, target: string][]) =>
  `<Relationships xmlns="${packaged}/relationships">${targets.map(([type, target]) => `<Relationship Id="${type}" Type="${office}/${type}" Target="${target}"/>`).join('')}</Relationships>`;
const typeOf = (part: string, type: string) =>
  `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;

/** The files of the workbook besides its sheet. Its styles are the usual one and that of times. */
const parts: Readonly<Record<string, string>> = {
  '[Content_Types].xml': `<Types xmlns="${packaged}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${typeOf('workbook', 'sheet.main')}${typeOf('worksheets/sheet1', 'worksheet')}${typeOf('styles', 'styles')}</Types>`,
  '_rels/.rels': relations(['officeDocument', 'xl/workbook.xml']),
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Sheet1" sheetId="1" r:id="worksheet"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relations(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml']),
  'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders><cellXfs><xf/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`,
};

/** Rows as an Excel workbook, piece by piece: texts are texts whatever they look like, and times are times in UTC. */
export function* xlsxPieces(columns: readonly Column[], rows: Rows): Generator<Uint8Array> {
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
  const rowXml = (cells: readonly string[]) => `<row>${cells.join('')}</row>`;
  const heading = rowXml(columns.map(({ name }) => textCell(name)));
  sheet.push(
    strToU8(
      `${xml}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultColWidth="20" defaultRowHeight="15"/><sheetData>${heading}`,
    ),
  );
  const isTime = columns.map(({ kind }) => kind === 'time' || kind === 'instant');
  let rowCount = 0;
  for (const some of inBatches(rows, rowsPerPiece)) {
    rowCount += some.length;
    if (rowCount > rowsMax) throw tooMuch(`${rowsMax} rows below its heading`);
    const texts = some.map(row => rowXml(row.map((value, at) => cellOf(value, isTime[at] === true))));
    sheet.push(strToU8(texts.join('')));
    yield* pieces.splice(0);
  }
  sheet.push(strToU8('</sheetData></worksheet>'), true);
  zip.end();
  yield* pieces;
}

function tooMuch(limit: string): UsageError {
  return new UsageError(
    `--format xlsx: a sheet has at most ${limit}, and this is more. Use --format csv or parquet.`,
  );
}

function cellOf(value: CellValue, isTime: boolean): string {
  if (value === null) return '<c/>';
  if (typeof value === 'object') return textCell(JSON.stringify(value));
  // A time is days since the end of 1899. A spreadsheet counts 1900 as a leap year, and has none after 9999.
  const days = isTime ? (instantMs(String(value)) ?? Number.NaN) / 86_400_000 + 25_569 : Number.NaN;
  if (days >= 61 && days < 2_958_466) return `<c s="1"><v>${days}</v></c>`;
  const isNumber = typeof value !== 'string' && Math.abs(Number(value)) < exactMax;
  return isNumber ? `<c><v>${value}</v></c>` : textCell(String(value));
}

function textCell(text: string): string {
  if (text.length > textMax) throw tooMuch(`${textMax} characters in a cell`);
  return `<c t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

const special = /[&<>\ufffe\uffff]|(?![\t\n])\p{Cc}|_(?=x[0-9a-f]{4}_)/giu;

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text in XML. It has no word for control characters, so that workbooks write them as `_x0001_`. */
function escaped(text: string): string {
  const codeOf = (sign: string) => sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return text.replace(special, sign => names[sign] ?? `_x${codeOf(sign)}_`);
}
