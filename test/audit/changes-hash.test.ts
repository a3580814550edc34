import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChangesHash, changeLine, type Operation } from '../../src/audit/changes-hash.ts';

type Change = readonly [operation: Operation, recordId: number, content: Uint8Array];

const anyChange = fc.tuple(
  fc.constantFrom<Operation>('insert', 'update', 'removal'),
  fc.oneof(
    fc.nat(120),
    fc.integer({ min: -120, max: -1 }),
    fc.nat(3).map(zeros => 7 * 1000 ** zeros),
    fc.maxSafeInteger(),
  ),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
);

test('of no change it is the SHA-256 of nothing', () => {
  expect(new ChangesHash().digest()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

test('it is the SHA-256 over the lines sorted by their bytes', () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 60 }), changes => {
      expect(hashOf(changes)).toBe(bySorting(changes));
    }),
  );
});

test.each<[string, Change]>([
  ['operation', ['update', 12, new Uint8Array(16)]],
  ['record', ['insert', 1, new Uint8Array(16)]],
  ['content', ['insert', 12, new Uint8Array(16).fill(1, 15)]],
])('another %s makes another hash', (_, change) => {
  expect(hashOf([change])).not.toBe(hashOf([['insert', 12, new Uint8Array(16)]]));
});

test('a change that sorts before one that was added is refused', () => {
  fc.assert(
    fc.property(anyChange, anyChange, (one, other) => {
      const isInOrder = Buffer.compare(lineOf(one), lineOf(other)) < 0;
      const [first, second] = isInOrder ? [one, other] : [other, one];
      fc.pre(!lineOf(first).equals(lineOf(second)));
      const hash = new ChangesHash();
      hash.add(written(second));
      expect(() => hash.add(written(first))).toThrow(RangeError);
    }),
  );
});

test('five million changes take less than 100 MB', () => {
  const before = process.memoryUsage().rss;
  const hash = new ChangesHash();
  const content = '0123456789abcdef'.repeat(2);
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

function written([operation, recordId, content]: Change): string {
  return changeLine(operation, recordId, Buffer.from(content).toString('hex'));
}

function lineOf([operation, recordId, content]: Change): Buffer {
  return Buffer.from(`${operation}\t${recordId}\t${Buffer.from(content).toString('hex')}\n`);
}

function hashOf(changes: readonly Change[]): string {
  const hash = new ChangesHash();
  const sorted = changes.toSorted((one, other) => Buffer.compare(lineOf(one), lineOf(other)));
  for (const change of sorted) hash.add(written(change));
  return hash.digest();
}

function bySorting(changes: readonly Change[]): string {
  return createHash('sha256')
    .update(Buffer.concat(changes.map(lineOf).sort(Buffer.compare)))
    .digest('hex');
}
