import { join } from 'node:path';
import { expect } from 'vitest';
import { type PlayedNight, playNight } from './honest-nights.ts';
import { memoryFolder, stored } from './in-process.ts';
import { type Kind, NightlyList } from './nightly-list.ts';

const day = 24 * 60 * 60 * 1000;
const hours = (count: number) => count * 60;

/** Lists of 30 pages whose times are almost in order, with the most requests of their first copy. */
export const almostOrdered: Readonly<Record<string, Kind & { readonly most: number }>> = {
  'times off by up to three minutes': { late: 3, most: 41 },
  'one without a time': { outlier: id => (id === 1_500 ? null : undefined), most: 45 },
  'one without a time at the newest end': { outlier: id => (id === 3_000 ? null : undefined), most: 45 },
  'one that is five hours late': {
    late: 3,
    outlier: (id, at) => (id === 1_500 ? at + hours(5) : undefined),
    most: 45,
  },
  'each 500th an hour off': {
    outlier: (id, at) => (id % 500 === 250 ? at + hours(1) : undefined),
    most: 45,
  },
  'each 500th an hour early': {
    late: 3,
    outlier: (id, at) => (id % 500 === 0 ? at - hours(1) : undefined),
    most: 45,
  },
};

/** Dates without times. */
export const onlyDates: Kind = { batch: 1_440 };

/** A first copy, three incremental syncs, and a full one. */
export async function* almostOrderedNights(kind: Kind): AsyncGenerator<PlayedNight> {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const source = new NightlyList(kind);
  let night = 0;
  const play = async (fullEveryMs: number, gone = 0) => ({
    ...(await playNight(path, source, { fullEveryMs })),
    night: night++,
    gone,
  });
  yield await play(day);
  for (const come of [0, 5, 1]) {
    source.grow(come);
    yield await play(day);
  }
  source.change(10, 4, 3);
  yield await play(0, 3);
}

/** The first copy of a long list in no visible order, which changes so often in a reading. */
export async function* inNoVisibleOrder(rate: number, seed: number): AsyncGenerator<PlayedNight> {
  await using folder = await memoryFolder();
  const source = new NightlyList({ order: 'unseen', count: 2_000, size: 50, rate }, seed);
  yield { ...(await playNight(join(folder.path, 'mirror.sqlite'), source)), night: 0, gone: 0 };
}

/** How many of some such first copies are proven; none of them loses a record. */
export async function provenInNoVisibleOrder(rate: number, seeds: number): Promise<number> {
  let proven = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    for await (const { path, source, outcome, requests } of inNoVisibleOrder(rate, seed)) {
      if (outcome.completeness === 'proven') proven++;
      const rows = new Set(stored(path));
      expect([...source.throughout].filter(label => !rows.has(label))).toEqual([]);
      expect(requests).toBeLessThanOrEqual(4.2 * source.pages);
    }
  }
  return proven;
}
