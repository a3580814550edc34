import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseNights, orderedTables, unorderedTables } from '../support/database-nights.ts';

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
