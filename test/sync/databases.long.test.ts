import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemOf } from '../support/busy-table.ts';
import { databaseNights, orderedTables, unorderedTables } from '../support/database-nights.ts';
import { memoryFolder, stored, syncScene } from '../support/in-process.ts';
import { PagedService } from '../support/paged-service.ts';

// A real database, read by LIMIT and OFFSET and counted by a second statement, while others write to it. Each night says whether the
// claims of its run are true.

const timeoutMs = 300_000;
let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
}, timeoutMs);
afterAll(() => database.close());

test.each(orderedTables)(
  'a table ORDER BY $orderBy is proven each night, with $writesPerAnswer writes an answer that are committed up to $lateBy answers late',
  { timeout: timeoutMs },
  async ({ most, ...scene }) => {
    for await (const { code, outcome, readings } of databaseNights(database, scene)) {
      expect({ code, reason: outcome.reason }).toEqual({ code: 0, reason: null });
      expect(readings).toBeLessThanOrEqual(most);
    }
  },
);

test.each(unorderedTables)(
  'a table $name makes no claim false while others write to it',
  { timeout: timeoutMs },
  async ({ name: _, ...scene }) => {
    for await (const { code, outcome } of databaseNights(database, scene))
      expect(code, `${outcome.reason}`).toBe(outcome.completeness === 'proven' ? 0 : 3);
  },
);

/** From which OFFSET on the planner sorts the table, in the place of reading its index. */
async function borderOf(size: number): Promise<number> {
  const isSorted = async (offset: number) => {
    const query = `EXPLAIN SELECT * FROM jobs ORDER BY exported_at LIMIT ${size} OFFSET ${offset}`;
    return JSON.stringify((await database.query(query)).rows).includes('Sort Key');
  };
  let [low, high] = [0, 6_000];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isSorted(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

test.each([50, 100])(
  'all rows of one time are shown, though the planner changes their order at some OFFSET within them: pages of %d',
  { timeout: timeoutMs },
  async size => {
    // Forty rows have each time, and the planner's border is in the middle of these.
    let shift = 0;
    for (let tries = 0; tries < 2; tries++) {
      await database.exec(`DROP TABLE IF EXISTS jobs;
        CREATE TABLE jobs (reference integer PRIMARY KEY, exported_at timestamptz NOT NULL, title text NOT NULL);
        INSERT INTO jobs SELECT n, timestamptz '2026-01-01Z' + ((n + ${shift}) / 40) * interval '1 minute', repeat('x', 200)
          FROM generate_series(0, 5999) n ORDER BY (n * 7919) % 6007;
        CREATE INDEX ON jobs (exported_at); ANALYZE jobs;`);
      if (tries === 0) shift = 60 - ((await borderOf(size)) % 40);
    }
    const within = ((await borderOf(size)) + shift) % 40;
    expect(within).toBeGreaterThan(5);
    expect(within).toBeLessThan(35);
    await using service = new PagedService({ largest: size, hasOneSize: false }, async ({ index, size }) => {
      const sql = `SELECT reference, exported_at AS at, title FROM jobs ORDER BY exported_at LIMIT ${size} OFFSET ${index * size}`;
      const { rows } = await database.query<{ reference: number; at: Date; title: string }>(sql);
      return { items: rows.map(row => itemOf({ ...row, at: row.at.getTime() })), total: 6_000 };
    });
    await service.listen();
    await using folder = await memoryFolder();
    const path = join(folder.path, 'mirror.sqlite');
    for (const most of [4.6, 2.6]) {
      const before = service.asked.length;
      const synced = await syncScene({ service, database: path }, { resources: ['document-exports'] });
      expect(synced).toMatchObject({ code: 0 });
      expect(stored(path)).toHaveLength(6_000);
      expect(service.asked.length - before).toBeLessThan((most * 6_000) / size);
    }
  },
);
