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
] as const)('a list is proven each night although people write between count and page: %s', async (order, most) => {
  await using folder = await memoryFolder();
  await using service = await new BusyTable({ order }).listen();
  service.betweenStatements = table => {
    if (table.random.chance(1 / 5)) table.write();
  };
  for (let night = 0; night < 3; night++) {
    const { readings } = await passOrdinaryNight(join(folder.path, 'mirror.sqlite'), service, most);
    console.log(order, readings);
  }
});

test.each([
  ['oldest', 20],
  ['newest', 20],
  ['oldest', 4],
  ['newest', 4],
  ['unseen', 20],
  ['unseen', 4],
] as const)('a list of one page size is never falsely proven although people write between count and page: %s, once in %d answers', async (order, answers) => {
  await using folder = await memoryFolder();
  await using service = await new BusyTable({ order, hasOneSize: true, count: 1_000 }).listen();
  service.betweenStatements = table => {
    if (table.random.chance(1 / answers)) table.write();
  };
  for (let night = 0; night < 3; night++) {
    const { code, readings, outcome } = await passNight(join(folder.path, 'mirror.sqlite'), service);
    console.log(order, answers, code, readings, outcome.reason);
    expect(readings).toBeLessThanOrEqual(4.5);
  }
});
