import { expect, test } from 'vitest';
import {
  breakOff,
  endsOf,
  type LongList,
  type Order,
  setLongList,
  syncLong,
  takeRequests,
} from '../support/ended-early.ts';
import { expectExactMirror } from '../support/oracle.ts';

// Lists of 30 pages of 20 exports, in which some jobs have eight exports of one time.

const pages = 30;
const orders = ['by time, the oldest first', 'by time, the newest first'] as const;

async function setTies(order: Order): Promise<LongList> {
  const scene = await setLongList(pages, { order });
  const { items } = scene;
  for (let at = 5; at + 8 < items.length; at += 13)
    for (let more = 1; more < 8; more++)
      Object.assign(items[at + more] as object, { exportedAt: items[at]?.exportedAt });
  return scene;
}

test.each(orders)(
  'a later full sync knows where exports share a time, and takes fewer requests: %s',
  async order => {
    await using scene = await setTies(order);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    const first = takeRequests(scene).length;
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    const second = takeRequests(scene).length;
    expect(second).toBeLessThan(0.85 * first);
    for (const n of [6_001, 6_002, 6_003]) scene.add(n);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expect(takeRequests(scene).length).toBeLessThanOrEqual(second + 2);
    expectExactMirror(scene.database, scene.service);
  },
);

test.each([
  ['by time, the oldest first', [25, 2_505], 35],
  ['by time, the newest first', [6_001, 6_002, 6_003, 6_004, 6_005, 6_006], 25],
] as const)(
  'a reading that goes on asks for the rest of what it had planned: %s',
  async (order, added, most) => {
    await using scene = await setTies(order);
    await syncLong(scene);
    // What the first part writes shifts the places that the mirror knows.
    for (const n of added) scene.add(n);
    await breakOff(scene, 24);
    expect(endsOf(scene).at(-1)).toMatchObject({ completeness: 'unproven', inserted: added.length });
    await breakOff(scene, 3);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expect(takeRequests(scene).length).toBeLessThanOrEqual(most);
    expectExactMirror(scene.database, scene.service);
  },
);

test('a reading that begins again plans anew', async () => {
  await using scene = await setTies(orders[0]);
  await syncLong(scene);
  await breakOff(scene, 24);
  takeRequests(scene);
  expect(await syncLong(scene, { pageSize: 19 })).toMatchObject({ code: 0 });
  expect(Math.max(...takeRequests(scene).map(({ pageSize }) => pageSize ?? 0))).toBe(19);
  expectExactMirror(scene.database, scene.service);
});

test.each(orders)('an incremental sync goes around exports that share a time: %s', async order => {
  await using scene = await setTies(order);
  await syncLong(scene);
  const fullEveryMs = 24 * 60 * 60 * 1000;
  let n = 6_000;
  for (const [jobs, most] of [
    [0, 1],
    [1, 2],
    [7, 8],
  ] as const) {
    // Each job has eight exports of one time, so pages end between them.
    for (let job = 0; job < jobs; job++) {
      const { exportedAt } = scene.add(++n);
      for (let more = 1; more < 8; more++) Object.assign(scene.add(++n), { exportedAt });
    }
    takeRequests(scene);
    const synced = await syncLong(scene, { fullEveryMs });
    expect(synced).toMatchObject({ code: 0 });
    expect(synced.of(scene.resource)).toMatchObject({ mode: 'incremental', inserted: 8 * jobs });
    expect(takeRequests(scene).length).toBeLessThanOrEqual(most);
  }
  expectExactMirror(scene.database, scene.service);
});
