import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BusyTable, every, type TableRow } from '../support/busy-table.ts';
import { casesOf, inTurn, playsAll } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passNight, passOrdinaryNight, rowsOf, watchNight } from '../support/witness.ts';

// At the end where a list grows, rows are not shown because they are gone; or because the answer is of a copy that lags, or of a table that
// is being filled again.

const orders = ['oldest', 'newest', 'unseen'] as const;

describe('a copy that lags by seven records', () => {
  const withoutNewest = (rows: readonly TableRow[]) => {
    const newest = new Set(rows.toSorted((a, b) => b.at - a.at).slice(0, 7));
    return rows.filter(row => !newest.has(row));
  };

  const lists = orders.flatMap(order => [140, 260, 430].map(count => ({ order, count })));

  test.each(casesOf(lists, 2).map((list, at) => ({ ...list, seeds: inTurn([1, 2, 3, 4], at) })))(
    'removes nothing from a list of $count records, $order first, whichever answers are its own',
    async ({ order, count, seeds }) => {
      for (const seed of seeds) {
        await using folder = await memoryFolder();
        const path = join(folder.path, 'mirror.sqlite');
        let lags: ((n: number) => boolean) | null = null;
        const query = (rows: readonly TableRow[], { n }: { n: number }) =>
          lags?.(n) ? withoutNewest(rows) : rows;
        await using service = await new BusyTable({ order, count, query }, seed).listen();
        await passOrdinaryNight(path, service, 5);
        for (let left = playsAll ? 10 : 5; left > 0; left--) {
          const first = service.asked.length + 1;
          const chance = seed / 5;
          // The first answer is of the list as it is. A run that meets the other copy alone can't know.
          lags = n => n > first && service.random.chance(chance);
          const { outcome } = await passNight(path, service);
          expect(outcome.removed).toBe(0);
        }
        lags = null;
        service.remove(3, 20);
        const { outcome } = await passOrdinaryNight(path, service, 5);
        expect(outcome).toMatchObject({ removed: 3, completeness: 'proven' });
      }
    },
  );

  test('removes nothing if only one of its answers is of the list as it is', async () => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    let first = Number.POSITIVE_INFINITY;
    const query = (rows: readonly TableRow[], { n }: { n: number }) =>
      n > first && n !== first + 3 ? withoutNewest(rows) : rows;
    await using service = await new BusyTable({ order: 'newest', count: 100, query }).listen();
    await passOrdinaryNight(path, service, 3);
    service.remove(2, 40);
    first = service.asked.length;
    const { outcome } = await passNight(path, service);
    expect(outcome.removed).toBeLessThanOrEqual(2);
  });

  test('is told with both totals if rows would have gone', async () => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    let first = Number.POSITIVE_INFINITY;
    const query = (rows: readonly TableRow[], { n }: { n: number }) =>
      n > first ? withoutNewest(rows) : rows;
    await using service = await new BusyTable({ count: 260, query }).listen();
    await passOrdinaryNight(path, service, 2);
    first = service.asked.length + 1;
    const { code, outcome } = await passNight(path, service);
    expect({ code, undecided: outcome.undecided }).toEqual({ code: 3, undecided: 7 });
    expect(outcome.reason).toContain('totalRecordCount was 260 and 253');
  });
});

test.each(orders)('a copy keeps no row from staying that shows later ones: %s first', async order => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  let first = Number.POSITIVE_INFINITY;
  const query = (rows: readonly TableRow[], { n }: { n: number }) => {
    const late = new Set(rows.toSorted((a, b) => b.at - a.at).slice(2, 8));
    return n >= first && n !== first + 1 ? rows.filter(row => !late.has(row)) : rows;
  };
  await using service = await new BusyTable({ order, count: 120, query }).listen();
  await passOrdinaryNight(path, service, 3);
  first = service.asked.length + 1;
  const { code, outcome } = await passNight(path, service);
  expect({ code, removed: outcome.removed }).toEqual({ code: 3, removed: 0 });
});

/** After how many answers three records arrive, and how many answers are of the copy. */
const moments = Array.from({ length: 6 * 7 }, (_, at) => ({
  more: 1 + (at % 6),
  other: 1 + Math.floor(at / 6),
}));

