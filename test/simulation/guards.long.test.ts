import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { guards as guardsOfCore, guardsOfLongLists } from '../proof/exhaust/guards.ts';
import { guardNames, Mutant } from '../support/mutant.ts';
import { Disk } from './disk.ts';
import { type Guard, guards, guardsWithoutScenario, neededBySimulation } from './guards.ts';
import { outcomesOf, readRegressions } from './regressions.ts';

const disk = new Disk();
afterAll(() => disk[Symbol.dispose]());

/** A kept scenario takes some seconds at the most, on a busy machine too. */
const timeoutMs = 120_000;

const cases = new Map(readRegressions('guards').map(each => [each.name, each]));

test('each guard of the program is in one of the two tables', () => {
  const withScenario = [...guards, ...guardsOfCore].map(({ name }) => name);
  const listed = [...withScenario, ...guardsOfLongLists, ...guardsWithoutScenario];
  expect(listed.sort()).toEqual(guardNames().sort());
});

test('a scenario is kept for each guard, which says what breaks without it', () => {
  const kinds = guards.map(guard => `${caseOf(guard)}: ${guard.breaks}`);
  expect([...cases.values()].map(({ name, kind }) => `${name}: ${kind}`)).toEqual(kinds.sort());
});

test('with all guards in place, none of their scenarios breaks a promise', async () => {
  for (const each of cases.values()) expect(await outcomesOf(each, disk), each.name).toEqual([]);
});

// Two processes at a time, however many tests are begun.
const lanes = [Promise.resolve(), Promise.resolve()];

describe.concurrent('without a guard, the simulation finds a failure', { timeout: 300_000 }, () => {
  for (const [number, guard] of guards.entries()) {
    test(`${guard.name}: ${guard.keeps}`, ({ expect }) => {
      const lane = number % lanes.length;
      const done = (lanes[lane] ?? Promise.resolve()).then(async () => {
        expect(await outcomesWithout(guard)).toContain(guard.breaks);
      });
      lanes[lane] = done.catch(() => undefined);
      return done;
    });
  }
});

/** The outcomes of the kept scenario without a guard, in a process of its own. */
async function outcomesWithout(guard: Guard): Promise<string[]> {
  using mutant = new Mutant(neededBySimulation, guard.name, guard.instead);
  const script = join(mutant.folder, 'test', 'simulation', 'play-case.ts');
  const options = { cwd: mutant.folder, timeout: timeoutMs };
  const { stdout } = await promisify(execFile)(process.execPath, [script, caseOf(guard)], options);
  return stdout.split('\n').filter(line => line !== '');
}

function caseOf({ name }: Guard): string {
  return name.replaceAll(' ', '-');
}
