import { afterAll, expect, test } from 'vitest';
import { casesOf, playsAll } from '../support/cases.ts';
import { Disk } from './disk.ts';
import { generate } from './generate.ts';
import { play } from './play.ts';
import { expectNoneBroken } from './play-seeds.ts';
import { readRegressions } from './regressions.ts';
import { plainList, plainRun, plainService, type Scenario } from './scenario.ts';

const disk = new Disk();
afterAll(() => disk[Symbol.dispose]());

// Found cases come first: each is a promise that was broken once.
for (const { name, about, scenario } of casesOf(readRegressions(), 2)) {
  test(`it stays mended: ${name}: ${about}`, async () => {
    const { findings } = await play(scenario, disk);
    expect(findings).toEqual([]);
  });
}

/** The time that a busy machine can take for some hundred runs. */
const slowMs = 240_000;

test(
  'whatever some services do, no promise is broken',
  () => expectNoneBroken({ first: 1, atLeast: 12, atMost: playsAll ? 400 : 12, timeMs: 5_000 }, disk),
  slowMs,
);

test(
  'a seed goes the same way each time, also if answers overtake each other',
  async () => {
    const courseOf = async (seed: number) => {
      const { runs, findings } = await play(generate(seed), disk);
      const words = runs.flatMap(({ report }) => report?.lists ?? []);
      const verdicts = words.map(({ status, completeness, requests, inserted, removed, reason }) =>
        [status, completeness, requests, inserted, removed, reason].join(),
      );
      return { requests: runs.map(({ requests }) => requests), verdicts, findings };
    };
    for (const seed of casesOf([500, 501, 502, 503, 504, 505], 3))
      expect(await courseOf(seed)).toEqual(await courseOf(seed));
  },
  slowMs,
);

test(
  'a process that dies leaves its files as they were, and the next run goes on from them',
  async () => {
    for (const nth of casesOf([1, 12, 3, 6], 2)) {
      for (const at of ['request', 'clock', 'event'] as const) {
        const killed = { ...plainRun, crash: { at, nth, way: 'kill' as const } };
        const { runs, findings } = await play({ ...exportsOf(30), runs: [killed, plainRun] }, disk);
        expect(findings, `killed at ${at} ${nth}`).toEqual([]);
        // A run of 30 exports in pages of 5 asks more often than that, and reads the clock seldom.
        if (at === 'request' && nth <= 6) expect(runs[0]?.report).toBeNull();
      }
    }
  },
  slowMs,
);

test('a run over a known list that was stopped is gone on with, and whatever changed since is proven', async () => {
  for (let nth = 2; nth <= 5; nth++) {
    const stopped = { ...plainRun, crash: { at: 'request' as const, nth, way: 'signal' as const } };
    const update = { list: 'document-exports' as const, kind: 'update' as const, at: 7, to: 0 };
    const scenario = { ...exportsOf(30), runs: [plainRun, stopped, { ...plainRun, before: [update] }] };
    const { runs, findings } = await play(scenario, disk);
    expect(findings, `stopped at request ${nth}`).toEqual([]);
    const [list] = runs[2]?.report?.lists ?? [];
    expect(list?.completeness, list?.reason ?? '').toBe('proven');
  }
});

test('a service that is set up in another way before a run, with another order, is proven as before', async () => {
  const scenario = exportsOf(30);
  const service = { ...scenario.service, firstPageNo: 0 as const, maxSize: 3 };
  const reorder = { list: 'document-exports', kind: 'reorder', at: 0 } as const;
  const shifted = { ...plainRun, shift: { request: 0, service }, before: [{ ...reorder, to: 2 }] };
  const amid = { ...plainRun, shift: { request: 4, service }, before: [{ ...reorder, to: 3 }] };
  const { runs, findings } = await play({ ...scenario, runs: [plainRun, shifted, amid] }, disk);
  expect(findings).toEqual([]);
  const proven = runs.map(({ report }) => report?.lists[0]?.completeness);
  // If that happens during a run, the run fails or proves nothing.
  expect(proven.toSpliced(2, 1)).toEqual(['proven', 'proven', 'proven', 'proven']);
  expect(proven[2]).not.toBe('proven');
});

/** A plain service of so many exports. */
function exportsOf(size: number, pageSize = 5): Scenario {
  return {
    connections: 6,
    synced: ['document-exports'],
    service: { ...plainService, maxSize: pageSize, defaultSize: pageSize },
    lists: { 'document-exports': { ...plainList, size }, collections: plainList, webhooks: plainList },
    runs: [plainRun],
  };
}
