import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hash16 } from '../../../src/contract/sum.ts';
import { hasCycle } from '../../../src/proof/windows/cycle.ts';
import { endingAnswers } from '../../../src/proof/windows/end.ts';
import { proveByOverlap } from '../../../src/proof/windows/overlap.ts';
import type { PageAddress } from '../../../src/proof/windows/page.ts';
import { RecordTable } from '../../../src/proof/windows/record-table.ts';
import { answerWith, madeItems } from './lists.ts';

/** Pages of a list without keys: a letter is a record. */
const pageOf = (labels: string, index: number, size: number, total: number) =>
  answerWith(
    { index, size },
    {
      keys: new Float64Array(labels.length).fill(Number.NaN),
      contents: Buffer.concat([...labels].map(label => hash16(label))),
    },
    total,
  );

/** The pages of a reading of a list that does not change. */
const reading = (list: string, pages: readonly PageAddress[]) =>
  pages.map(({ index, size }) =>
    pageOf(list.slice(index * size, (index + 1) * size), index, size, list.length),
  );

const first = [
  { index: 0, size: 4 },
  { index: 1, size: 3 },
  { index: 1, size: 5 },
];
const second = [
  { index: 0, size: 5 },
  { index: 1, size: 4 },
];

const prove = (...readings: ReturnType<typeof reading>[]) =>
  proveByOverlap(readings, endingAnswers(readings.flat()), 'content', madeItems);

describe('a list without a visible key', () => {
  test('is proven by two readings that hang together', () => {
    expect(prove(reading('GCAFBDE', first), reading('GCAFBDE', second))).toEqual({ kind: 'proven' });
  });

  test('is not proven if answers show two records in opposite orders', () => {
    expect(prove(reading('GCAFBDE', first), reading('CGAFBDE', second))).toMatchObject({ kind: 'unfit' });
  });

  test('is not proven if a record is at two places', () => {
    expect(prove(reading('GCAFBGE', first), reading('GCAFBGE', second))).toMatchObject({ kind: 'unfit' });
    expect(prove(reading('GGAFBDE', first), reading('GGAFBDE', second))).toMatchObject({ kind: 'unfit' });
  });

  test('is asked for again around the place at which a reading breaks', () => {
    const broken = [pageOf('GCAF', 0, 4, 8), pageOf('XYZ', 1, 5, 8)];
    expect(prove(broken, reading('GCAFBXYZ', second))).toMatchObject({
      kind: 'broken',
      at: [{ from: 4, to: 5 }],
    });
  });
});

describe('orders', () => {
  test('that agree with one order have no cycle, and one pair the other way makes one', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(30), { minLength: 2, maxLength: 31 }),
        fc.array(fc.array(fc.nat(30)), { maxLength: 8 }),
        (order, picks) => {
          const orders = picks.map(pick => Int32Array.from(order.filter((_, at) => pick.includes(at))));
          expect(hasCycle(orders, 31)).toBe(false);
          const whole = Int32Array.from(order);
          expect(hasCycle([...orders, whole, Int32Array.of(order.at(-1) ?? 0, order[0] ?? 0)], 31)).toBe(
            true,
          );
        },
      ),
    );
  });
});

describe('a table of records', () => {
  test('gives each record one number, however many there are', () => {
    const count = 20_000;
    const keys = Float64Array.from({ length: count }, (_, at) => at * 7_919);
    const contents = Buffer.concat(Array.from({ length: count }, (_, at) => hash16(`${at}`)));
    for (const identity of ['id', 'content'] as const) {
      const table = new RecordTable(identity);
      for (let round = 0; round < 2; round++)
        for (let at = 0; at < count; at++) expect(table.numberOf({ keys, contents }, at) === at).toBe(true);
      expect(table.count).toBe(count);
    }
  });
});
