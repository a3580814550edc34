import { expect, test } from 'vitest';
import { printable, printableJson } from '../src/printable.ts';

test.each([
  ['\u001b[31mred\u0007', '\\u001b[31mred\\u0007'],
  ['a\nb\rc\td', 'a\\nb\\rc\\td'],
  ['\u0085\u009b31m', '\\u0085\\u009b31m'],
  ['\u202egpj.exe\u2066\u200f', '\\u202egpj.exe\\u2066\\u200f'],
  ['one\u2028two\u2029', 'one\\u2028two\\u2029'],
  ['pay\u00adpal\u034f\ufeff', 'pay\\u00adpal\\u034f\\ufeff'],
  ['a\u200bb\u2060c\u2064', 'a\\u200bb\\u2060c\\u2064'],
  ['tag\u{e0041}\u{e007f}', 'tag\\u{e0041}\\u{e007f}'],
  ['Grüße, 世界 👋 – fine', 'Grüße, 世界 👋 – fine'],
  ['👩\u200d👩\u200d👧 ❤️\u200d🔥 👩🏽\u200d🚒', '👩\u200d👩\u200d👧 ❤️\u200d🔥 👩🏽\u200d🚒'],
  ['می\u200cخواهم क्\u200dष', 'می\u200cخواهم क्\u200dष'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('JSON is made safe to look at, and keeps its value', () => {
  const value = { name: '\u007f\u009b31m\u202e\u2028\u2066 Grüße 👋' };
  const json = printableJson(JSON.stringify(value));
  expect(json).toBe('{"name":"\\u007f\\u009b31m\\u202e\\u2028\\u2066 Grüße 👋"}');
  expect(JSON.parse(json)).toEqual(value);
});
