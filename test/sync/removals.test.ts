import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { ListDefinition } from '../../src/contract/lists.ts';
import type { Page, PageRequest, PageSource } from '../../src/contract/page.ts';
import { readPage } from '../../src/service/page.ts';
import { memoryFolder, run, stored } from '../support/in-process.ts';
import { toItem } from '../support/moving-list.ts';

interface Asked {
  readonly first: number;
  readonly last: number;
  readonly no: number;
  readonly size: number;
}

/** A list of exports by their times, given as numbers, that a test changes; it notes what each answer has shown. */
class TimedList implements PageSource {
  readonly baseUrl = 'https://timed.example';
  readonly concurrency = 2;
  readonly traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  entries: { readonly reference: number; readonly time: number }[] = [];
  asked: Asked[] = [];
  /** Called before each answer. */
  onRequest = () => {};
  readonly #sizeMax: number;
  #next = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  add(time: number): void {
    this.entries.push({ reference: this.#next++, time });
  }

  async getPage({ resource }: ListDefinition, { pageNo, pageSize }: PageRequest): Promise<Page> {
    this.onRequest();
    const all = resource === 'document-exports' ? this.listed() : [];
    const size = Math.min(pageSize ?? 50, this.#sizeMax);
    const no = pageNo ?? 0;
    const some = all.slice(no * size, (no + 1) * size);
    this.asked.push({
      first: some[0]?.time ?? 0,
      last: some.at(-1)?.time ?? 0,
      no,
      size,
    });
    const pagination = {
      pageNo: no,
      pageSize: size,
      pageCount: Math.ceil(all.length / size),
      totalRecordCount: all.length,
    };
    const items = some.map(({ reference, time }) =>
      toItem({ uid: reference, reference, title: 0, exported: time }),
    );
    return readPage(Buffer.from(JSON.stringify({ items, pagination })), '');
  }

  listed() {
    return this.entries;
  }
}

const exports = { resources: ['document-exports'] };

test('each removal is seen in two answers from different addresses, also between batches of one time', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new TimedList(50);
  for (let day = 0; day < 60; day++) {
    for (let count = 0; count < 45; count++) list.add(day * 100);
    for (let hour = 1; hour < 5; hour++) list.add(day * 100 + hour);
  }
  await run(path, list, exports);
  list.asked = [];
  const gone = list.entries.filter(({ time }) => time % 100 === 2);
  list.entries = list.entries.filter(entry => !gone.includes(entry));
  let requests = 0;
  list.onRequest = () => {
    if (++requests === 20) list.add(6_100);
  };
  const [outcome] = (await run(path, list, exports)).resources;
  const left = new Set(stored(path));
  const removed = gone.filter(({ reference }) => !left.has(`R${reference} title 0`));
  expect(outcome).toMatchObject({ completeness: 'proven', removed: gone.length });
  expect(removed).toHaveLength(gone.length);
  for (const { time } of removed) {
    // A page shows that it is gone, or two neighbours of one size between which it would be.
    const isAround = ({ first, last, no, size }: Asked) =>
      first < time &&
      (time < last || list.asked.some(next => next.no === no + 1 && next.size === size && time < next.first));
    const addresses = list.asked.filter(isAround).map(({ no, size }) => `${no} of ${size}`);
    expect(new Set(addresses).size).toBeGreaterThanOrEqual(2);
  }
});

test.each([
  ['in order', (at: number) => at],
  ['almost in order', (at: number) => at + ((at * 5) % 4)],
])('of a service that lists its newest 1,000 only, %s, no older record is removed', async (_, timeOf) => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new TimedList(100);
  list.listed = () => list.entries.slice(-1_000);
  for (let at = 0; at < 1_200; at++) list.add(timeOf(at));
  expect((await run(path, list, exports)).resources[0]).toMatchObject({ completeness: 'proven' });
  for (let night = 1; night <= 3; night++) {
    for (let count = 0; count < 4; count++) list.add(timeOf(list.entries.length));
    const [outcome] = (await run(path, list, exports)).resources;
    expect(outcome).toMatchObject({
      completeness: 'unproven',
      inserted: 4,
      removed: 0,
      undecided: 4 * night,
    });
    expect(outcome?.reason).toContain('its newest 1000');
  }
});

test('a list of exactly 1,000 from whose middle three go while three come is proven', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new TimedList(100);
  for (let time = 0; time < 1_000; time++) list.add(time);
  await run(path, list, exports);
  list.entries.splice(500, 3);
  for (let count = 0; count < 3; count++) list.add(1_000 + count);
  const summary = await run(path, list, exports);
  expect(summary).toMatchObject({ status: 'completed' });
  expect(summary.resources[0]).toMatchObject({ completeness: 'proven', inserted: 3, removed: 3 });
});

test('other programs can write to tables of their own while the list is read', async () => {
  await using folder = await memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const list = new TimedList(100);
  for (let time = 0; time < 1_000; time++) list.add(time);
  let written = 0;
  list.onRequest = () => {
    const other = new Database(path, { timeout: 100 });
    other.exec('CREATE TABLE IF NOT EXISTS own (value); INSERT INTO own VALUES (1)');
    other.close();
    written++;
  };
  for (let night = 0; night < 3; night++) {
    const summary = await run(path, list, exports);
    expect(summary.status).toBe('completed');
    list.entries.splice(300, 5);
    for (let count = 0; count < 5; count++) list.add(2_000 + 10 * night + count);
  }
  expect(written).toBeGreaterThan(30);
});
