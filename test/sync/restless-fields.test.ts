import { expect, test } from 'vitest';
import { writeItems } from '../support/answers.ts';
import { casesOf } from '../support/cases.ts';
import { feedOf, sqlite } from '../support/run-cli.ts';
import { make, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

// A field that has another value in each answer: a signed address, or the time of the answer.

/** The field, and its value in the nth answer. */
const fields: [name: string, field: string, textOf: (item: SampleItem, n: number) => string][] = [
  [
    'a signed address',
    'downloadUrl',
    (item, n) => `https://files.example.com/${item.sourceDocumentReference}?signature=${n}`,
  ],
  ['the time of the answer', 'servedAt', (_item, n) => new Date(1_700_000_000_000 + n * 1000).toISOString()],
];
const lists: [name: string, maxPageSize: number, placeOf: (n: number) => number][] = [
  ['of several pages', 100, n => n],
  ['of one page', 1_000, n => n],
  ['in no visible order', 100, n => (n * 7_919) % 401],
];
const cases = fields.flatMap(([what, ...field]) =>
  lists.map(([where, ...list]) => [what, where, ...field, ...list] as const),
);

test.each(casesOf(cases, 2))(
  '%s in each record of a list %s is named, and makes no further row',
  async (...row) => {
    const [_what, _where, field, textOf, maxPageSize, placeOf] = row;
    await using scene = await setScene({ maxPageSize }, { exports: 400 });
    scene.service.lists['document-exports'] = make(400, n => documentExport(placeOf(n)));
    const [edited] = scene.service.lists['document-exports'] as [SampleItem];
    writeItems(scene.service, 'document-exports', (item, _at, { n }) => ({
      ...item,
      [field]: textOf(item, n),
    }));
    for (let night = 1; night <= 4; night++) {
      // A field that somebody edits is none of them.
      edited.sourceDocumentTitle = `Edited ${night}`;
      const synced = await scene.sync('--full');
      const outcome = synced.of('document-exports');
      expect({ night, code: synced.code, ...outcome }).toMatchObject({
        code: 0,
        completeness: 'proven',
        inserted: night === 1 ? 400 : 0,
        removed: 0,
      });
      expect(sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 400 }]);
      // Two readings of a list are enough, although all texts differ.
      expect(outcome.requests).toBeLessThanOrEqual(11);
      // Pages of a first copy share a few records only.
      if (night > 1) expect(outcome.restlessFields).toEqual([field]);
    }
    expect(feedOf(scene.database)).toEqual({ insert: 400, update: 1_200 });
    const { code, stdout } = await scene.run('sync', '--full');
    expect({ code, stdout: stdout.replaceAll(/\n +/g, ' ') }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`document-exports: ${field} differs in most records`),
    });
  },
);

test('a field that differs in a few records, or in most of them once, is named only then', async () => {
  await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
  const exports = scene.service.lists['document-exports'] as SampleItem[];
  const named = async () => (await scene.sync('--full')).of('document-exports').restlessFields;
  expect(await named()).toEqual([]);
  for (const item of exports.slice(0, 150)) item.sourceDocumentTitle = 'Edited';
  expect(await named()).toEqual([]);
  for (const item of exports) item.sourceDocumentKind = 'letter';
  expect(await named()).toEqual(['sourceDocumentKind']);
  expect(await named()).toEqual([]);
});
