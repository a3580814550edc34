import { expect, test } from 'vitest';
import {
  almostOrdered,
  almostOrderedNights,
  onlyDates,
  provenInNoVisibleOrder,
} from '../support/almost-ordered.ts';
import { casesOf } from '../support/cases.ts';
import type { PlayedNight } from '../support/honest-nights.ts';
import { stored } from '../support/in-process.ts';

function expectRight({ path, source, outcome }: PlayedNight) {
  expect(outcome.reason).toBeNull();
  expect(stored(path)).toEqual([...source.throughout].sort());
}

test.each(Object.entries(almostOrdered))(
  'a list is synced by key and incrementally: %s',
  async (_name, kind) => {
    const runs: { mode: string | null; requests: number }[] = [];
    let pages = 0;
    for await (const played of almostOrderedNights(kind)) {
      expectRight(played);
      runs.push({ mode: played.outcome.mode, requests: played.requests });
      pages = played.source.pages;
    }
    const [first, ...increments] = runs;
    const full = increments.pop();
    expect(first?.requests).toBeLessThanOrEqual(kind.most);
    expect(increments.map(({ mode }) => mode)).toEqual(['incremental', 'incremental', 'incremental']);
    for (const { requests } of increments) expect(requests).toBeLessThanOrEqual(3);
    expect(full?.requests).toBeLessThanOrEqual(2.7 * pages);
  },
);

test('a list of dates without times is read twice', async () => {
  for await (const played of almostOrderedNights(onlyDates)) {
    expectRight(played);
    expect(played.requests).toBeLessThanOrEqual(75);
    break;
  }
});

test.each(casesOf([1, 0.3, 3], 3))(
  'a long list in no visible order is proven while it changes: %d changes a reading',
  async rate => {
    expect(await provenInNoVisibleOrder(rate, 3)).toBeGreaterThanOrEqual(2);
  },
);
