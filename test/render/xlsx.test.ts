import { strFromU8, unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { xlsxPieces } from '../../src/render/xlsx.ts';
import type { CellValue, Column } from '../../src/store/read/cells.ts';
import { sheetIn, valuesIn } from '../support/spreadsheet.ts';

const columns: Column[] = [
  { name: 'title', kind: 'text' },
  { name: 'at', kind: 'time' },
  { name: 'n', kind: 'integer' },
];

/** The XML of the sheet. */
function sheetOf(rows: Iterable<CellValue[]>): string {
  const files = unzipSync(Buffer.concat([...xlsxPieces(columns, rows)]));
  return strFromU8(files['xl/worksheets/sheet1.xml'] as Uint8Array);
}

const read = async (rows: Iterable<CellValue[]>) => sheetIn(Buffer.concat([...xlsxPieces(columns, rows)]));

test('texts stay texts, times are times, and numbers that a spreadsheet would round are texts', async () => {
  const titles = ['0081052', '4535931141234567890', '1-2', '=1+1', ' a&<b>"', 'two\nlines', ''];
  const rows = titles.map((title): CellValue[] => [title, '2026-05-01T20:00:00.250+02:00', 7]);
  const evening = new Date('2026-05-01T18:00:00.250Z');
  const odd: CellValue[] = [null, 'soon', 4_535_931_141_234_567_890n];
  expect(valuesIn(await read([...rows, odd]))).toEqual([
    ['title', 'at', 'n'],
    // An empty text is none for this reader.
    ...titles.map(title => [title || null, evening, 7]),
    [null, 'soon', '4535931141234567890'],
  ]);
  // Not every reader takes this apart again.
  const escaped = sheetOf([['\u0007_x0041_\r', null, null]]);
  expect(escaped).toContain('<t xml:space="preserve">_x0007__x005F_x0041__x000D_</t>');
});

test('a reader that cuts a time to milliseconds reads the time that was meant', () => {
  const noon = Date.UTC(2026, 10, 29, 12);
  const times = Array.from({ length: 12_000 }, (_, at) => noon + at * 7_000);
  const days = [
    ...sheetOf(times.map(time => [null, new Date(time).toISOString(), null])).matchAll(/<v>([\d.]+)<\/v>/g),
  ];
  // The day of 1970, by both ways in which readers subtract it.
  expect(days.map(([, day]) => Math.floor((Number(day) - 25_569) * 86_400_000))).toEqual(times);
  expect(days.map(([, day]) => Math.floor(Number(day) * 86_400_000 - 25_569 * 86_400_000))).toEqual(times);
});

test('the heading is bold, stays in view and has filters, and columns are as wide as their texts', async () => {
  const sheet = await read([['A title of twenty six signs', null, 1]]);
  expect(sheet.views).toMatchObject([{ state: 'frozen', ySplit: 1, topLeftCell: 'A2' }]);
  expect(sheet.autoFilter).toBe('A1:C2');
  const isBold = ['A1', 'C1', 'A2'].map(place => sheet.getCell(place).style.font?.bold === true);
  expect(isBold).toEqual([true, true, false]);
  expect([1, 2, 3].map(column => sheet.getColumn(column).width)).toEqual([30, 5, 4]);
  expect((await read([])).autoFilter).toBe('A1:C1');
});

test('each row has a cell in its last column, because some readers end the table there', () => {
  const cells = [
    ...sheetOf([
      ['a', null, null],
      [null, null, null],
      ['b', null, 0],
    ]).matchAll(/<row .*?<\/row>/g),
  ];
  const last = cells.map(([row]) => [...row.matchAll(/<c r="([A-Z]+\d+)"/g)].at(-1)?.[1]);
  expect(last).toEqual(['C1', 'C2', 'C3', 'C4']);
});

test('a sheet can have more columns than letters', async () => {
  const many = Array.from({ length: 704 }, (_, at): Column => ({ name: `c${at}`, kind: 'integer' }));
  const sheet = await sheetIn(Buffer.concat([...xlsxPieces(many, [many.map((_, at) => at)])]));
  expect(['Z2', 'AA2', 'ZZ2', 'AAA2', 'AAB2'].map(place => sheet.getCell(place).value)).toEqual([
    25, 26, 701, 702, 703,
  ]);
});

test('a time before March 1900, or after 9999, is a text, because a spreadsheet would show another day', async () => {
  const times = ['1900-02-28T23:59:59Z', '1900-03-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-05-01'];
  const sheet = await read(times.map(at => [null, at, null]));
  const cells = [2, 3, 4, 5].map(row => sheet.getCell(row, 2));
  expect(cells.map(({ value }) => value)).toEqual([times[0], ...times.slice(1).map(time => new Date(time))]);
  const [time, date] = ['yyyy-mm-dd hh:mm:ss', 'yyyy-mm-dd'];
  expect(cells.map(({ numFmt }) => numFmt)).toEqual([undefined, time, time, date]);
});

test('a text that is longer than a cell is cut, and a mark shows it', () => {
  const textOf = (title: string) =>
    />([^<]*)<\/t><\/is><\/c><\/row><\/sheetData>/.exec(sheetOf([[title]]))?.[1];
  expect(textOf('x'.repeat(32_767))).toBe('x'.repeat(32_767));
  expect(textOf('x'.repeat(40_000))).toBe(`${'x'.repeat(32_766)}…`);
  expect(textOf(`${'x'.repeat(32_765)}😀x`)).toBe(`${'x'.repeat(32_765)}…`);
});

test('characters that XML can have are written as they are', () => {
  expect(sheetOf([['a\u007f\u0085\u009bb', null, null]])).toContain('>a\u007f\u0085\u009bb</t>');
});

test('more rows than a sheet can have are refused in words, and the statement behind them ends', () => {
  let isOpen = true;
  const rows = function* () {
    try {
      while (true) yield [];
    } finally {
      isOpen = false;
    }
  };
  expect(() => sheetOf(rows())).toThrow(/at most 1048575 rows .* Use --format csv or parquet/);
  expect(isOpen).toBe(false);
});
