import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, type Sizes, setScene } from '../support/scene.ts';
import { collection, documentExport, type Item, type StandInOptions, webhook } from '../support/stand-in.ts';

const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const exportsOf = (count: number, more: (n: number) => object) =>
  range(count).map((n): Item => ({ ...documentExport(n), ...more(n) }));
const instant = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 3_600_000).toISOString();

const withoutOrder = (count: number) => exportsOf(count, n => ({ exportedAt: instant((n * 37) % 151) }));

/** How a service behaves, and what a run says of it: the value of a fact of exports, or of the list before a slash. */
interface Habit {
  readonly options?: Partial<StandInOptions>;
  readonly sizes?: Sizes;
  readonly lists?: Partial<Scene['service']['lists']>;
  readonly args?: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
}

const hasPaused = new Set<string>();

const habits: Readonly<Record<string, Habit>> = {
  'counts pages from 0 and refuses large ones': {
    options: { firstPage: 0, maxPageSize: 100, clamp: 'refuse' },
    facts: {
      first_page: 0,
      page_size: 100,
      larger_page_size: { asked: 1000, how: 'refused', status: 400, code: 'refused' },
      failures: { 400: 3 },
    },
  },
  'cuts large pages in silence, and has nothing beyond the end': {
    options: { maxPageSize: 50, clamp: 'honest', order: 'shuffled-per-walk' },
    sizes: { exports: 130 },
    facts: {
      page_size: 50,
      larger_page_size: { asked: 1000, how: 'cut', served: 50 },
      first_page: 1,
      order: { by: null },
    },
  },
  'answers 404 beyond the end': {
    options: { maxPageSize: 50, beyond: '404' },
    lists: { 'document-exports': withoutOrder(150) },
    facts: { beyond_end: '404', beyond_full_end: '404', 'webhooks/beyond_end': undefined },
  },
  'answers with an empty page beyond the end': {
    options: { maxPageSize: 50, beyond: 'empty' },
    lists: { 'document-exports': withoutOrder(150) },
    facts: { beyond_end: 'empty', beyond_full_end: 'empty', order: { by: null } },
  },
  'repeats the last page beyond the end': {
    options: { maxPageSize: 50, beyond: 'last' },
    lists: { 'document-exports': withoutOrder(150) },
    facts: { beyond_end: 'last page again', beyond_full_end: 'last page again' },
  },
  'repeats the last page under the number that was asked for': {
    options: { maxPageSize: 50, beyond: 'last-echoed' },
    lists: { 'document-exports': withoutOrder(150) },
    facts: { beyond_end: 'last page again' },
  },
  'compresses its answers, and marks them': {
    options: { gzip: true, headers: () => ({ etag: '"a"', age: '7' }) },
    facts: { compression: 'gzip', etag: true, age_ms: 7_000 },
  },
  'neither compresses nor marks its answers': {
    facts: {
      compression: 'none',
      etag: false,
      age_ms: undefined,
      retry_after: undefined,
      negative_total: false,
      numbers_as_text: [],
    },
  },
  'asks for a pause once': {
    options: {
      faults: ({ resource, pageNo }) =>
        resource === 'document-exports' && pageNo === 2 && !hasPaused.has(resource)
          ? hasPaused.add(resource) && { kind: 'status', status: 503, headers: { 'retry-after': '1' } }
          : undefined,
      maxPageSize: 100,
    },
    facts: { failures: { 503: 1 }, retry_after: { form: 'seconds', mostMs: 1_000 } },
  },
  'lists exports from old to new, ten an hour': {
    lists: { 'document-exports': exportsOf(60, n => ({ exportedAt: instant(Math.floor((n - 1) / 10)) })) },
    facts: {
      order: { by: 'exportedAt', direction: 'up', isExact: true },
      ties: 10,
      total: 'fits',
      'field.exportedAt': { types: ['string'], isInContract: true, times: ['0000-00-00T00:00:00.000Z'] },
    },
  },
  'writes times that nobody can read': {
    lists: { 'document-exports': exportsOf(30, n => ({ exportedAt: `/Date(${1_700_000_000 + n})/` })) },
    facts: { 'field.exportedAt': { types: ['string'], isInContract: true, times: ['unreadable'] } },
  },
  'has fields that are null, missing, empty, or beside the contract': {
    lists: {
      'document-exports': exportsOf(12, n => ({
        destinationReference: n % 2 === 0 ? null : undefined,
        sourceDocumentTitle: n === 1 ? '' : 'x'.repeat(n),
        sourceDocumentKind: ['invoice', 'offer'][n % 2],
        ...(n > 9 && { owner: n }),
      })),
    },
    facts: {
      'field.destinationReference': { types: ['missing', 'null'], isInContract: true },
      'field.sourceDocumentTitle': { types: ['string'], isInContract: true },
      'field.owner': { types: ['missing', 'number'], isInContract: false },
      'kind.invoice': 'invoice',
      'kind.offer': 'offer',
    },
  },
  'has webhooks with two events, and connections without a name': {
    lists: {
      webhooks: range(5).map(id =>
        webhook(id, { events: ['made', 'gone'], connections: [{ id: 1, name: 'A' }, { id: 2 }] }),
      ),
      collections: range(4).map(id => collection(id, { name: null })),
    },
    facts: {
      'webhooks/event.made': 'made',
      'webhooks/event.gone': 'gone',
      'webhooks/field.connections': { types: ['array'], isInContract: true },
      'collections/field.name': { types: ['null'], isInContract: true },
    },
  },
};

