import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChangesHash, type Operation } from '../../src/audit/changes-hash.ts';

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

test('the order in which changes come does not matter', () => {
  const both = fc
    .array(anyChange, { maxLength: 60 })
    .chain(changes =>
      fc.tuple(fc.constant(changes), fc.shuffledSubarray(changes, { minLength: changes.length })),
    );
  fc.assert(
    fc.property(both, ([changes, shuffled]) => {
      expect(hashOf(shuffled)).toBe(hashOf(changes));
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

test('more changes can be added after the hash was asked for', () => {
  const changes: Change[] = [
    ['removal', 2, new Uint8Array(16).fill(7)],
    ['insert', Number.MIN_SAFE_INTEGER, new Uint8Array(16).fill(255)],
  ];
  const hash = new ChangesHash();
  for (const change of changes) {
    hash.add(...asHex(change));
    hash.digest();
  }
  expect(hash.count).toBe(2);
  expect(hash.digest()).toBe(bySorting(changes));
});

test('a million changes in no order take less than 150 MB', () => {
  const before = process.memoryUsage().rss;
  const hash = new ChangesHash();
  const content = Buffer.alloc(16);
  for (let at = 0; at < 1_000_000; at++) {
    content[at % 16] = at % 251;
    hash.add(at % 3 === 0 ? 'update' : 'insert', (at * 611_953) % 1_000_003, content.toString('hex'));
  }
  expect(hash.digest()).toMatch(/^[\da-f]{64}$/);
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(150);
});

test('what is no record id or no content is refused', () => {
  expect(() => new ChangesHash().add('insert', 1.5, '0'.repeat(32))).toThrow(RangeError);
  expect(() => new ChangesHash().add('insert', 1, '0'.repeat(30))).toThrow(RangeError);
  expect(() => new ChangesHash().add('insert', 1, `${'0'.repeat(31)}g`)).toThrow(RangeError);
});

function asHex([operation, recordId, content]: Change): [Operation, number, string] {
  return [operation, recordId, Buffer.from(content).toString('hex')];
}

function hashOf(changes: readonly Change[]): string {
  const hash = new ChangesHash();
  for (const change of changes) hash.add(...asHex(change));
  return hash.digest();
}

function bySorting(changes: readonly Change[]): string {
  const lines = changes.map(([operation, recordId, content]) =>
    Buffer.from(`${operation}\t${recordId}\t${Buffer.from(content).toString('hex')}\n`),
  );
  return createHash('sha256')
    .update(Buffer.concat(lines.sort(Buffer.compare)))
    .digest('hex');
}
