import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { type DatabaseOptions, DatabaseService } from './database-service.ts';
import { type InProcessOptions, memoryFolder } from './in-process.ts';
import { type Night, passNight } from './witness.ts';

/** Tables of a real database, and for how many nights others write to them while they are read. */
export interface DatabaseScene extends Partial<DatabaseOptions> {
  readonly nights: number;
}

/** Tables whose order tells where a record belongs, with the most requests of a night, as a multiple of one reading. */
export const orderedTables: readonly (DatabaseScene & { readonly most: number })[] = [
  { orderBy: 'exported_at, id', writesPerAnswer: 0.05, lateBy: 0, nights: 3, most: 1.7 },
  { orderBy: 'exported_at, id', writesPerAnswer: 0.3, lateBy: 0, nights: 5, most: 1.7 },
  { orderBy: 'exported_at DESC, id DESC', writesPerAnswer: 0.05, lateBy: 0, nights: 3, most: 1.7 },
  { orderBy: 'exported_at DESC, id DESC', writesPerAnswer: 0.3, lateBy: 0, nights: 5, most: 1.7 },
  // An id is given when a job begins, and its row is committed when it ends.
  { orderBy: 'id', writesPerAnswer: 0.1, lateBy: 40, nights: 5, most: 7 },
];

/** Tables in an order that moves records, or in none. */
export const unorderedTables: readonly (DatabaseScene & { readonly name: string })[] = [
  { name: 'ORDER BY title', orderBy: 'title', writesPerAnswer: 0.05, nights: 3 },
  { name: 'ORDER BY status', orderBy: 'status', writesPerAnswer: 0.05, nights: 2 },
  { name: 'without ORDER BY', orderBy: null, writesPerAnswer: 0.05, nights: 3 },
];

/** Plays the nights of a table; what each run claims is true, or it throws. */
export async function* databaseNights(
  database: PGlite,
  { nights, ...options }: DatabaseScene,
  { seed = 1, ...runOptions }: InProcessOptions & { seed?: number; concurrency?: number } = {},
): AsyncGenerator<Night & { readonly night: number }> {
  await using folder = await memoryFolder();
  await using service = await DatabaseService.start(database, options, seed);
  for (let night = 0; night < nights; night++) {
    yield { night, ...(await passNight(join(folder.path, 'mirror.sqlite'), service, runOptions)) };
    await service.passDay();
  }
}
