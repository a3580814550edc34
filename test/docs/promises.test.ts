import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'promises.md'), 'utf8');

/** Every line of a table but its head, as its cells. */
const rows = [...page.matchAll(/^\| (P.*) \|$/gm)].map(([, cells]) => String(cells).split(' | '));
const ids = rows.map(([id]) => String(id));

/** A name as the source has it, behind the opening bracket of a test. */
const testName = /\(\s*(['"`])((?:(?!\1).)+)\1,/g;
const namesIn = (path: string) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(testName)].map(([, , name]) => name);

test('every promise has an id of its own, its words, and a test', () => {
  expect(rows.length).toBeGreaterThan(60);
  expect(ids.filter((id, at) => !/^P[1-9]\d*$/.test(id) || ids.indexOf(id) !== at)).toEqual([]);
  const isWhole = (cells: string[]) => cells.length === 4 && cells.every(cell => cell.trim() !== '');
  expect(rows.filter(cells => !isWhole(cells))).toEqual([]);
  // A row with an empty cell, or without its bars, would otherwise be no row, and nobody would miss it.
  expect(page.match(/^.*\bP\d+\b.*$/gm)?.filter(line => !line.includes('promise P1'))).toHaveLength(
    rows.length,
  );
});

test('every test of a promise is there', () => {
  const missing = rows.filter(([, , file = '', name = '']) => {
    const path = file.replaceAll('`', '');
    return !path.endsWith('.test.ts') || !existsSync(join(root, path)) || !namesIn(path).includes(name);
  });
  expect(missing).toEqual([]);
});

test('every promise that a test names is on the page', () => {
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && !name.endsWith('promises.test.ts') && !name.includes('node_modules'),
  );
  const named = tests.flatMap(name => {
    const text = readFileSync(join(root, 'test', name), 'utf8');
    return [...text.matchAll(/\bpromise (P\d+)\b/g)].map(([, id]) => `${name}: ${id}`);
  });
  expect(named.filter(entry => !ids.includes(entry.split(': ')[1] ?? ''))).toEqual([]);
});
