import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BusyTable } from '../support/busy-table.ts';
import { casesOf } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import { type PaginatedScene, paginatedNights } from '../support/paginated-nights.ts';
import { paginators } from '../support/paginators.ts';
import { passNight, passOrdinaryNight } from '../support/witness.ts';

// A service counts its rows with one statement and reads a page with another one. People write between the two.

/** Orders, and the most readings of a night. */
const orders = [
  ['oldest', 1.6],
  ['newest', 1.6],
  ['unseen', 4.3],
] as const;

test.each(casesOf(orders, 2))(
  'a list is proven each night although people write between count and page: %s',
  async (order, most) => {
    await using folder = await memoryFolder();
    await using service = await new BusyTable({ order }).listen();
    service.betweenStatements = table => {
      if (table.random.chance(1 / 5)) table.write();
    };
    for (let night = 0; night < 3; night++) {
      await passOrdinaryNight(join(folder.path, 'mirror.sqlite'), service, most);
    }
  },
);

test.each(casesOf(orders.toReversed(), 2))(
  'a list is proven although its last page is never of the moment of its total: %s',
  async (order, most) => {
    await using folder = await memoryFolder();
    await using service = await new BusyTable({ order }).listen();
    for (let night = 0; night < 3; night++) {
      const asked = new Set<string>();
      service.betweenStatements = (table, { index, size }) => {
        const isFirst = !asked.has(`${index}/${size}`);
        asked.add(`${index}/${size}`);
        if (isFirst && (index + 1) * size > table.table.length) table.insert();
      };
      await passOrdinaryNight(join(folder.path, 'mirror.sqlite'), service, most);
    }
  },
);

const busy = [
  ['oldest', 20],
  ['newest', 20],
  ['newest', 4],
  ['oldest', 4],
  ['unseen', 20],
  ['unseen', 4],
] as const;

test.each(casesOf(busy, 2))(
  'a list of one page size is never falsely proven although people write between count and page: %s, once in %d answers',
  async (order, answers) => {
    await using folder = await memoryFolder();
    await using service = await new BusyTable({ order, hasOneSize: true, count: 1_000 }).listen();
    service.betweenStatements = table => {
      if (table.random.chance(1 / answers)) table.write();
    };
    for (let night = 0; night < 3; night++) {
      const { readings } = await passNight(join(folder.path, 'mirror.sqlite'), service);
      expect(readings).toBeLessThanOrEqual(4.5);
    }
  },
);

test.each<
  readonly [
    why: string,
    paginator: PaginatedScene['paginator'],
    list: PaginatedScene['list'],
    seed: number,
    night: number,
  ]
>([
  [
    'a total falls by three in three answers',
    'count, then rows',
    'exports, oldest first, 1 to 5 pages of 100',
    7,
    2,
  ],
  [
    'a page says the same twice, and the list has moved since',
    'count, then rows',
    'webhooks, about 2 pages of 50',
    3,
    5,
  ],
  [
    'pages of two sizes are the same, because a record before them went',
    'count, then rows',
    'webhooks, about 2 pages of 50',
    6,
    0,
  ],
  [
    'a page never fits its total in four answers',
    'rows, then count',
    'exports, newest first, pages of 100',
    3,
    5,
  ],
  [
    'it moves from one page to two while rows are looked for again',
    'orphans',
    'exports, newest first, 1 to 5 pages of 50',
    8,
    3,
  ],
  [
    'pages of two sizes are the same, and one of them does not fit its total',
    'orphans',
    'webhooks, about 2 pages of 50',
    9,
    3,
  ],
  [
    'a page that is to be looked at again would be the witness of its end, too',
    'cut at a count',
    'exports, newest first, 1 to 5 pages of 50',
    7,
    3,
  ],
])(
  'a list that moves between most answers is proven although %s',
  async (_, paginator, list, seed, night) => {
    for await (const { code, outcome, falseClaims, night: at } of paginatedNights(
      { paginator, list, rate: 0.6 },
      seed,
    )) {
      expect(falseClaims).toEqual([]);
      if (at < night) continue;
      expect({ code, reason: outcome.reason }).toEqual({ code: 0, reason: null });
      break;
    }
  },
);

test('a list whose totals never fit is not asked for time and again because it moves', async () => {
  const scene = { paginator: 'join rows', list: 'collections, one page of 100', rate: 0.6 } as const;
  for await (const { code, outcome, night } of paginatedNights(scene, 2)) {
    expect(outcome.requests).toBeLessThan(100);
    if (night < 2) continue;
    expect(code).toBe(3);
    break;
  }
});

test('a list whose pages come short is asked for as often as a run may at most, with tries of other sizes', async () => {
  const scene = {
    paginator: 'join rows',
    list: 'exports, newest first, 1 to 5 pages of 50',
    rate: 0.6,
  } as const;
  for await (const { falseClaims, outcome, night } of paginatedNights(scene, 2)) {
    expect(falseClaims).toEqual([]);
    if (night < 1) continue;
    expect(outcome.requests).toBeGreaterThan(100);
    break;
  }
});

test('a list that is emptied between count and page is asked for no page of no records', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  await using service = await new BusyTable({ count: 300 }).listen();
  await passOrdinaryNight(path, service, 3);
  const last = service.asked.length;
  service.betweenStatements = table => table.remove(table.table.length, 0);
  const { outcome } = await passNight(path, service);
  expect(outcome).toMatchObject({ removed: 0, completeness: 'unproven' });
  expect(service.asked.slice(last).every(({ size }) => size > 0)).toBe(true);
  expect((await passNight(path, service, { allowMassRemoval: true })).outcome.removed).toBe(300);
});

test.each([3, 5])(
  'a list whose only page has more records than its size is proven although one goes before the page %i is made',
  async at => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ count: 55, paginator: paginators.orphans }).listen();
    await passOrdinaryNight(path, service, 9);
    const last = service.asked.length;
    service.remove(2, 20);
    service.betweenStatements = (table, { n }) => {
      if (n === last + at) table.remove(1, 30);
    };
    const { code, outcome } = await passNight(path, service);
    expect({ code, removed: outcome.removed }).toEqual({ code: 0, removed: 2 });
    expect(outcome.requests).toBeLessThan(20);
  },
);
