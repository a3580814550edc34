import { describe, expect, test } from 'vitest';
import { greatestOf, leastOf } from '../../../src/contract/extremes.ts';
import { parseExact } from '../../../src/contract/json.ts';
import { renderTable } from '../../../src/render/table.ts';
import { ConnectionNames } from '../../../src/store/write/connections.ts';

/** The least of three times, in milliseconds. */
function msOf(work: () => unknown): number {
  return leastOf(
    [1, 2, 3].map(() => {
      const begunAtMs = performance.now();
      work();
      return performance.now() - begunAtMs;
    }),
  );
}

function readNames(count: number): number {
  const names = new ConnectionNames({ names: [], sayings: [] });
  for (let at = 0; at < count; at++)
    names.enter([{ id: 1, name: 'SAP', extra: `{"href":"/exports/${at}"}` }], at);
  return names.entries.length;
}

/** Some work, and how much of it takes long enough to be measured. */
const works: Readonly<Record<string, readonly [count: number, work: (count: number) => unknown]>> = {
  'names of one connection': [3_000, readNames],
  'zeros of a number': [100_000, count => parseExact(`[1${'0'.repeat(count)}5]`)],
  'rows of a table': [
    2_000,
    count =>
      renderTable(
        ['n'],
        Array.from({ length: count }, (_, n) => [String(n)]),
      ),
  ],
  'least and greatest': [
    100_000,
    count => leastOf(new Float64Array(count)) - greatestOf(new Float64Array(count)),
  ],
};

const triesMax = 5;

describe('ten times the input takes less than thirty times the time', () => {
  test.each(Object.entries(works))('%s', (_, [count, work]) => {
    // A pause of the machine, or of the collector, counts as up to 20 ms.
    const tooLongMs = () => msOf(() => work(10 * count)) - 30 * msOf(() => work(count)) - 20;
    // What grows with the square takes a hundred times the time, each time.
    let [least, triesLeft] = [tooLongMs(), triesMax - 1];
    for (; least >= 0 && triesLeft > 0; triesLeft--) least = Math.min(least, tooLongMs());
    expect(least).toBeLessThan(0);
  });
});

test('the least and the greatest of 300,000 numbers fit on no stack, and are found', () => {
  const many = Array.from({ length: 300_000 }, (_, at) => at);
  expect([leastOf(many), greatestOf(many)]).toEqual([0, 299_999]);
  expect([leastOf([]), greatestOf([])]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
});
