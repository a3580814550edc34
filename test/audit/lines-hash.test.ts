import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeLine, contentInLine, LinesHash } from '../../src/audit/lines-hash.ts';

const content = '0123456789abcdef'.repeat(2);

test('of no line it is the SHA-256 of nothing', () => {
  expect(new LinesHash().digest()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('it is the SHA-256 over the lines as they were added', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string().map(text => `${text}\n`),
        { maxLength: 3000, size: 'max' },
      ),
      lines => {
        const hash = new LinesHash();
        for (const line of lines) hash.add(line);
        expect(hash.count).toBe(lines.length);
        expect(hash.digest()).toBe(createHash('sha256').update(lines.join('')).digest('hex'));
      },
    ),
    { numRuns: 30 },
  );
});

test('a change is one line, and its content is read back', () => {
  const line = changeLine('removal', 12, content);
  expect(line).toBe(`removal\t12\t${content}\n`);
  expect(contentInLine(line)).toBe(content);
});

test('five million changes take less than 100 MB', () => {
  const before = process.memoryUsage().rss;
  const hash = new LinesHash();
  for (let at = 0; at < 5_000_000; at++) hash.add(changeLine('insert', 10_000_000 + at, content));
  expect(hash.count).toBe(5_000_000);
  expect(hash.digest()).toMatch(/^[\da-f]{64}$/);
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(100);
});

test('what is no record id or no content is refused', () => {
  expect(() => changeLine('insert', 1.5, '0'.repeat(32))).toThrow(RangeError);
  expect(() => changeLine('insert', 1, '0'.repeat(30))).toThrow(RangeError);
  expect(() => changeLine('insert', 1, `${'0'.repeat(31)}g`)).toThrow(RangeError);
});
