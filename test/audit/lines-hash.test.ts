import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentInLine, LinesHash } from '../../src/audit/lines-hash.ts';

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

test('the content is read back from the line of a change', () => {
  expect(contentInLine(`removal\t12\t${content}\n`)).toBe(content);
});

test('five million changes take less than 100 MB', () => {
  const before = process.memoryUsage().rss;
  const hash = new LinesHash();
  for (let at = 0; at < 5_000_000; at++) hash.add(`insert\t${10_000_000 + at}\t${content}\n`);
  expect(hash.count).toBe(5_000_000);
  expect(hash.digest()).toMatch(/^[\da-f]{64}$/);
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(100);
});
