import { describe, expect, test } from 'vitest';
import { renderTable } from '../../src/render/table.ts';

const columns = ['List', 'Records', 'Error'];
const rows = [
  ['document-exports', '1,203', ''],
  ['webhooks', '3', 'network'],
];

describe('a table', () => {
  test('is in columns if no line is longer than the terminal is wide', () => {
    const text = renderTable(columns, rows, 34);
    expect(text).toBe(`List              Records  Error
document-exports    1,203
webhooks                3  network
`);
    expect(renderTable(columns, rows)).toBe(text);
  });

  test('is a block a row if a line would be longer, without what is empty', () => {
    expect(renderTable(columns, rows, 33)).toBe(`document-exports
  Records: 1,203
webhooks
  Records: 3
  Error: network
`);
  });

  test('is as wide as a terminal shows it', () => {
    const wide = [['書類', '3', '']];
    expect(renderTable(columns, wide, 20)).toBe('List  Records  Error\n書類        3\n');
    expect(renderTable(['List', 'Error'], [['書類', '失敗しました']], 17)).toBe(
      '書類\n  Error: 失敗しました\n',
    );
    expect(renderTable(['List', 'Error'], [['書類', '失敗しました']], 18)).toContain('書類  失敗しました\n');
  });
});
