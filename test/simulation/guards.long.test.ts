import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Disk } from './disk.ts';
import type { Edit, Guard } from './guard.ts';
import { guards } from './guards.ts';
import { Mutant } from './mutant.ts';
import { outcomesOf } from './outcomes.ts';
import { guardsFolder, readRegressions } from './regressions.ts';

const disk = new Disk();
afterAll(() => disk[Symbol.dispose]());

const cases = new Map(readRegressions(guardsFolder).map(each => [each.name, each]));

test('a scenario is kept for each guard, which says what breaks without it', () => {
  const kinds = guards.map(({ name, breaks }) => `${name}: ${breaks}`);
  expect([...cases.values()].map(({ name, kind }) => `${name}: ${kind}`)).toEqual(kinds.sort());
});

test('with all guards in place, none of their scenarios breaks a promise', async () => {
  for (const each of cases.values()) expect(await outcomesOf(each, disk), each.name).toEqual([]);
});

// Two processes at a time, however many tests are begun.
const lanes = [Promise.resolve(), Promise.resolve()];

describe.concurrent('without a guard, the simulation finds a failure', { timeout: 300_000 }, () => {
  for (const [number, guard] of guards.entries()) {
    test(`${guard.name}: ${guard.holds}`, ({ expect }) => {
      const lane = number % lanes.length;
      const done = (lanes[lane] ?? Promise.resolve()).then(async () => {
        const { off, behind = [], breaks } = guard;
        if (behind.length > 0) expect(await outcomesWithout(behind, guard), 'with the guard').toEqual([]);
        expect(await outcomesWithout([...behind, ...off], guard), 'without the guard').toContain(breaks);
      });
      lanes[lane] = done.catch(() => undefined);
      return done;
    });
  }
});

async function outcomesWithout(edits: readonly Edit[], { name }: Guard): Promise<string[]> {
  using mutant = new Mutant(edits);
  return await mutant.play(join(guardsFolder, `${name}.json`));
}
