import { afterAll, expect, test } from 'vitest';
import { Disk } from './disk.ts';
import { habitsDrawn } from './draw-paginator.ts';
import { expectNoneBroken } from './play-seeds.ts';
import './simulation.test.ts';

const disk = new Disk();
afterAll(() => disk[Symbol.dispose]());

test('whatever some hundred services do, no promise is broken', { timeout: 600_000 }, async () => {
  const shown = await expectNoneBroken({ first: 401, atLeast: 200, atMost: 2_000, timeMs: 60_000 }, disk);
  expect([...shown].sort()).toEqual([...habitsDrawn].sort());
});
