import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BusyTable } from '../support/busy-table.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passNight, passOrdinaryNight } from '../support/witness.ts';

// A service counts its rows with one statement and reads a page with another one. People write between the two.

test.each([
  ['oldest', 1.6],
  ['newest', 1.6],
  ['unseen', 4.3],
] as const)(
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

test.each([
  ['oldest', 1.6],
  ['newest', 1.6],
  ['unseen', 4.3],
] as const)(
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

test.each([
  ['oldest', 20],
  ['newest', 20],
  ['oldest', 4],
  ['newest', 4],
  ['unseen', 20],
  ['unseen', 4],
] as const)(
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