test.each([2, 7])(
  'a copy that is %i records behind removes nothing if the run meets the other one, too',
  async late => {
    for (const { more, other } of casesOf(moments, 5)) {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      let first = Number.POSITIVE_INFINITY;
      let newest: ReadonlySet<TableRow> = new Set();
      const query = (rows: readonly TableRow[], { n }: { n: number }) =>
        n >= first && n < first + other ? rows.filter(row => !newest.has(row)) : rows;
      await using service = await new BusyTable({ order: 'newest', count: 140, query }).listen();
      await passOrdinaryNight(path, service, 3);
      first = service.asked.length + 1;
      newest = new Set(service.table.slice(0, late));
      service.remove(1, 40);
      service.remove(1, 100);
      service.beforeAnswer = (table, { n }) => (n === first + more ? table.insert(3) : undefined);
      const { outcome } = await watchNight(path, service);
      const isMet = service.asked.length >= first + other;
      if (isMet) expect(outcome.removed, `from ${other} on, three at ${more}`).toBeLessThanOrEqual(2);
    }
  },
);

interface OneOther {
  readonly order: (typeof orders)[number];
  readonly count: number;
  /** Which answer of the night is of the list as it is. */
  readonly other: number;
}

interface CopyMet {
  readonly path: string;
  readonly service: BusyTable;
  /** The number of the night's first request. */
  readonly first: number;
  /** The records that the copy lacks. */
  readonly newest: ReadonlySet<TableRow>;
}

/** Makes a mirror, and plays a night in which all answers but one are of a copy that lacks the newest seven. */
async function meetCopy({ order, count, other }: OneOther, play: (met: CopyMet) => Promise<void>) {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  let first = Number.POSITIVE_INFINITY;
  let newest: ReadonlySet<TableRow> = new Set();
  const query = (rows: readonly TableRow[], { n }: { n: number }) =>
    n >= first && n !== first + other ? rows.filter(row => !newest.has(row)) : rows;
  await using service = await new BusyTable({ order, count, query }).listen();
  await passOrdinaryNight(path, service, 3);
  first = service.asked.length + 1;
  newest = new Set(service.table.toSorted((a, b) => b.at - a.at).slice(0, 7));
  await play({ path, service, first, newest });
}

test.each([
  { order: 'newest', count: 260 },
  { order: 'oldest', count: 260 },
  { order: 'oldest', count: 140 },
  { order: 'unseen', count: 260 },
] as const)(
  'a copy that lags removes nothing although as many arrive as it lacks: $count, $order first',
  async list => {
    for (let other = 1; other <= 6; other++)
      await meetCopy({ ...list, other }, async ({ path, service, first, newest }) => {
        for (const row of service.table.filter(each => !newest.has(each)).slice(60, 63))
          service.remove(1, service.table.indexOf(row));
        service.beforeAnswer = (table, { n }) => (n > first + other ? table.insert() : undefined);
        const { outcome } = await watchNight(path, service);
        const isMet = service.asked.length > first + other;
        if (isMet) expect(outcome.removed, `other copy at ${other}`).toBeLessThanOrEqual(3);
      });
  },
);

test.each(orders)(
  'a copy that lags removes nothing although as many go as it lacks: %s first',
  async order => {
    for (let other = 2; other <= 5; other++)
      await meetCopy({ order, count: 260, other }, async ({ path, service, first, newest }) => {
        service.remove(1, 150);
        service.beforeAnswer = (table, { n }) => {
          if (n !== first + 1) return;
          for (const row of table.table.filter(each => !newest.has(each)).slice(0, 7))
            table.remove(1, table.table.indexOf(row));
        };
        await passNight(path, service);
      });
  },
);

