import { expect, test } from 'vitest';
import { progressLine, type ReadingState } from '../../src/render/progress-line.ts';

const nowMs = Date.parse('2026-11-20T14:00:00Z');
const state: ReadingState = {
  resource: 'document-exports',
  walk: 1,
  pages: 310,
  pageCount: 500,
  pagesPerS: 41.3,
  leftMs: 4_600,
  waitsUntilMs: null,
  ended: null,
};

test('a bar shows the share, the pages, the rate and the time left', () => {
  expect(progressLine(state, nowMs, 79)).toBe(
    'document-exports  ███████░░░░░   62 %  310/500 pages  41/s  5 s left',
  );
});

test('a bar shows which reading it is, from the second on', () => {
  expect(progressLine({ ...state, walk: 2 }, nowMs, 100)).toMatch(/5 s left {2}reading 2$/);
});

test('a bar shows until when the service asked to be left alone', () => {
  const waiting = { ...state, waitsUntilMs: nowMs + 250_000 };
  expect(progressLine(waiting, nowMs, 100)).toMatch(/waits until 14:04:10 UTC, as asked \(4 min 10 s\)$/);
  expect(progressLine(waiting, nowMs, 59)).toMatch(/ {2}62 % {2}waits 4 min 10 s$/);
  expect(progressLine(waiting, nowMs + 250_001, 100)).toMatch(/5 s left$/);
});

test('a bar never says more than the whole, nor what it does not know', () => {
  const line = progressLine({ ...state, pages: 502, pagesPerS: null, leftMs: null }, nowMs, 79);
  expect(line).toMatch(/█ {2}100 % {2}502\/502 pages$/);
  expect(progressLine({ ...state, pages: 0, pageCount: 0 }, nowMs, 79)).toContain('  0 %');
});

test('a bar of a list that has ended is full and says how it ended', () => {
  expect(progressLine({ ...state, ended: 'proven', walk: 2 }, nowMs, 79)).toMatch(
    /█ {2}proven {2}310 pages {2}reading 2$/,
  );
  expect(progressLine({ ...state, ended: 'incremental', pages: 0, walk: 0 }, nowMs, 79)).toMatch(
    /█ {2}incremental$/,
  );
});

test.each([120, 79, 59, 40, 30, 10])('a bar fits %i columns, whatever it has to say', width => {
  for (const over of [
    {},
    { walk: 3, pages: 123_456, pageCount: 999_999 },
    { waitsUntilMs: nowMs + 9e5 },
    { ended: 'proven' },
  ]) {
    expect(progressLine({ ...state, ...over }, nowMs, width).length).toBeLessThanOrEqual(width);
  }
});