test.each(Object.entries(habits))('a run tells of a service that %s', async (_, habit) => {
  await using scene = await setScene(habit.options, habit.sizes);
  Object.assign(scene.service.lists, habit.lists);
  const { stderr } = await scene.sync(...(habit.args ?? []));
  expect(stderr).not.toContain('internal');
  const facts = factsIn(scene);
  const found = Object.fromEntries(
    Object.keys(habit.facts).map(name => [
      name,
      facts[name.includes('/') ? name : `document-exports/${name}`]?.value,
    ]),
  );
  expect(found).toEqual(habit.facts);
});

function factsIn({ database }: Scene) {
  const rows = sqlite(database, 'SELECT * FROM service_facts');
  const read = (json: unknown) => JSON.parse(String(json));
  return Object.fromEntries(
    rows.map(row => [
      `${row.resource}/${row.fact}`,
      { ...row, value: read(row.value), evidence: read(row.evidence), previous: read(row.previous_value) },
    ]),
  );
}

test('the evidence counts each record once, and says how long texts are', async () => {
  await using scene = await setScene();
  Object.assign(
    scene.service.lists,
    habits['has fields that are null, missing, empty, or beside the contract']?.lists,
  );
  await scene.sync();
  const evidenceOf = (name: string) => factsIn(scene)[`document-exports/${name}`]?.evidence;
  expect(evidenceOf('field.destinationReference')).toMatchObject({ records: 12, missing: 6, null: 6 });
  expect(evidenceOf('field.sourceDocumentTitle')).toMatchObject({ records: 12, empty: 1, longest: 12 });
  expect(evidenceOf('field.owner')).toMatchObject({ records: 12, missing: 9 });
  expect(evidenceOf('kind.offer')).toMatchObject({ count: 6 });
});

test('a run says what has changed at the service, and the first values are no change', async () => {
  await using scene = await setScene({ maxPageSize: 100 }, { exports: 130 });
  scene.service.lists['document-exports'] = exportsOf(130, n => ({
    sourceDocumentKind: 'invoice',
    exportedAt: instant(n),
  }));
  expect((await scene.sync()).summary.serviceChanges).toEqual([]);
  expect((await scene.sync()).summary.serviceChanges).toEqual([]);
  scene.service.options.maxPageSize = 60;
  scene.service.lists['document-exports'].unshift({
    ...documentExport(500),
    sourceDocumentKind: 'offer',
    sourceDocumentTitle: null,
    exportedAt: instant(200),
  });
  scene.service.lists['document-exports'].reverse();
  const { code, summary } = await scene.sync('--full');
  expect(code).toBe(0);
  const changes = summary.serviceChanges as { fact: string; value: unknown; previousValue: unknown }[];
  const named = Object.fromEntries(
    changes.map(({ fact, value, previousValue }) => [fact, [previousValue, value]]),
  );
  expect(named).toMatchObject({
    page_size: [100, 60],
    'kind.offer': [null, 'offer'],
    'field.sourceDocumentTitle': [
      { types: ['string'], isInContract: true },
      { types: ['null', 'string'], isInContract: true },
    ],
  });
  scene.service.options.maxPageSize = 55;
  const { stdout } = await scene.run('sync', '--full');
  expect(stdout).toContain(
    'the service has changed: document-exports: greatest page size that was served is 55, was 60.',
  );
  expect((await scene.run('verify')).code).toBe(0);
});

function alter(path: string, statement: string): void {
  const database = new Database(path);
  database.exec(statement);
  database.close();
}

