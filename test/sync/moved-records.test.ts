import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BusyTable, every } from '../support/busy-table.ts';
import { casesOf } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passOrdinaryNight, rowsOf } from '../support/witness.ts';

// Lists in which records move, or come at once, while they are read.

const moved: readonly [what: string, count: number][] = [
  ['ten documents are', 10],
  ['one document is', 1],
];

test.each(casesOf(moved, 2))(
  'if %s exported again while the newest come first, the live document stays',
  async (_name, count) => {
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    await using service = await new BusyTable({ order: 'newest' }).listen();
    await passOrdinaryNight(path, service, 1.5);
    for (let night = 0; night < 3; night++) {
      const last = service.asked.length;
      service.beforeAnswer = (table, { n }) => {
        if (n !== last + 20) return;
        for (let at = 0; at < count; at++) table.exportAgain(1_500 + 20 * at);
      };
      const { outcome } = await passOrdinaryNight(path, service, 1.7);
      expect(outcome).toMatchObject({ inserted: count, removed: count });
      const rows = new Set(rowsOf(path).map(({ reference }) => reference));
      expect(service.table.filter(({ reference }) => !rows.has(reference))).toEqual([]);
    }
  },
);

test('what was deleted goes in the same night although many documents come, the newest first', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  await using service = await new BusyTable({ order: 'newest', count: 4_000 }).listen();
  service.beforeAnswer = table => {
    if (table.random.chance(0.5)) table.write();
  };
  for (let night = 0; night < 3; night++) {
    const { outcome } = await passOrdinaryNight(path, service, 1.6);
    if (night > 0) expect(outcome.removed).toBeGreaterThanOrEqual(12);
    service.remove(12);
  }
});

test('a list that is almost in order is proven although three hundred documents came in thirty seconds', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  await using service = await new BusyTable({ order: 'begun', count: 1_000, lateMs: 180_000 }).listen();
  service.insert(300, 100);
  service.insert(1_500);
  service.beforeAnswer = every(40, table => table.insert());
  for (let night = 0; night < 3; night++) {
    const { outcome } = await passOrdinaryNight(path, service, 4.7);
    if (night > 0) expect(outcome.removed).toBe(4);
    service.edit(4);
    service.remove(4);
  }
});
