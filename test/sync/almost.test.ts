import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryFolder, run, stored } from '../support/in-process.ts';
import { type Kind, NightlyList, provenInNoVisibleOrder } from '../support/nightly-list.ts';

// Lists of 30 pages whose times are almost in order.

const day = 24 * 60 * 60 * 1000;
const hours = (count: number) => count * 60;

async function play(path: string, source: NightlyList, fullEveryMs: number) {
  source.beginRun();
  const [outcome] = (await run(path, source, { resources: ['document-exports'], fullEveryMs })).resources;
  expect(outcome?.reason).toBeNull();
  expect(stored(path)).toEqual([...source.throughout].sort());
  return { mode: outcome?.mode, requests: source.traffic.requests };
}

test.each<[string, Kind, number]>([
  ['times off by up to three minutes', { late: 3 }, 41],
  ['one without a time', { stray: id => (id === 1_500 ? null : undefined) }, 45],
  ['one without a time at the newest end', { stray: id => (id === 3_000 ? null : undefined) }, 45],
  [
    'one that is five hours late',
    { late: 3, stray: (id, at) => (id === 1_500 ? at + hours(5) : undefined) },
    45,
  ],
  ['each 500th an hour off', { stray: (id, at) => (id % 500 === 250 ? at + hours(1) : undefined) }, 45],
  [
    'each 500th an hour early',
    { late: 3, stray: (id, at) => (id % 500 === 0 ? at - hours(1) : undefined) },
    45,
  ],
])('a list is synced by key and incrementally: %s', async (_name, kind, most) => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new NightlyList(kind);
  const first = await play(path, source, day);
  expect(first.requests).toBeLessThanOrEqual(most);
  for (const come of [0, 5, 1]) {
    source.grow(come);
    const next = await play(path, source, day);
    expect(next.mode).toBe('incremental');
    expect(next.requests).toBeLessThanOrEqual(3);
  }
  source.change(10, 4, 3);
  const full = await play(path, source, 0);
  expect(full.requests).toBeLessThanOrEqual(2.7 * source.pages);
});

test('a list of dates without times is read twice', async () => {
  await using folder = await memoryFolder();
  const source = new NightlyList({ batch: 1_440 });
  const { requests } = await play(join(folder.path, 'mirror.sqlite'), source, 0);
  expect(requests).toBeLessThanOrEqual(75);
});

test.each([0.3, 1, 3])(
  'a long list in no visible order is proven while it changes: %d changes a reading',
  async rate => {
    expect(await provenInNoVisibleOrder(rate, 3)).toBeGreaterThanOrEqual(2);
  },
);
