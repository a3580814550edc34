import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fold, hasWord, isText, registerWords, wordsOf } from '../../../src/store/read/words.ts';

const sqlite = new Database(':memory:');
registerWords(sqlite);

function has(text: string | null, wanted: string): boolean {
  const words = wordsOf(wanted).map(word => hasWord(['t'], word));
  return words.every(({ sql, values }) => {
    // The text is bound by its name, the values by their places.
    const statement = sqlite.prepare(`SELECT ${sql} FROM (SELECT :text AS t)`).pluck();
    return statement.get(...values, { text }) === 1;
  });
}

test.each([
  ['Straße in Zürich', 'ZÜRICH strasse'],
  ['ZÜRICH', 'zu\u0308rich'],
  ['Zu\u0308rich', 'ZÜRICH'],
  ['ΟΔΟΣ', 'οδος'],
  ['Łódź', 'łÓDŹ'],
  ['МОСКВА', 'москва'],
  ['株式会社みどり', 'みどり'],
  ['100% of_it', '100% OF_'],
])('%j has %j, in any case and script', (text, wanted) => {
  expect(has(text, wanted)).toBe(true);
});

test.each([
  ['Zürich', 'zurich'],
  ['100 percent', '100%'],
  ['ofXit', 'of_it'],
  [null, 'a'],
])('%j does not have %j', (text, wanted) => {
  expect(has(text, wanted)).toBe(false);
});

test('a reference is the whole text, in any case', () => {
  const is = (text: string, wanted: string) => {
    const { sql, values } = isText(['t'], fold(wanted));
    return (
      sqlite
        .prepare(`SELECT ${sql} FROM (SELECT :text AS t)`)
        .pluck()
        .get(...values, { text }) === 1
    );
  };
  expect(is('REF-4242', 'ref-4242')).toBe(true);
  expect(is('ÄB-1', 'äb-1')).toBe(true);
  expect(is('REF-42420', 'ref-4242')).toBe(false);
});
