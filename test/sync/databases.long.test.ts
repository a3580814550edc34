import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DatabaseService } from '../support/database-service.ts';
import { memoryFolder } from '../support/in-process.ts';
import { passNight, passOrdinaryNight } from '../support/witness.ts';

// A real database, read by LIMIT and OFFSET and counted by a second statement, while others write to it. Each night says whether the
// claims of its run are true.

const timeoutMs = 300_000;
let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
}, timeoutMs);
afterAll(() => database.close());

test.each([
  ['exported_at, id', 0.05, 0, 3, 1.7],
  ['exported_at, id', 0.3, 0, 5, 1.7],
  ['exported_at DESC, id DESC', 0.05, 0, 3, 1.7],
  ['exported_at DESC, id DESC', 0.3, 0, 5, 1.7],
  // An id is given when a job begins, and its row is committed when it ends.
  ['id', 0.1, 40, 5, 7],
] as const)(
  'a table ORDER BY %s is proven each night, with %d writes an answer that are committed up to %d answers late',
  { timeout: timeoutMs },
  async (orderBy, writesPerAnswer, lateBy, nights, most) => {
    await using folder = await memoryFolder();
    await using service = await DatabaseService.start(database, { orderBy, lateBy, writesPerAnswer });
    for (let night = 0; night < nights; night++) {
      await passOrdinaryNight(join(folder.path, 'mirror.sqlite'), service, most);
      await service.passDay();
    }
  },
);

test.each([
  ['ORDER BY title', 'title', 3],
  ['ORDER BY status', 'status', 2],
  ['without ORDER BY', null, 3],
] as const)(
  'a table %s makes no claim false while others write to it',
  { timeout: timeoutMs },
  async (_name, orderBy, nights) => {
    await using folder = await memoryFolder();
    await using service = await DatabaseService.start(database, { orderBy, writesPerAnswer: 0.05 });
    for (let night = 0; night < nights; night++) {
      const { code, outcome } = await passNight(join(folder.path, 'mirror.sqlite'), service);
      expect(code, `${outcome.reason}`).toBe(outcome.completeness === 'proven' ? 0 : 3);
      await service.passDay();
    }
  },
);
