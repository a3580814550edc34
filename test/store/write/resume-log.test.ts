import { expect, test } from 'vitest';
import { answersIn, type ResumeLog } from '../../../src/store/write/resume-log.ts';

// With which answers of a reading that ended early the next run goes on.

const day = 24 * 3_600_000;
const nowMs = Date.parse('2026-06-10T00:00:00Z');
const resumeLog: ResumeLog = {
  firstPageNo: 1,
  pageSize: 500,
  totalBefore: null,
  answers: [6.9, 0, 7.1, 30, -0.1].map((days, index) => ({
    ...{ index, size: 500, total: 2_500, digest: `${index}` },
    at: nowMs - days * day,
  })),
};
const first = { firstPageNo: 1, pageSize: 500 };

test('answers count for seven days, the oldest first, and none of the future', () => {
  expect(answersIn(resumeLog, first, nowMs).map(({ index }) => index)).toEqual([0, 1]);
});

test('answers of pages of another size, or counted from another number, do not count', () => {
  expect(answersIn(resumeLog, { ...first, pageSize: 250 }, nowMs)).toEqual([]);
  expect(answersIn(resumeLog, { ...first, firstPageNo: 0 }, nowMs)).toEqual([]);
  expect(answersIn(null, first, nowMs)).toEqual([]);
});
