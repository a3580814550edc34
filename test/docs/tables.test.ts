import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mismatches, tablesPath, tablesText } from '../../docs/tables.ts';

test('every column of every table and view has a meaning, and every meaning a column', () => {
  expect(mismatches()).toEqual([]);
});

test('docs/tables.md is what "npm run docs:tables" writes', () => {
  expect(readFileSync(tablesPath, 'utf8')).toBe(tablesText());
});
