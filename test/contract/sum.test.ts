import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentBytes, Sum } from '../../src/contract/sum.ts';

const contents = fc.array(fc.uint8Array({ minLength: contentBytes, maxLength: contentBytes }), {
  maxLength: 40,
});

function sumOf(all: readonly Uint8Array[]): Sum {
  const sum = new Sum();
  for (const content of all) sum.add(content);
  return sum;
}

/** The same sum by other means. */
function plainSum(all: readonly Uint8Array[]): string {
  const total = all.reduce((sum, content) => sum + BigInt(`0x${Buffer.from(content).toString('hex')}`), 0n);
  return (total % 2n ** 128n).toString(16).padStart(32, '0');
}

describe('a sum', () => {
  test('is the contents as big-endian integers modulo 2^128, in whatever order', () => {
    fc.assert(
      fc.property(contents, all => {
        const sum = sumOf(all);
        expect(sum.count).toBe(all.length);
        expect(sum.toString()).toBe(plainSum(all));
        expect(sumOf(all.toReversed()).equals(sum)).toBe(true);
        expect(Sum.of(Buffer.concat(all)).equals(sum)).toBe(true);
        expect(Sum.from(all.length, sum.toString()).equals(sum)).toBe(true);
      }),
    );
  });

  test('of parts is the sum of the whole, and what is taken away again leaves the rest', () => {
    fc.assert(
      fc.property(contents, contents, (some, others) => {
        const whole = sumOf([...some, ...others]);
        expect(sumOf(some).plus(sumOf(others)).equals(whole)).toBe(true);
        expect(whole.minus(sumOf(others)).equals(sumOf(some))).toBe(true);
        for (const content of others) whole.subtract(content);
        expect(whole.toString()).toBe(plainSum(some));
        expect(whole.count).toBe(some.length);
      }),
    );
  });

  test('of nothing more than another by the greatest content twice carries over', () => {
    const greatest = Buffer.alloc(contentBytes, 0xff);
    expect(sumOf([greatest, greatest]).toString()).toBe(`${'f'.repeat(31)}e`);
    expect(new Sum().minus(sumOf([greatest])).toString()).toBe(`${'0'.repeat(31)}1`);
  });

  test('differs for several empty contents and for none', () => {
    expect(sumOf([Buffer.alloc(contentBytes)]).equals(new Sum())).toBe(false);
  });
});
