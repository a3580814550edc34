import { expect, test } from 'vitest';
import { bytesText, duration } from '../../src/render/numbers.ts';

test.each([
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [999_999, '1.0 MB'],
  [999_950_000, '1.0 GB'],
  [999_960_000_000, '1.0 TB'],
  [5e15, '5000.0 TB'],
])('%i bytes are written as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min'],
  [59_999, '1 min'],
  [60_000, '1 min'],
  [86_400_000, '1 d'],
  [Number.NaN, '–'],
  [Number.POSITIVE_INFINITY, '–'],
])('%d milliseconds are written as %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});
