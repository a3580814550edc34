import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addBehind, copyProgram, type Ended, generateMigration, runNode } from '../support/program-copy.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';
import { make } from '../support/scene.ts';
import {
  collection,
  documentExport,
  type Item,
  type StandIn,
  startStandIn,
  webhook,
} from '../support/stand-in.ts';

// Does the work of a maintainer when the service has a new list: the steps of CONTRIBUTING.md, and no others.

const definition = `
const folders: ListDefinition = {
  resource: 'folders',
  path: '/v2/folders',
  title: 'Folders',
  table: 'folders',
  ownerColumn: 'folder_id',
  identity: { by: 'id' },
  connectionNameRank: 0,
  fields: [
    nameField,
    connection('ownerConnection', 'Owner'),
    { kind: 'texts', name: 'labels', table: 'folder_labels', column: 'label', label: 'Labels' },
  ],
};
`;
const tables = `
export const folderFields = () => ({ name: text('name'), ownerConnectionId: connectionId('owner_connection_id') });
export const folders = sqliteTable(
  'folders',
  { id: integer('id').primaryKey(), ...folderFields(), ...stored() },
  table => indexed('folders', table.ownerConnectionId, table.changedRunId),
);
export const folderLabels = sqliteTable(
  'folder_labels',
  {
    folderId: integer('folder_id').notNull().references(() => folders.id, { onDelete: 'cascade' }),
    position: integer('position').notNull(),
    label: text('label').notNull(),
  },
  table => [primaryKey({ columns: [table.folderId, table.position] })],
);
`;
const view = `
export const foldersNamed = sqliteView('folders_named', {
  id: id(),
  ...folderFields(),
  ownerConnectionName: text('owner_connection_name'),
  labels: text('labels').notNull(),
  ...times(),
  ...provenance(),
}).existing();
`;

const folder = (id: number): Item => ({
  id,
  name: `Folder ${id}`,
  ownerConnection: { id: 900 + id, name: `Owner ${id}` },
  labels: id === 2 ? [] : ['signed', `label ${id}`],
});

let place: TemporaryFolder;
let grown: string;
let service: StandIn;
let database: string;
const docmirror = (...args: string[]): Promise<Ended> =>
  runNode(place.path, [join(grown, 'src/cli.ts'), ...args], {
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_TOKEN: service.options.token,
    DOCMIRROR_DATABASE: database,
    DOCMIRROR_LOG_LEVEL: 'error',
  });
/** The program as it is, without the list. */
const current = (...args: string[]) =>
  runNode(place.path, [join(import.meta.dirname, '../../src/cli.ts'), ...args], {
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_TOKEN: service.options.token,
    DOCMIRROR_DATABASE: database,
  });

/** A step that edits a file: adds something behind what is there once. */
const edit = (path: string, line: string, added: string) => addBehind(join(grown, path), line, added);

beforeAll(async () => {
  place = temporaryFolder();
  grown = join(place.path, 'docmirror');
  database = join(place.path, 'mirror.sqlite');
  copyProgram(grown);
  edit('src/contract/lists.ts', "'document-exports' | 'collections' | 'webhooks'", " | 'folders'");
  edit('src/contract/lists.ts', '  hasSecrets: true,\n};\n', definition);
  edit('src/contract/lists.ts', '= [documentExports, collections, webhooks', ', folders');
  edit('src/store/tables/schema.ts', "table => indexed('webhooks', table.changedRunId),\n);\n", tables);
  edit(
    'src/store/tables/view-columns.ts',
    'import { collectionFields, documentExportFields,',
    ' folderFields,',
  );
  edit(
    'src/store/tables/view-columns.ts',
    "  connectionNames: text('connection_names').notNull(),\n  ...times(),\n  ...provenance(),\n}).existing();\n",
    view,
  );
  edit('src/schema.ts', '  documentExports,\n', '  folderLabels,\n  folders,\n');
  edit('src/schema.ts', '  documentExportsNamed,\n', '  foldersNamed,\n');
  edit(
    'examples/sample-service/sample.ts',
    "lists: { 'document-exports': log, collections, webhooks",
    ", folders: [{ id: 1, name: 'Leases' }]",
  );
  await generateMigration(grown);

  service = await startStandIn();
  service.lists = {
    'document-exports': make(20, n => documentExport(n)),
    collections: make(3, n => collection(n)),
    webhooks: make(2, n => webhook(n)),
  };
  // The mirror is of the version before.
  expect(await current('sync')).toMatchObject({ code: 0 });
  Object.assign(service.lists, { folders: [1, 2, 3].map(folder) });
}, 90_000);

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

test('the program compiles after the steps for a new list', async () => {
  writeFileSync(
    join(grown, 'tsconfig.src.json'),
    JSON.stringify({ extends: './tsconfig.json', include: ['src'] }),
  );
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  expect(await runNode(grown, [tsc, '-p', 'tsconfig.src.json'])).toMatchObject({ code: 0, stdout: '' });
}, 60_000);

test('a new list is mirrored into an older mirror, proven, and stated by receipts', async () => {
  const synced = await docmirror('sync', '--json');
  expect(synced).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(synced.stdout).resources).toContainEqual(
    expect.objectContaining({ resource: 'folders', inserted: 3, completeness: 'proven' }),
  );
  expect(
    sqlite(database, 'SELECT id, owner_connection_name AS owner, labels FROM folders_named ORDER BY id'),
  ).toEqual([
    { id: 1, owner: 'Owner 1', labels: '["signed","label 1"]' },
    { id: 2, owner: 'Owner 2', labels: '[]' },
    { id: 3, owner: 'Owner 3', labels: '["signed","label 3"]' },
  ]);
  expect((await docmirror('audit', 'receipts', '--json')).stdout).toContain('"resource":"folders"');
  expect(await docmirror('verify')).toMatchObject({ code: 0 });
  expect(await docmirror('verify', '--live')).toMatchObject({ code: 0 });
});

test('a new list is in what commands show, and in the demo', async () => {
  for (const [words, shown] of [
    ['status', /^folders +3 +complete: proven/m],
    ['show folders 1', /Folder 1/],
    ['changes --resource folders --since-run 1 --format csv', /Folder 3/],
    [`export --resource folders --out ${join(place.path, 'export')}`, /folders/],
    ['demo --records 50', /^folders +1 /m],
  ] as const)
    expect(await docmirror(...words.split(' '))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(shown),
    });
});
