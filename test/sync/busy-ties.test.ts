import { expect, test } from 'vitest';
import { Random } from '../../examples/sample-service/random.ts';
import { casesOf } from '../support/cases.ts';
import {
  endsOf,
  type LongList,
  type Order,
  setLongList,
  syncLong,
  takeRequests,
} from '../support/ended-early.ts';
import { expectExactMirror } from '../support/oracle.ts';
import type { SampleItem } from '../support/stand-in.ts';

// Lists of some 50 pages of 50 exports, in which a tenth of the jobs have up to 40 exports of one time. They change while they are read.

const size = 50;
const count = 2_500;
const most = 40;

async function setBusyList(order: Order, seed: number): Promise<LongList & { change(): void }> {
  const scene = await setLongList(count / size, { order, size });
  const random = new Random(seed);
  const isNewestFirst = order === 'by time, the newest first';
  const { items } = scene;
  if (isNewestFirst) items.reverse();
  for (let at = 0; at < items.length; ) {
    const job = items.slice(at, at + (random.chance(0.1) ? random.integer(1, most) : 1));
    for (const item of job) Object.assign(item as object, { exportedAt: job[0]?.exportedAt });
    at += job.length;
  }
  if (isNewestFirst) items.reverse();
  let n = 10 * count;
  const old = () => random.integer(isNewestFirst ? 200 : 0, items.length - (isNewestFirst ? 1 : 200));
  const change = () => {
    const what = random.integer(1, 10);
    n += 10;
    if (what <= 6) scene.add(n);
    else if (what <= 8) items.splice(old(), 1);
    else Object.assign(items[old()] as SampleItem, { sourceDocumentTitle: `Edited ${n}` });
  };
  return { ...scene, change };
}

/** The order of a list, the changes an answer, and the most readings of a night. */
const busy = [
  ['by time, the oldest first', 0.1, 2.3],
  ['by time, the newest first', 0.1, 2.3],
  ['by time, the oldest first', 0.3, 2.6],
  ['by time, the newest first', 0.3, 2.6],
  ['by time, the oldest first', 0.6, 3],
  ['by time, the newest first', 0.6, 3],
] as const;

test.each(casesOf(busy, 3))(
  'each night is proven although small pages end between exports of one time: %s, %d changes an answer',
  async (order, rate, times) => {
    await using scene = await setBusyList(order, 7);
    const random = new Random(3);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    for (let night = 0; night < 2; night++) {
      takeRequests(scene);
      scene.service.onRequest = () => {
        if (random.chance(rate)) scene.change();
      };
      const { code } = await syncLong(scene);
      scene.service.onRequest = undefined;
      expect(code).toBe(0);
      expect(takeRequests(scene).length).toBeLessThan((times * scene.items.length) / size);
    }
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  },
);

test('a reading pauses between the parts of its plan, however many requests are under way, and goes on from there', async () => {
  await using scene = await setBusyList('by time, the newest first', 7);
  await syncLong(scene);
  scene.change();
  let n = 0;
  scene.service.onRequest = () => {
    if (++n % 3 === 0) scene.change();
  };
  takeRequests(scene);
  const before = endsOf(scene).length;
  expect(await syncLong(scene, { saveEveryMs: 1, concurrency: 64 })).toMatchObject({ code: 0 });
  expect(endsOf(scene).length).toBeGreaterThan(before + 2);
  scene.service.onRequest = undefined;
  expect(await syncLong(scene)).toMatchObject({ code: 0 });
  expectExactMirror(scene.database, scene.service);
});

test.each(['by time, the oldest first', 'by time, the newest first'] as const)(
  'no incremental sync becomes a full one because exports share a time: %s',
  async order => {
    await using scene = await setBusyList(order, 5);
    const fullEveryMs = 24 * 60 * 60 * 1_000;
    await syncLong(scene);
    let n = 20 * count;
    for (const job of [30, 1, 40, 12, 25, 3, 38, 7]) {
      const { exportedAt } = scene.add(++n);
      for (let more = 1; more < job; more++) Object.assign(scene.add(++n), { exportedAt });
      const synced = await syncLong(scene, { fullEveryMs });
      expect(synced.of(scene.resource)).toMatchObject({ mode: 'incremental', inserted: job, walks: 0 });
    }
    expectExactMirror(scene.database, scene.service);
  },
);
