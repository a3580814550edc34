import type Database from 'better-sqlite3';
import { registerInstant } from '../tables/list-table.ts';

/** How many words are searched. Further ones are left out. */
const wordsMax = 8;

/** The words of a text, as `fold` gives them. */
export function wordsOf(text: string): string[] {
  return fold(text).split(/\s+/).filter(Boolean).slice(0, wordsMax);
}

/**
 * A text without its case, in any script. It goes through the small letters, because only these make `ẞ` and `ß` equal. Letters and
 * their accents are composed, because files from a Mac have them apart.
 */
export function fold(text: string): string {
  return (mark.test(text) ? text.normalize('NFC') : text).toLowerCase().toUpperCase();
}

const mark = /\p{M}|[\u1100-\u11ff]/u;

/** Lets a connection compare texts without their case, because SQLite's own functions know only the letters A to Z. */
export function registerWords(sqlite: Database.Database): void {
  registerInstant(sqlite);
  sqlite.function('fold_has', { deterministic: true }, (text, word) =>
    Number(typeof text === 'string' && fold(text).includes(String(word))),
  );
  sqlite.function('fold_is', { deterministic: true }, (text, other) =>
    Number(typeof text === 'string' && fold(text) === String(other)),
  );
}

/** A condition, and the values that it binds. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/**
 * A condition: a word of `wordsOf` is in one of some texts. SQLite itself searches texts that are ASCII, because a call out of it
 * takes longer.
 *
 * @param texts SQL expressions.
 */
export function hasWord(texts: readonly string[], word: string): Condition {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
  const each = texts.map(
    text => `iif(length(${text}) = octet_length(${text}), ${text} LIKE ? ESCAPE '\\', fold_has(${text}, ?))`,
  );
  return { sql: `(${each.join(' OR ')})`, values: texts.flatMap(() => [pattern, word]) };
}

/** A condition: one of some texts is equal to a text that `fold` returned. */
export function isText(texts: readonly string[], wanted: string): Condition {
  const one = texts.map(
    text => `iif(length(${text}) = octet_length(${text}), upper(${text}) = ?, fold_is(${text}, ?))`,
  );
  return {
    sql: one.length === 0 ? '0' : `coalesce(${one.join(' OR ')}, 0)`,
    values: texts.flatMap(() => [wanted, wanted]),
  };
}
