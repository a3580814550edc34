import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';
import { recordsIn, sheetIn, valuesIn } from '../support/spreadsheet.ts';
import { collection, documentExport, webhook } from '../support/stand-in.ts';

let scene: Scene;
const manyFields = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${1000 + at}`, at]));

beforeAll(async () => {
  scene = await setScene({}, { exports: 2, collections: 1, webhooks: 1 });
  scene.service.lists['document-exports'] = [
    documentExport(1, {
      pages: 12,
      size: JSON.rawJSON('12345678901234567890'),
      sourceDocumentReference: '0081052',
    }),
    documentExport(2, { pages: null, tags: ['a', 'b'], isSigned: true }),
    documentExport(5, { old: 1 }),
    documentExport(3, {
      exportedAt: '2026-05-01T20:00:00+02:00',
      sourceDocumentTitle: '2026-05-01T18:00:00Z',
    }),
  ];
  await scene.sync();
  scene.service.lists['document-exports'][2] = documentExport(5);
  scene.service.lists['document-exports'].push(documentExport(4, { pages: 7, constructor: 'x' }));
  scene.service.lists.collections = [collection(1, { area: 'ops' })];
  scene.service.lists.webhooks = [webhook(1, manyFields)];
  await scene.sync('--full');
});
afterAll(() => scene[Symbol.asyncDispose]());

/** What a command writes as a spreadsheet, as a library of others reads it. */
async function sheetOf(...args: string[]) {
  const path = join(scene.folder, `${args[0]}.xlsx`);
  expect(await scene.run(...args, '--format', 'xlsx', '--out', path)).toMatchObject({ code: 0 });
  return sheetIn(path);
}

test('each list of export is read, with its times, and with a column for each further field', async () => {
  const out = join(scene.folder, 'lists');
  expect(await scene.run('export', '--format', 'xlsx', '--names', '--out', out)).toMatchObject({ code: 0 });
  const exports = recordsIn(await sheetIn(join(out, 'document_exports.xlsx')));
  const further = exports.map(row =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name.startsWith('_extra'))),
  );
  const none = {
    '_extra.pages': null,
    '_extra.constructor': null,
    '_extra.isSigned': null,
    '_extra.size': null,
    '_extra.tags': null,
    _extra: null,
  };
  expect(further).toEqual([
    { ...none, '_extra.pages': 12, '_extra.size': '12345678901234567890' },
    { ...none, '_extra.isSigned': 'true', '_extra.tags': '["a","b"]' },
    none,
    none,
    { ...none, '_extra.pages': 7, '_extra.constructor': 'x' },
  ]);
  expect(exports[0]).toMatchObject({ source_document_reference: '0081052' });
  expect(exports.find(({ source_document_reference: reference }) => reference === 'DOC-3')).toMatchObject({
    source_connection_name: 'Connection 4',
    source_document_title: '2026-05-01T18:00:00Z',
    exported_at: new Date('2026-05-01T18:00:00Z'),
  });
  const [changed] = recordsIn(await sheetIn(join(out, 'collections.xlsx')));
  expect(changed).toMatchObject({ id: 1, '_extra.area': 'ops', _extra: null });
  expect((await sheetIn(join(out, 'connections.xlsx'))).rowCount).toBeGreaterThan(1);
  // A hundred of them have columns.
  expect(recordsIn(await sheetIn(join(out, 'webhooks.xlsx')))[0]).toMatchObject({
    '_extra.f1099': 99,
    _extra: '{"f1100":100}',
  });
  // Other formats have them together, as ever.
  await scene.run('export', '--format', 'csv', '--out', out);
  expect(readFileSync(join(out, 'document_exports.csv'), 'utf8')).toMatch(/_changed_run_id,_extra\n/);
});

test('changes has times, and columns for further fields before and after', async () => {
  const changes = recordsIn(await sheetOf('changes', '--since-run', '1'));
  expect(changes.map(({ resource, operation }) => [resource, operation])).toEqual(
    expect.arrayContaining([
      ['collections', 'update'],
      ['document-exports', 'insert'],
    ]),
  );
  expect(changes.every(({ changed_at }) => changed_at instanceof Date)).toBe(true);
  const changed = changes.find(({ resource }) => resource === 'collections');
  expect(changed).toMatchObject({
    'before_extra.area': null,
    'after_extra.area': 'ops',
    after_extra: null,
    changed_fields: '["area"]',
  });
  const without = changes.find(({ before_extra }) => before_extra !== null);
  expect(without).toMatchObject({ before_extra: '{"old":1}', after_extra: null });
});

test('query has times where a column is one or SQLite computed one; a text of another column stays a text', async () => {
  const sql = `SELECT id, source_document_title AS title, exported_at, exported_at_utc AS utc, first_seen_at AS seen,
      date(exported_at) AS day, upper(source_document_reference) AS reference
    FROM document_exports_named WHERE source_document_title LIKE '2026%'`;
  const evening = new Date('2026-05-01T18:00:00Z');
  expect(valuesIn(await sheetOf('query', sql))).toEqual([
    ['id', 'title', 'exported_at', 'utc', 'seen', 'day', 'reference'],
    [
      expect.any(Number),
      '2026-05-01T18:00:00Z',
      evening,
      evening,
      expect.any(Date),
      new Date('2026-05-01'),
      'DOC-3',
    ],
  ]);
});
