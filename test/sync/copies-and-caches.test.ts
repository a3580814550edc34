import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BusyTable, type TableRow } from '../support/busy-table.ts';
import { casesOf } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passNight, passOrdinaryNight, rowsOf } from '../support/witness.ts';

describe('answers of copies of the list', () => {
  const lagging = [
    ['one of two', 'oldest', 2],
    ['one of two', 'newest', 2],
    ['one of three', 'newest', 3],
    ['one of three', 'oldest', 3],
  ] as const;

  test.each(casesOf(lagging, 2))(
    'of which %s lags remove nothing, and the reason says both totals: %s first',
    async (_name, order, copies) => {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      let old: readonly TableRow[] | null = null;
      await using service = await new BusyTable({
        order,
        query: (rows, { n }) => (old !== null && n % copies === 0 ? old : rows),
      }).listen();
      await passOrdinaryNight(path, service, 1.5);
      for (let night = 0; night < 2; night++) {
        old = [...service.table];
        service.insert(20);
        service.edit(10);
        service.remove(4);
        const [now, then] = [service.table.length, old.length];
        const { code, outcome } = await passNight(path, service);
        expect({ code, completeness: outcome.completeness, removed: outcome.removed }).toEqual({
          code: 3,
          completeness: 'unproven',
          removed: 0,
        });
        expect(outcome.reason).toContain('copies of the list that differ');
        expect(outcome.reason).toMatch(RegExp(`\\b(${now} and ${then}|${then} and ${now}) in turn`));
        const { unchanged, inserted, updated, undecided } = outcome;
        expect(rowsOf(path)).toHaveLength(unchanged + inserted + updated + undecided);
      }
      // Once they all are up to date, the list is proven again, and what was deleted goes.
      old = null;
      const { outcome } = await passOrdinaryNight(path, service, 2);
      expect(outcome.removed).toBeGreaterThanOrEqual(8);
    },
  );

  test.each(['oldest', 'newest'] as const)(
    'are not suspected of a list that many people write to, %s first',
    async order => {
      for (const seed of casesOf([1, 2, 3], 3)) {
        await using folder = await memoryFolder();
        const path = join(folder.path, 'mirror.sqlite');
        await using service = await new BusyTable({ order, count: 1_000 }, seed).listen();
        service.beforeAnswer = (table, { n }) => {
          for (let left = table.random.integer(0, 4); left > 0; left--) table.write();
          if (n % 10 === 4) table.remove(8);
          if (n % 10 === 9) table.insert(8);
        };
        for (let night = 0; night < 2; night++) {
          const { outcome } = await passNight(path, service);
          expect(outcome.reason ?? '').not.toContain('copies');
        }
      }
    },
  );

  test.each(casesOf(['newest', 'oldest'] as const, 2))(
    'are not suspected in an ordinary night with a mass deletion, which is proven: %s first',
    async order => {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      await using service = await new BusyTable({ order }).listen();
      for (let night = 0; night < 3; night++) {
        const last = service.asked.length;
        service.beforeAnswer = (table, { n }) => {
          if (n % 4 === 0) table.write();
          if (n === last + 15 && night > 0) table.remove(100, 700);
        };
        await passOrdinaryNight(path, service, 2);
      }
    },
  );
});

describe('a cache', () => {
  const oneDay = 86_402;

  test.each(['oldest', 'newest'] as const)(
    'with pages of yesterday removes no row of today, and the reason says how old they are: %s first',
    async order => {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      let yesterday: readonly TableRow[] | null = null;
      await using service = await new BusyTable({
        order,
        count: 1_000,
        query: rows => yesterday ?? rows,
        headers: () => (yesterday === null ? {} : { age: `${oneDay}` }),
      }).listen();
      const kept = [...service.table];
      service.insert(15);
      service.remove(3);
      await passOrdinaryNight(path, service, 1.6);
      yesterday = kept;
      const { code, outcome } = await passNight(path, service);
      expect({ code, completeness: outcome.completeness, removed: outcome.removed }).toEqual({
        code: 3,
        completeness: 'unproven',
        removed: 0,
      });
      expect(outcome.reason).toContain('24 hours older than the run');
      const rows = new Set(rowsOf(path).map(({ reference }) => reference));
      expect(service.table.filter(({ reference }) => !rows.has(reference))).toEqual([]);
    },
  );

  test('with pages of a minute ago is an ordinary night', async () => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ count: 1_000, headers: () => ({ age: '60' }) }).listen();
    for (let night = 0; night < 2; night++) {
      await passOrdinaryNight(path, service, 2);
      service.passDay();
    }
  });

  test('with one old page makes an incremental run a full one, which proves the list', async () => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    let isOld = false;
    await using service = await new BusyTable({
      count: 1_000,
      headers: (): Record<string, string> => {
        if (!isOld) return {};
        isOld = false;
        return { age: `${oneDay}` };
      },
    }).listen();
    const options = { fullEveryMs: 24 * 60 * 60_000 };
    await passOrdinaryNight(path, service, 1.6, options);
    service.insert(5);
    const fresh = await passOrdinaryNight(path, service, 1.6, options);
    expect(fresh.outcome).toMatchObject({ mode: 'incremental', inserted: 5 });
    service.insert(5);
    isOld = true;
    const old = await passOrdinaryNight(path, service, 2, options);
    expect(old.outcome).toMatchObject({ mode: 'full', completeness: 'proven', inserted: 5 });
  });
});
