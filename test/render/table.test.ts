import { describe, expect, test } from 'vitest';
import { cut, renderTable, wrap } from '../../src/render/table.ts';

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

  test.each([
    ['a family that is one emoji', '👨‍👩‍👧‍👦', 2],
    ['an emoji with a skin colour', '👍🏽', 2],
    ['a flag', '🇨🇭', 2],
    ['an e with an accent of its own', 'e\u0301', 1],
    ['the same as one character', 'é', 1],
    ['Devanagari with a virama', 'क्', 1],
    ['Hangul', '한', 2],
    ['a full-width letter', 'Ａ', 2],
    ['a text of ASCII', 'abc', 3],
  ])('is as wide as %s', (_what, text, columns) => {
    const padded =
      renderTable(
        ['A', 'B'],
        [
          [text, 'x'],
          ['12345', 'x'],
        ],
      ).split('\n')[1] ?? '';
    expect(padded).toBe(`${text}${' '.repeat(5 - columns)}  x`);
  });

  test('is cut between the characters that people see', () => {
    expect(cut('👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 5)).toBe('👨‍👩‍👧‍👦👨‍👩‍👧‍👦…');
    expect(cut('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…');
  });
});

test('a text is wrapped by columns; words that can be copied stay whole, and Japanese is broken anywhere', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('docmirror-is-long x', 5, '  ')).toEqual(['docmirror-is-long', '  x']);
  expect(wrap('書類は失敗しました', 8, ' ')).toEqual(['書類は失', ' 敗しま', ' した']);
  expect(wrap('', 8)).toEqual(['']);
  expect(wrap('a  b', 8)).toEqual(['a  b']);
});
