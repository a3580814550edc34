import { expect, test } from 'vitest';
import { csvPieces } from '../../src/render/csv.ts';

const csv = (value: string, forSpreadsheet: boolean) =>
  [...csvPieces([{ name: 'a', kind: 'text' }], [[value]], forSpreadsheet)].join('').split('\n')[1];

test.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '＝1+1',
  '＋1',
  '－1',
  '＠SUM(A1)',
  ' =1',
  '\u200b＝1',
  '\tx',
  '\rx',
])('a spreadsheet does not run %s', text => {
  expect(csv(text, true)).toMatch(/^"?'/);
  expect(csv(text, false)).not.toContain("'");
});

test('a file of one column has no empty line, which readers skip', () => {
  const rows = [['a'], [null], [''], ['b']];
  expect([...csvPieces([{ name: 'x', kind: 'text' }], rows)].join('')).toBe('x\na\n""\n""\nb\n');
  const two = [
    ...csvPieces(
      [...'xy'].map(name => ({ name, kind: 'text' as const })),
      [[null, null]],
    ),
  ];
  expect(two.join('')).toBe('x,y\n,\n');
});

test.each(['1+1', 'a=b', 'é', '1－1'])('%s stays as it is', text => {
  expect(csv(text, true)).toBe(text);
});
