import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ageMs, isFresh, type ListEnd, verdictText } from '../../src/store/read/list-state.ts';
import { syncScene } from '../support/in-process.ts';
import { type Scene, setScene } from '../support/scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 1 });
  await syncScene(scene);
});
afterAll(() => scene[Symbol.asyncDispose]());

test('status, the summary, the report and the view say the same of a list, whatever came together', () => {
  expect(verdictText(null)).toBe('never synced');
  for (const status of ['completed', 'partial', 'failed', 'cancelled'])
    for (const completeness of ['proven', 'incremental', 'unproven', null])
      for (const rejected of [0, 2])
        for (const removalsWithheld of [0, 3]) {
          const code = status === 'failed' ? 'network' : status === 'cancelled' ? 'cancelled' : null;
          const isWhole = completeness !== null && completeness !== 'unproven';
          if (status === 'completed' && !isWhole) continue;
          const last = {
            status,
            completeness,
            rejected,
            removalsWithheld,
            error: code === null ? null : { code },
          };
          // The view adds why, which the others say below, and what is kept.
          const why = { unproven: ': why', cancelled: ': cancelled' }[verdictText(last)] ?? '';
          const kept = code !== null && completeness !== null ? ' (kept 3 of 3 records)' : '';
          const inView = `${verdictText(last)}${why}${kept}`;
          expect([last, verdictInView(last)]).toEqual([last, inView]);
        }
});

test.each([
  [{ status: 'completed', completeness: 'proven' }, 'complete: proven'],
  [{ completeness: 'unproven', rejected: 2, removalsWithheld: 3 }, 'unproven'],
  [{ rejected: 2, removalsWithheld: 3 }, 'records rejected: 2, removals withheld: 3'],
  [{ removalsWithheld: 3 }, 'removals withheld: 3'],
  [{ status: 'failed', completeness: null, error: { code: 'network' } }, 'failed: network'],
  [{ status: 'cancelled', completeness: null, error: { code: 'cancelled' } }, 'cancelled'],
])('of a list that ended as %j people read "%s"', (end, words) => {
  const plain = {
    status: 'partial',
    completeness: 'proven',
    rejected: 0,
    removalsWithheld: 0,
    error: null,
  };
  expect(verdictText({ ...plain, ...end })).toBe(words);
});

test('the age of a list is unknown if it was read in the future, but for clocks that differ by a minute', () => {
  const nowMs = Date.parse('2026-06-10T00:00:00Z');
  const agesOf = (at: string | null) => [ageMs(at, nowMs), isFresh(at, nowMs, 3_600_000)];
  expect(agesOf('2026-06-09T23:30:00Z')).toEqual([1_800_000, true]);
  expect(agesOf('2026-06-09T22:00:00Z')).toEqual([7_200_000, false]);
  expect(agesOf('2026-06-10T00:00:59Z')).toEqual([0, true]);
  expect(agesOf('2026-06-10T00:01:01Z')).toEqual([null, false]);
  expect(agesOf(null)).toEqual([null, false]);
});

/** The verdict of a list in a mirror whose last run is said to have ended so. */
function verdictInView(end: ListEnd): string {
  const database = new Database(scene.database);
  database
    .prepare(
      `UPDATE sync_run_resources SET status = @status, completeness = @completeness, rejected = @rejected,
         removals_withheld = @removalsWithheld, reason = 'why', error_message = @message`,
    )
    .run({ ...end, message: end.error?.code });
  const verdict = "SELECT verdict FROM sync_status WHERE resource = 'webhooks'";
  const found = database.prepare<[], string>(verdict).pluck().get();
  database.close();
  return String(found);
}
