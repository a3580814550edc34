import { expect, test } from 'vitest';
import { contentBytes } from '../../../src/contract/sum.ts';
import { type PageAnswer, type PageItems, summaryOf } from '../../../src/proof/windows/page.ts';
import { PlainCourse } from '../../../src/proof/windows/plain-course.ts';

/** Items without keys: of each record a content of its own number. */
function itemsOf(records: readonly number[]): PageItems {
  const contents = Buffer.alloc(records.length * contentBytes);
  for (const [at, record] of records.entries()) contents.writeUInt32BE(record, at * contentBytes);
  return { keys: new Float64Array(records.length).fill(Number.NaN), contents };
}

function read(list: readonly number[], hasOneSize: boolean) {
  const shown = new Map<PageAnswer, PageItems>();
  const course = new PlainCourse({
    identity: 'content',
    largest: 2,
    learnt: 'none',
    hasOneSize,
    expectedTotal: list.length,
    isUsed: () => false,
    itemsOf: answer => shown.get(answer) ?? null,
    reason: 'no order is visible',
  });
  for (let ask = course.next(); ask !== null; ask = course.next()) {
    const records = list.slice(ask.index * ask.size, (ask.index + 1) * ask.size);
    const items = itemsOf(records);
    shown.set(course.answered(ask, list.length, summaryOf(items, records.join(), 'content')), items);
  }
  return { verdict: course.verdict, readings: course.readingCount };
}

test('two readings that agree prove a list', () => {
  expect(read([4, 2, 3, 1], true)).toMatchObject({
    verdict: { rule: 'agreement', isProven: true },
    readings: 2,
  });
});

test('if a record is on two pages, three have to agree, by two sizes', () => {
  const { verdict, readings } = read([4, 2, 3, 2], false);
  expect(verdict).toMatchObject({ isProven: true, repeated: [{ count: 2 }] });
  expect(readings).toBe(3);
  expect(read([4, 2, 3, 2], true).verdict).toMatchObject({ isProven: false });
});