test('verify finds a fact that another program changed, and no run takes it for one', async () => {
  await using scene = await setScene();
  await scene.sync();
  expect((await scene.run('verify')).code).toBe(0);
  for (const change of [
    "UPDATE service_facts SET value = '7' WHERE fact = 'page_size'",
    "UPDATE service_facts SET evidence = '{}' WHERE fact = 'total'",
    "DELETE FROM service_facts WHERE fact = 'first_page'",
    "INSERT INTO service_facts VALUES ('webhooks', 'orphans', '3', NULL, NULL, 1, 1, '{}')",
  ]) {
    alter(scene.database, change);
    const { code, stdout } = await scene.run('verify');
    expect([change, code]).toEqual([change, 4]);
    expect(stdout).toContain('facts is');
  }
});

test('another base address begins anew', async () => {
  await using scene = await setScene({ maxPageSize: 100 });
  await scene.sync();
  scene.service.options.maxPageSize = 60;
  scene.env.DOCMIRROR_BASE_URL = scene.service.url.replace('127.0.0.1', 'localhost');
  const { summary } = await scene.sync('--accept-new-base-url', '--full');
  expect(summary.serviceChanges).toEqual([]);
  expect(factsIn(scene)['document-exports/page_size']).toMatchObject({ value: 60, first_seen_run_id: 2 });
});

test('a share has no facts of what it leaves out, and no names of its findings', async () => {
  await using scene = await setScene();
  const path = join(scene.folder, 'share.sqlite');
  await scene.sync();
  scene.service.lists['document-exports'] = exportsOf(130, n => ({
    sourceDocumentKind: null,
    owner: `o${n}`,
  }));
  scene.service.lists.webhooks = [webhook(1, { secret: 'x' })];
  await scene.sync('--allow-mass-removal');
  const left = ['sourceDocumentKind', 'owner', 'webhooks.events'].flatMap(name => ['--without', name]);
  expect((await scene.run('share', path, ...left)).code).toBe(0);
  const facts = Object.keys(factsIn({ ...scene, database: path }));
  expect(facts).toContain('document-exports/field.sourceDocumentTitle');
  expect(facts).toContain('webhooks/field.description');
  const ofLeft = /kind\.|event\.|field\.(sourceDocumentKind|owner|events|endpoint|secret)/;
  expect(facts.filter(name => ofLeft.test(name))).toEqual([]);
  const said = sqlite(path, "SELECT reasons, reason FROM sync_run_resources WHERE reasons <> '[]'");
  const receipts = sqlite(path, "SELECT receipt FROM sync_receipts WHERE receipt LIKE '%field_%'");
  expect([said, receipts]).toEqual([[], []]);
  expect((await scene.run('share', join(scene.folder, 'whole.sqlite'))).code).toBe(0);
  expect(Object.keys(factsIn({ ...scene, database: join(scene.folder, 'whole.sqlite') }))).toContain(
    'document-exports/kind.invoice',
  );
});

test('a kind that only an erased text had goes with it, and verify still holds the rest', async () => {
  await using scene = await setScene();
  scene.service.lists['document-exports'].unshift(documentExport(900, { sourceDocumentKind: 'secret kind' }));
  await scene.sync();
  scene.service.lists['document-exports'].shift();
  await scene.sync();
  const [{ id } = {}] = sqlite(scene.database, 'SELECT record_id AS id FROM record_history');
  expect(factsIn(scene)['document-exports/kind.secret kind']?.value).toBe('secret kind');
  expect((await scene.run('erase', 'document-exports', String(id))).stderr).toBe('');
  expect(factsIn(scene)['document-exports/kind.secret kind']).toBeUndefined();
  expect(readFileSync(scene.database).includes('secret kind')).toBe(false);
  expect((await scene.run('verify')).code).toBe(0);
  alter(scene.database, "UPDATE service_facts SET value = '7' WHERE fact = 'page_size'");
  expect((await scene.run('verify')).code).toBe(4);
  alter(scene.database, "UPDATE service_facts SET value = '1000' WHERE fact = 'page_size'");
  await scene.sync();
  expect((await scene.run('verify')).code).toBe(0);
});

test('an ignored field has no row', async () => {
  await using scene = await setScene();
  scene.service.lists.collections = range(5).map(id => collection(id, { url: `u${id}`, owner: 'x' }));
  scene.env.DOCMIRROR_IGNORE_FIELDS = 'collections.url';
  await scene.sync();
  const facts = factsIn(scene);
  expect([facts['collections/field.url'], facts['collections/field.owner']?.value]).toEqual([
    undefined,
    { types: ['missing', 'string'], isInContract: false },
  ]);
});
