import { strFromU8, unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { xlsxPieces } from '../../src/render/xlsx.ts';
import type { CellValue, Column } from '../../src/store/read/cells.ts';

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

test('texts stay texts, times are times, and numbers that a spreadsheet would round are texts', () => {
  const titles = ['0081052', '4535931141234567890', '1-2', '=1+1', ' a&<b>"\u0007_x0041_\r\n', ''];
  const sheet = sheetOf(titles.map(title => [title, '2026-05-01T20:00:00+02:00', 7]));
  const text = (escaped: string) => `<is><t xml:space="preserve">${escaped}</t></is>`;
  for (const title of titles.slice(0, 4)) expect(sheet).toContain(text(title));
  expect(sheet).toContain(text(' a&amp;&lt;b&gt;"_x0007__x005F_x0041__x000D_\n'));
  // The days from the end of 1899 to six in the evening of 1 May 2026.
  expect(sheet).toContain(`<c s="1"><v>46143.75</v></c><c><v>7</v></c>`);
  expect(sheet).toMatch(/<pane ySplit="1" .*state="frozen"\/>/);
  const odd = sheetOf([[null, 'soon', 4_535_931_141_234_567_890n]]);
  expect(odd).toContain(text('soon'));
  expect(odd).toContain(text('4535931141234567890'));
});

test('a time before March 1900, or after 9999, is a text, because a spreadsheet would show another day', () => {
  const times = ['1900-02-28T23:59:59Z', '1900-03-01T00:00:00Z', '9999-12-31T23:59:59Z'];
  const cells = times.map(at =>
    sheetOf([[null, at, null]])
      .match(/<c s="1">|<c t="inlineStr">/g)
      ?.at(-1),
  );
  expect(cells).toEqual(['<c t="inlineStr">', '<c s="1">', '<c s="1">']);
});

test('more than a sheet can have is refused in words', () => {
  expect(() => sheetOf([['x'.repeat(32_768), null, null]])).toThrow(/at most 32767 characters/);
  const rows = function* (count: number) {
    for (let at = 0; at < count; at++) yield [];
  };
  expect(() => sheetOf(rows(1_048_576))).toThrow(/at most 1048575 rows .* Use --format csv or parquet/);
});
