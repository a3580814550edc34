import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inTurn } from '../support/cases.ts';
import { memoryFolder, syncScene } from '../support/in-process.ts';
import { type AskedPage, PagedService } from '../support/paged-service.ts';
import { rowsOf } from '../support/witness.ts';

// A service can cut pages first and then leave out what the token may not see. Pages come short, and its total counts all records, or those
// that can be seen. Only its page count says how far the list goes.

interface Entry {
  readonly id: number;
  readonly isHidden: boolean;
}

/** A list of exports, some of them hidden, in pages of at most 50. */
class TrimmedList {
  entries: Entry[];
  readonly #total: 'all' | 'visible';
  readonly #order: 'oldest' | 'newest' | 'unseen';

  constructor(
    isHidden: (id: number) => boolean,
    options: { total: 'all' | 'visible'; order?: 'oldest' | 'newest' | 'unseen' },
  ) {
    this.entries = Array.from({ length: 1_200 }, (_, id) => ({ id, isHidden: isHidden(id) }));
    this.#total = options.total;
    this.#order = options.order ?? 'oldest';
  }

  get visible(): number[] {
    return this.entries.filter(({ isHidden }) => !isHidden).map(({ id }) => id);
  }

  readonly serve = ({ index, size }: AskedPage) => {
    const placeOf = ({ id }: Entry) =>
      this.#order === 'unseen' ? (id * 7919) % 10_007 : this.#order === 'oldest' ? id : -id;
    const list = this.entries.toSorted((a, b) => placeOf(a) - placeOf(b));
    const page = list.slice(index * size, (index + 1) * size);
    return {
      items: page.filter(({ isHidden }) => !isHidden).map(({ id }) => exportOf(id)),
      total: this.#total === 'all' ? list.length : this.visible.length,
      pageCount: Math.ceil(list.length / size),
    };
  };
}

const exportOf = (id: number) => ({
  sourceConnection: { id: 1, name: 'C' },
  sourceDocumentTitle: `title ${id}`,
  sourceDocumentReference: `${id}`,
  exportedAt: new Date(1_700_000_000_000 + id * 60_000).toISOString(),
});

const idsIn = (database: string) =>
  rowsOf(database)
    .map(({ reference }) => reference)
    .sort((a, b) => a - b);
const sync = async (scene: Parameters<typeof syncScene>[0]) =>
  (await syncScene(scene, { resources: ['document-exports'] })).of('document-exports');

const fifth = (id: number) => id % 5 === 3;
const laterHalf = (id: number) => id > 700 && id % 3 > 0;
const block = (id: number) => id >= 250 && id < 900;

describe.each(['all', 'visible'] as const)(
  'pages that are trimmed by permission, with a total of %s',
  total => {
    test.each([
      ['each fifth, oldest first', fifth, 'oldest'],
      ['each fifth, newest first', fifth, 'newest'],
      ['each fifth, in no visible order', fifth, 'unseen'],
      ['most of a later half', laterHalf, 'oldest'],
      ['thirteen pages in a row', block, 'oldest'],
    ] as const)('are all read if hidden: %s', async (_name, isHidden, order) => {
      await using folder = await memoryFolder();
      const database = join(folder.path, 'mirror.sqlite');
      const list = new TrimmedList(isHidden, { total, order });
      await using service = await new PagedService({ largest: 50, hasOneSize: false }, list.serve).listen();
      const outcome = await sync({ service, database });
      expect(outcome).toMatchObject({ completeness: 'unproven', removed: 0 });
      expect(outcome.reason).toContain('pages have fewer records than their size');
      expect(outcome.requests).toBeLessThanOrEqual(12 * 24 + 100);
      expect(idsIn(database)).toEqual(list.visible);
    });

    test.each(inTurn(['oldest', 'newest'] as const, total === 'all' ? 0 : 1))(
      'lose the rows that two of them do not show: %s first',
      async order => {
        await using folder = await memoryFolder();
        const database = join(folder.path, 'mirror.sqlite');
        const list = new TrimmedList(fifth, { total, order });
        await using service = await new PagedService({ largest: 50, hasOneSize: false }, list.serve).listen();
        await sync({ service, database });
        for (let night = 0; night < 3; night++) {
          list.entries.splice(100 + 300 * night, 10);
          expect((await sync({ service, database })).removed).toBe(8);
          expect(idsIn(database)).toEqual(list.visible);
        }
      },
    );
  },
);

test('a service that states far more pages than it has is asked for twenty empty ones', async () => {
  await using folder = await memoryFolder();
  const list = new TrimmedList(id => id >= 200 || fifth(id), { total: 'visible' });
  await using service = await new PagedService({ largest: 50, hasOneSize: false }, list.serve).listen();
  const database = join(folder.path, 'mirror.sqlite');
  await sync({ service, database });
  expect(idsIn(database)).toEqual(list.visible);
  expect(Math.max(...service.asked.map(({ index, size }) => index * size))).toBeLessThanOrEqual(
    200 + 20 * 50,
  );
});