describe('rows that really go from the growing end', () => {
  test('go at once although three arrive in one moment, and another one later', async () => {
    for (let later = 3; later <= 12; later++) {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      await using service = await new BusyTable({ order: 'newest', count: 260 }).listen();
      await passOrdinaryNight(path, service, 2);
      const last = service.asked.length;
      for (const [count, place] of [
        [8, 0],
        [1, 90],
        [1, 200],
      ] as const)
        service.remove(count, place);
      service.beforeAnswer = (table, { n }) => {
        if (n === last + 2) table.insert(3);
        if (n === last + later) table.insert();
      };
      expect((await passOrdinaryNight(path, service, 2.6)).outcome.removed).toBe(10);
    }
  });

  test.each(orders.slice(0, 2))('while the list is read stay for one run: %s first', async order => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ order, count: 260 }).listen();
    await passOrdinaryNight(path, service, 2);
    const last = service.asked.length;
    const place = order === 'newest' ? 0 : 255;
    service.beforeAnswer = (table, { n }) => (n === last + 2 ? table.remove(5, place) : undefined);
    const { code, outcome } = await passNight(path, service);
    expect(outcome.removed).toBe(0);
    expect(code).toBe(outcome.undecided > 0 ? 3 : 0);
    expect((await passOrdinaryNight(path, service, 2.5)).outcome.removed).toBe(5);
  });

  test.each(orders)('before a run go at once: %s first', async order => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ order, count: 260 }).listen();
    await passOrdinaryNight(path, service, 5);
    const newest = service.table.toSorted((a, b) => b.at - a.at).slice(0, 40);
    for (const row of newest) service.remove(1, service.table.indexOf(row));
    expect((await passOrdinaryNight(path, service, 5)).outcome.removed).toBe(40);
  });

  test('go at once from a list on one page that gets shorter meanwhile', async () => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ count: 40 }).listen();
    await passOrdinaryNight(path, service, 3);
    const last = service.asked.length;
    service.remove(2, 10);
    // It gets shorter when two answers have proven it, and before the second look.
    service.beforeAnswer = (table, { n }) => (n === last + 3 ? table.remove(1, 20) : undefined);
    expect((await passOrdinaryNight(path, service, 6)).outcome.removed).toBe(2);
  });

  test('go at once although a few arrive, if they are fewer than ten', async () => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ count: 260 }).listen();
    await passOrdinaryNight(path, service, 2);
    service.remove(9, 251);
    service.beforeAnswer = every(3, table => table.insert());
    expect((await passOrdinaryNight(path, service, 2.5)).outcome.removed).toBe(9);
  });
});

test('rows that go from everywhere go at once, also from the growing end', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  await using service = await new BusyTable({ count: 230 }).listen();
  await passOrdinaryNight(path, service, 3);
  for (let place = 229; place >= 0; place--) if (place > 209 || place % 8 > 0) service.remove(1, place);
  const last = service.asked.length;
  service.beforeAnswer = (table, { n }) => (n === last + 2 ? table.insert() : undefined);
  const { outcome } = await passOrdinaryNight(path, service, 6, { allowMassRemoval: true });
  expect(outcome).toMatchObject({ inserted: 1, removed: 203 });
});

describe('a table that is being filled again', () => {
  const sizes = orders.slice(0, 2).flatMap(order => [90, 130, 600].map(count => ({ order, count })));

  test.each(casesOf(sizes, 2))(
    'loses none of $count rows, and in the next run those that are still gone: $order first',
    async ({ order, count }) => {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      await using service = await new BusyTable({ order, count }).listen();
      await passOrdinaryNight(path, service, 3);
      const rows = service.table.toSorted((a, b) => a.at - b.at);
      const fillTo = (filled: number) => {
        const now = new Set(rows.slice(0, filled));
        service.table = (order === 'newest' ? rows.toReversed() : rows).filter(row => now.has(row));
        for (const row of rows)
          (now.has(row) ? service.witness.show : service.witness.hide).call(service.witness, row);
      };
      let filled = Math.floor(count * 0.66);
      fillTo(filled);
      service.beforeAnswer = () => fillTo(++filled);
      const { code, outcome } = await passNight(path, service);
      expect({ code, removed: outcome.removed }).toEqual({ code: 3, removed: 0 });
      expect(outcome.reason).toContain('being filled');
      expect(rowsOf(path)).toHaveLength(count);
      // Whether it stays as it is from now on or not, rows that are gone twice go.
      service.beforeAnswer = count === 130 ? () => undefined : every(3, () => fillTo(++filled));
      const { outcome: next } = await passOrdinaryNight(path, service, 5);
      expect(next.removed).toBeGreaterThanOrEqual(count - filled);
      service.beforeAnswer = () => undefined;
      fillTo(count);
      await passOrdinaryNight(path, service, 4);
      expect(rowsOf(path)).toHaveLength(count);
    },
  );

  test.each(orders)('loses none of its rows if a new one arrives meanwhile: %s first', async order => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    let filled = Number.POSITIVE_INFINITY;
    const query = (rows: readonly TableRow[]) =>
      rows.filter(({ reference }) => reference <= filled || reference > 100);
    await using service = await new BusyTable({ order, count: 100, query }).listen();
    await passOrdinaryNight(path, service, 3);
    filled = 70;
    service.insert();
    service.beforeAnswer = () => filled++;
    const { outcome } = await passNight(path, service);
    expect(outcome).toMatchObject({ completeness: 'unproven', inserted: 1, removed: 0 });
  });
});
