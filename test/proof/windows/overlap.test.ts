import { describe, expect, test } from 'vitest';
import { hash16 } from '../../../src/contract/sum.ts';
import { endingAnswers } from '../../../src/proof/windows/end.ts';
import { proveByOverlap } from '../../../src/proof/windows/overlap.ts';
import type { PageAddress } from '../../../src/proof/windows/page.ts';
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
