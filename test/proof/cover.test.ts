import { expect, test } from 'vitest';
import type { Answer } from '../../src/proof/answers.ts';
import { windowsOf } from '../../src/proof/cover.ts';
import { AnswerLog } from '../../src/proof/log.ts';
import { ofId, PageItems, showing } from '../../src/proof/page-items.ts';

/** A page that shows these ids, in a list of 40 records. */
const pageOf = (index: number, ids: readonly number[]): Answer => {
  const keys = Float64Array.from(ids);
  return {
    ...{
      index,
      size: 10,
      requestedSize: null,
      total: 40,
      pageCount: 4,
      isSecondLook: false,
      isBeyond: false,
      isRecalled: false,
    },
    ...{ asked: index, arrived: index, at: 0, wrong: null, oldestNewKeys: [] },
    page: new PageItems(`${ids}`, keys, showing(ids.map(id => ({ record: ofId(id) }))), 'id'),
  };
};
const chainCount = (...answers: readonly Answer[]) => {
  const log = new AnswerLog({
    identity: 'id',
    largest: 10,
    overlap: 1,
    learnt: null,
    run: 1,
    totalBefore: null,
  });
  const asking = log.ask(answers);
  asking.next();
  asking.next({ kind: 'pages', answers });
  return windowsOf(log, 'witnessed')?.chains.length;
};

test('windows that share a record are one chain', () => {
  expect(chainCount(pageOf(0, [1, 2, 3]), pageOf(1, [3, 4, 5]))).toBe(1);
});

test('windows whose keys overlap are two chains if no record is on both: some can be between their pages', () => {
  expect(chainCount(pageOf(0, [1, 2, 4]), pageOf(1, [3, 5, 6]))).toBe(2);
  expect(chainCount(pageOf(0, [1, 2, 4]), pageOf(1, [3, 5, 6]), pageOf(2, [2, 3]))).toBe(1);
});
