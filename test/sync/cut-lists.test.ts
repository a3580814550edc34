import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BusyTable, type TableOptions, type TableRow } from '../support/busy-table.ts';
import { inTurn } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import type { AskedPage } from '../support/paged-service.ts';
import { passNight } from '../support/witness.ts';

// Services that leave records out, and state a total that is too small: no other number says that more is listed.

type Cut = NonNullable<TableOptions['cut']>;

interface Places {
  readonly from: number;
  readonly to: number;
}

/** A service that shows other places than those of the page that was asked for. */
const places =
  (placesOf: (page: Places, asked: AskedPage, total: number) => Places): Cut =>
  (rows, asked, total) => {
    const from = asked.index * asked.size;
    const shown = placesOf({ from, to: from + asked.size }, asked, total);
    return rows.slice(shown.from, Math.max(shown.from, shown.to));
  };
const nothing = ({ from }: Places) => ({ from, to: from });
const clippedAt = (most: number) => places(({ from, to }) => ({ from, to: Math.min(to, most) }));
const nothingBeyond = (most: number) => places(page => (page.to <= most ? page : nothing(page)));

/** Sends the records of a page until they are too many bytes, but at least one. */
const cutBySize =
  (bytesOf: (row: TableRow, left: number) => number, most: (size: number) => number): Cut =>
  (rows, { index, size }) => {
    let bytes = 0;
    const from = index * size;
    const page = rows.slice(from, from + size);
    const end = page.findIndex((row, at) => {
      bytes += bytesOf(row, rows.length - from - at);
      return at > 0 && bytes > most(size);
    });
    return end < 0 ? page : page.slice(0, end);
  };
const ordinary = ({ reference }: TableRow) => 100 + ((reference * 7_919) % 900);
/** The last records are so large that no two of them fit into an answer. */
const lastOnesLarge = (_row: TableRow, left: number) => (left <= 5 ? 60_000 : 100);
const someOfTheLastLarge = (_row: TableRow, left: number) => (left <= 25 ? 5_000 : 100);

const cuts: readonly [name: string, count: number, old: number, cut: Cut][] = [
  ['at most 30 records a page', 401, 17, places(({ from, to }) => ({ from, to: Math.min(to, from + 30) }))],
  ['pages of so many bytes', 433, 17, cutBySize(ordinary, size => 500 * size)],
  ['pages of so many bytes, and large ones at the end,', 430, 17, cutBySize(lastOnesLarge, () => 100_000)],
  [
    'pages of so many bytes, and larger ones at the end,',
    430,
    17,
    cutBySize(someOfTheLastLarge, () => 100_000),
  ],
  ['ten pages at most', 700, 60, places((page, { index }) => (index < 10 ? page : nothing(page)))],
  ['ten pages at most', 480, 20, places((page, { index }) => (index < 10 ? page : nothing(page)))],
  ['its first 1,000', 1_001, 4, clippedAt(1_000)],
  ['its first 1,000', 1_020, 60, clippedAt(1_000)],
  ['its first 1,024', 1_050, 60, clippedAt(1_024)],
  ['its first 10,000', 10_030, 60, clippedAt(10_000)],
  ['no page that reaches beyond 1,000', 1_020, 60, nothingBeyond(1_000)],
  ['no page that reaches beyond 1,024', 1_050, 60, nothingBeyond(1_024)],
  [
    'no last page if it is not full',
    449,
    17,
    places((page, { index, size }, total) => (index < Math.floor(total / size) ? page : nothing(page))),
  ],
  [
    'no last page',
    449,
    17,
    places((page, { index, size }, total) =>
      index < Math.max(1, Math.ceil(total / size) - 1) ? page : nothing(page),
    ),
  ],
];

test.each(cuts.map((cut, at) => [...cut, at] as const))(
  'a list is not proven if the service sends %s of %d, with a total that is %d less',
  async (_name, count, old, cut, at) => {
    for (const order of inTurn(['oldest', 'newest'] as const, at)) {
      await using folder = await memoryFolder();
      const largest = count > 5_000 ? 1_000 : 50;
      await using service = await new BusyTable({
        order,
        count,
        largest,
        total: () => count - old,
        cut,
      }).listen();
      const { code, outcome, missing } = await passNight(join(folder.path, 'mirror.sqlite'), service);
      if (missing.length > 0) expect(code, `${outcome.reason}`).toBe(3);
    }
  },
);

test.each<[name: string, (row: TableRow, at: number, rows: readonly TableRow[]) => boolean]>([
  ['some records', ({ reference }) => (reference * 7_919) % 50 !== 0],
  ['a run of records near the end', (_row, at, rows) => at < rows.length - 43 || at >= rows.length - 3],
  ['the last records', (_row, at, rows) => at < rows.length - 20],
])(
  'a service that takes %s out of its pages, with a total that is too small, makes no claim false',
  async (_name, filter) => {
    for (const order of ['oldest', 'newest'] as const) {
      await using folder = await memoryFolder();
      await using service = await new BusyTable({
        order,
        count: 430,
        total: counted => counted - 17,
        cut: (rows, { index, size }) =>
          rows.filter((row, at) => at >= index * size && at < (index + 1) * size && filter(row, at, rows)),
      }).listen();
      const { url, options, pages, witness } = service;
      const watched = { url, options, pages, witness, rows: () => service.table.filter(filter) };
      await passNight(join(folder.path, 'mirror.sqlite'), watched);
    }
  },
);
