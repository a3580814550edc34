import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BusyTable, every, type Work } from '../support/busy-table.ts';
import { casesOf } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passNight, passOrdinaryNight } from '../support/witness.ts';

// Lists to which records are added while they are read, of a service with one page size.

const grows = every(30, table => table.insert());
const both =
  (...works: Work[]): Work =>
  (table, asked) => {
    for (const work of works) work(table, asked);
  };

const growing = [
  ['oldest', 'grows', grows],
  ['newest', 'grows', grows],
  ['newest', 'grows fast', every(7, table => table.insert())],
  ['oldest', 'grows fast', every(7, table => table.insert())],
  [
    'oldest',
    'grows and is edited',
    both(
      grows,
      every(20, table => table.edit()),
    ),
  ],
  [
    'newest',
    'grows and is edited',
    both(
      grows,
      every(20, table => table.edit()),
    ),
  ],
] as const;

test.each(casesOf(growing, 2))(
  'a list of one page size is proven each night, %s first, although it %s',
  async (order, _name, work) => {
    await using folder = await memoryFolder();
    await using service = await new BusyTable({ order, hasOneSize: true }).listen();
    service.beforeAnswer = work;
    for (let night = 0; night < 3; night++) {
      const { missing } = await passOrdinaryNight(join(folder.path, 'mirror.sqlite'), service, 2.5);
      expect(missing).toEqual([]);
      service.insert(15);
      service.edit(4);
    }
  },
);

test('a list in no visible order that grows at each answer is read to its end, and said to be unproven', async () => {
  await using folder = await memoryFolder();
  await using service = await new BusyTable({ order: 'unseen', hasOneSize: true }).listen();
  service.beforeAnswer = every(1, table => table.insert());
  for (let night = 0; night < 3; night++) {
    service.asked.length = 0;
    const listedPages = service.pages;
    const { code, outcome, missing } = await passNight(join(folder.path, 'mirror.sqlite'), service);
    expect({ code, completeness: outcome.completeness }).toEqual({ code: 3, completeness: 'unproven' });
    const asked = new Set(service.asked.map(({ index }) => index));
    for (let index = 0; index < listedPages; index++) expect(asked).toContain(index);
    expect(missing).toEqual([]);
  }
});
