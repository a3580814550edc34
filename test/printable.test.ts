import { expect, test } from 'vitest';
import { printable } from '../src/printable.ts';

test.each([
  ['\u001b[31mred\u0007', '\\u001b[31mred\\u0007'],
  ['a\nb\rc\td', 'a\\nb\\rc\\td'],
  ['\u0085\u009b31m', '\\u0085\\u009b31m'],
  ['\u202egpj.exe\u2066\u200f', '\\u202egpj.exe\\u2066\\u200f'],
  ['one\u2028two\u2029', 'one\\u2028two\\u2029'],
  ['Grüße, 世界 👋 – fine', 'Grüße, 世界 👋 – fine'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});
