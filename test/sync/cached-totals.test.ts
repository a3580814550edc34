import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BusyTable, every } from '../support/busy-table.ts';
import { casesOf } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passNight, passOrdinaryNight } from '../support/witness.ts';

// A service can state a total that is older than the page beside it, or an estimate.

/** Counts the rows once in so many answers: some 30 seconds of a busy service. */
function cachedFor(answers: number) {
  let [cached, counted] = [Number.NaN, 0];
  return (now: number, { n }: { n: number }) => {
    if (Number.isNaN(cached) || n >= counted + answers) [cached, counted] = [now, n];
    return cached;
  };
}

describe('a total that is too small', () => {
  const totals = [
    ['oldest', 'cached', () => cachedFor(400)],
    ['newest', 'cached', () => cachedFor(400)],
    ['newest', 'cached for a while', () => cachedFor(25)],
    ['oldest', 'cached for a while', () => cachedFor(25)],
    ['oldest', 'an estimate', () => (now: number) => Math.floor(now * 0.985)],
    ['newest', 'an estimate', () => (now: number) => Math.floor(now * 0.985)],
  ] as const;

  test.each(casesOf(totals, 2))('is an ordinary night: %s first, %s', async (order, _name, total) => {
    await using folder = await memoryFolder();
    await using service = await new BusyTable({ order, total: total() }).listen();
    service.beforeAnswer = every(15, table => table.insert());
    for (let night = 0; night < 3; night++) {
      const { missing } = await passOrdinaryNight(join(folder.path, 'mirror.sqlite'), service, 1.6);
      expect(missing).toEqual([]);
      service.insert(7);
    }
  });

  test.each(casesOf(['oldest', 'newest'] as const, 2))(
    'lets rows go that are not in the list any more: %s first',
    async order => {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      await using service = await new BusyTable({ order, count: 1_990, total: now => now - 20 }).listen();
      await passOrdinaryNight(path, service, 1.6);
      service.passDay();
      const { outcome } = await passOrdinaryNight(path, service, 2);
      expect(outcome).toMatchObject({ inserted: 15, removed: 3 });
    },
  );
});

test.each(casesOf(['newest', 'oldest'] as const, 2))(
  'a total that is too great is named with the end that was shown: %s first',
  async order => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    const cached = cachedFor(100_000);
    await using service = await new BusyTable({ order, count: 5_990, total: cached }).listen();
    await passOrdinaryNight(path, service, 1.5);
    const stated = service.table.length;
    service.remove(12);
    const { code, outcome, readings } = await passNight(path, service);
    expect({ code, completeness: outcome.completeness }).toEqual({ code: 3, completeness: 'unproven' });
    expect(outcome.reason).toContain(
      `totalRecordCount says ${stated}, and the last page ends at ${service.table.length}; the service seems to count records that it does not list`,
    );
    expect(readings).toBeLessThanOrEqual(2.5);
  },
);
