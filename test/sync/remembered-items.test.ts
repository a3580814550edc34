import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listOf, type ResourceName } from '../../src/contract/lists.ts';
import { parsePiece, piecesOf } from '../../src/contract/page.ts';
import { Secrets } from '../../src/service/secrets.ts';
import { savedState, writeState } from '../../src/store/write/sync-state.ts';
import { playsAll } from '../support/cases.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror, expectSound } from '../support/oracle.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection, connection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

// Items that come as the mirror remembers them are not parsed, on whatever page they come.

const makers = { 'document-exports': documentExport, collections: collection, webhooks: webhook };

/** Members that look as if an item began in them, that name connections otherwise, or that no column has. */
const members: readonly SampleItem[] = [
  {},
  { note: '},{"sourceConnection":{"id":9}},{"id":7,"name":"' },
  { note: '\\"},{"id":1},{"sourceConnection":\\' },
  { parts: [{ id: 1 }, { id: 2 }, { sourceConnection: null }, { sourceConnection: 3 }] },
  {
    parts: [
      [{ sourceConnection: 1 }, { sourceConnection: { id: 4 } }],
      [{ id: 1 }, { id: 3 }],
    ],
  },
  { sourceConnection: { id: 9, name: 'Renamed' } },
  { sourceConnection: null, destinationConnection: null },
  { sourceConnection: { ...connection(9), region: { id: 1 } } },
  { destinationConnection: { id: 9, name: null } },
  { sourceConnection: 'no connection' },
];

const changes = ['front', 'end', 'insert', 'edit', 'restore', 'remove', 'twice', 'move', 'reverse'] as const;
const nights = fc.array(
  fc.array(
    fc.record({
      what: fc.constantFrom(...changes, 'front' as const, 'edit' as const),
      at: fc.nat(10_000),
      member: fc.nat(members.length - 1),
    }),
    { maxLength: 6 },
  ),
  { minLength: 2, maxLength: 5 },
);

/** What a list has beside what its times and its remembered items are: nothing of it can depend on what was remembered. */
const told = [
  'SELECT *, hex(_content) AS _content FROM document_exports ORDER BY id',
  'SELECT *, hex(_content) AS _content FROM collections ORDER BY id',
  'SELECT *, hex(_content) AS _content FROM webhooks ORDER BY id',
  'SELECT * FROM webhook_connections ORDER BY 1, 2',
  'SELECT *, hex(_content) AS _content FROM connections ORDER BY id',
  'SELECT * FROM _connection_names ORDER BY 1, 2',
  'SELECT *, hex(content) AS content FROM record_history ORDER BY id',
  'SELECT content, hex(content) AS content FROM rejected_records ORDER BY id',
  `SELECT run_id, status, completeness, records_seen, inserted, updated, removed, unchanged, rejected, removals_withheld, undecided, walks,
     requests, record_count, checksum, reasons FROM sync_run_resources ORDER BY run_id`,
];

describe.each<ResourceName>(['document-exports', 'collections', 'webhooks'])('the mirror of %s', resource => {
  test('is the same, night by night, as one that remembers no items', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(nights, fc.constantFrom(12, 40), async (played, maxPageSize) => {
        await using scene = await setScene({ maxPageSize }, { exports: 0, collections: 0, webhooks: 0 });
        await using folder = temporaryFolder();
        const [remembers, forgets] = [join(folder.path, 'a.sqlite'), join(folder.path, 'b.sqlite')];
        const world = new World(makers[resource]);
        for (const night of [[], ...played]) {
          for (const { what, at, member } of night) world.change(what, at, members[member] as SampleItem);
          scene.service.lists[resource] = structuredClone(world.items);
          for (const database of [remembers, forgets]) {
            if (database === forgets) forget(database, resource);
            const options = { resources: [resource], concurrency: 1, allowMassRemoval: true };
            await syncScene({ ...scene, database }, options);
          }
          for (const sql of told) expect(sqlite(remembers, sql), sql).toEqual(sqlite(forgets, sql));
        }
        expectSound(remembers);
      }),
      { numRuns: playsAll ? 4 : 1 },
    );
  });
});

/** A list that changes as real ones do. */
class World {
  readonly items: SampleItem[];
  readonly #make: (n: number, over?: SampleItem) => SampleItem;
  readonly #before = new Map<number, SampleItem>();
  #next = 1_000;

  constructor(make: (n: number, over?: SampleItem) => SampleItem) {
    this.#make = make;
    this.items = Array.from({ length: 90 }, (_, at) =>
      make(at + 1, members[at % 23 === 5 ? at % (members.length - 1) : 0]),
    );
  }

  change(what: (typeof changes)[number], place: number, over: SampleItem): void {
    const { items } = this;
    const at = place % items.length;
    const item = items[at] as SampleItem;
    if (what === 'front') items.unshift(this.#make(++this.#next, over));
    else if (what === 'end') items.push(this.#make(++this.#next, over));
    else if (what === 'insert') items.splice(at, 0, this.#make(++this.#next, over));
    else if (what === 'remove' && items.length > 1) items.splice(at, 1);
    else if (what === 'move') items.splice((at * 7) % items.length, 0, ...items.splice(at, 1));
    else if (what === 'reverse') items.reverse();
    else if (what === 'restore') items[at] = this.#before.get(at) ?? item;
    else if (what === 'twice' && this.#make === documentExport) items.splice(at, 0, structuredClone(item));
    else if (what === 'edit') {
      this.#before.set(at, item);
      items[at] = { ...item, ...over, description: `Edited ${++this.#next}` };
    }
  }
}

/** Makes the next run know the order of the list, and none of its items. */
function forget(path: string, resource: ResourceName): void {
  if (!existsSync(path)) return;
  const database = new Database(path);
  const saved = savedState(database, listOf(resource));
  const none = { names: [], sayings: [], pages: null, resumeLog: null };
  if (saved) writeState(database, listOf(resource), saved.runId, { ...JSON.parse(saved.json), ...none });
  database.close();
}

test.each([
  ['a page', 0],
  ['some items', 1],
])('%s that an incremental run has seen otherwise is read again', async (_what, added) => {
  await using scene = await setScene({ maxPageSize: 12 }, { exports: 200, collections: 0, webhooks: 0 });
  const exports = scene.service.lists['document-exports'];
  const sync = async (fullEveryMs: number) =>
    (await syncScene(scene, { resources: ['document-exports'], fullEveryMs })).of('document-exports');
  // The first run cuts no pages.
  for (const n of [201, 202]) {
    await sync(0);
    exports.push(documentExport(n));
  }
  await sync(0);
  const before = exports[201] as SampleItem;
  exports[201] = { ...before, sourceDocumentTitle: 'Seen by an incremental run' };
  expect(await sync(3_600_000)).toMatchObject({ mode: 'incremental', updated: 1 });
  exports[201] = before;
  for (let more = 0; more < added; more++) exports.push(documentExport(203 + more));
  expect(await sync(0)).toMatchObject({ mode: 'full', updated: 1, inserted: added, walks: 1 });
  expectExactMirror(scene.database, scene.service, ['document-exports']);
});

/** A mirror that knows the pieces of its pages, and a service of which all pages moved by a place since. */
async function movedScene(items: SampleItem[]) {
  const scene = await setScene({ maxPageSize: 40 }, { exports: 0, collections: 0, webhooks: 0 });
  scene.service.lists['document-exports'] = items;
  const sync = async () =>
    (await syncScene(scene, { resources: ['document-exports'] })).of('document-exports');
  for (const n of [0, -1]) {
    expect(await sync()).toMatchObject({ completeness: 'proven' });
    items.unshift(documentExport(n));
  }
  return { scene, items, sync };
}

test('a page that another program noted otherwise is parsed', async () => {
  await using scene = await setScene({ maxPageSize: 40 }, { exports: 200, collections: 0, webhooks: 0 });
  const sync = () => syncScene(scene, { resources: ['document-exports'] });
  await sync();
  const database = new Database(scene.database);
  database.exec("UPDATE _known_pages SET rows = '[[1,1]]'");
  database.close();
  expect((await sync()).of('document-exports')).toMatchObject({ completeness: 'proven', walks: 1 });
  expectExactMirror(scene.database, scene.service, ['document-exports']);
});

test('a night writes only the pages again that it has parsed, and forgets those that are gone', async () => {
  await using scene = await setScene({ maxPageSize: 40 }, { exports: 200, collections: 0, webhooks: 0 });
  const exports = scene.service.lists['document-exports'];
  const night = async () => {
    await syncScene(scene, { resources: ['document-exports'] });
    return sqlite(scene.database, 'SELECT run_id, count(*) AS pages FROM _known_pages GROUP BY 1');
  };
  expect(await night()).toEqual([{ run_id: 1, pages: 7 }]);
  // The first page is always parsed.
  expect(await night()).toEqual([
    { run_id: 1, pages: 6 },
    { run_id: 2, pages: 1 },
  ]);
  exports.pop();
  expect(await night()).toEqual([
    { run_id: 1, pages: 4 },
    { run_id: 3, pages: 2 },
  ]);
});

test('a name that no record gives any more is not in what is known of pages', async () => {
  await using scene = await setScene({ maxPageSize: 40 }, { exports: 200, collections: 0, webhooks: 0 });
  const exports = scene.service.lists['document-exports'] as SampleItem[];
  for (const name of ['Name of Gamma', 'Other']) {
    Object.assign(exports[60] as SampleItem, { sourceConnection: { id: 77, name } });
    await syncScene(scene, { resources: ['document-exports'] });
    const known = sqlite(scene.database, 'SELECT state FROM _list_states');
    expect(JSON.stringify(known).includes('Gamma')).toBe(name.includes('Gamma'));
  }
});

test('numbers of names that no page has any more are forgotten', async () => {
  await using scene = await setScene({ maxPageSize: 40 }, { exports: 200, collections: 0, webhooks: 0 });
  for (let night = 1; night <= 6; night++) {
    for (const [n, item] of scene.service.lists['document-exports'].entries())
      Object.assign(item, { sourceConnection: { id: n, name: `Name of night ${night}` } });
    const sync = await syncScene(scene, { resources: ['document-exports'] });
    expect(sync.of('document-exports')).toMatchObject({ completeness: 'proven', walks: 1 });
    const known = "SELECT json_array_length(state, '$.sayings') AS sayings FROM _list_states";
    const [state] = sqlite(scene.database, known);
    expect(state?.sayings).toBeLessThan(1_600);
  }
  expectExactMirror(scene.database, scene.service, ['document-exports']);
});

test('a name that one record gives stays when the record moves to another place', async () => {
  const over = { sourceConnection: { id: 9, name: 'Nine' } };
  const list = Array.from({ length: 200 }, (_, n) => documentExport(n + 1, n === 150 ? over : {}));
  const { scene, sync } = await movedScene(list);
  await using _scene = scene;
  expect(await sync()).toMatchObject({ completeness: 'proven', inserted: 1, updated: 0 });
  expect(sqlite(scene.database, 'SELECT name FROM connections WHERE id = 9')).toEqual([{ name: 'Nine' }]);
  const named = sqlite(
    scene.database,
    'SELECT name, named_at FROM _connection_names WHERE connection_id = 9',
  );
  expect(named).toEqual([{ name: 'Nine', named_at: new Date(`${list[152]?.exportedAt}`).toISOString() }]);
});

test('records that come twice on a page, among known ones, are two records each', async () => {
  const list = Array.from({ length: 200 }, (_, n) =>
    documentExport(n + 1, { exportedAt: `2024-01-0${1 + Math.floor(n / 50)}T00:00:00Z` }),
  );
  const { scene, items, sync } = await movedScene(list);
  await using _scene = scene;
  items.splice(115, 0, ...structuredClone(items.slice(102, 115)));
  expect(await sync()).toMatchObject({ completeness: 'proven', inserted: 14, updated: 0, removed: 0 });
  expectExactMirror(scene.database, scene.service, ['document-exports']);
});

test('two equal records far from the first page stay two rows when all pages move', async () => {
  await using scene = await setScene({ maxPageSize: 40 }, { exports: 0, collections: 0, webhooks: 0 });
  const items = Array.from({ length: 200 }, (_, n) => documentExport(200 - n));
  items.splice(150, 0, structuredClone(items[150] as SampleItem));
  scene.service.lists['document-exports'] = items;
  for (const n of [201, 202, 203]) {
    const sync = await syncScene(scene, { resources: ['document-exports'] });
    expect(sync.of('document-exports')).toMatchObject({ completeness: 'proven', updated: 0, removed: 0 });
    expectExactMirror(scene.database, scene.service, ['document-exports']);
    items.unshift(documentExport(n));
  }
});

test('two equal records that an incremental run has added stay two rows when all pages move', async () => {
  await using scene = await setScene({ maxPageSize: 12 }, { exports: 0, collections: 0, webhooks: 0 });
  const items = Array.from({ length: 200 }, (_, n) => documentExport(200 - n));
  scene.service.lists['document-exports'] = items;
  const sync = async (fullEveryMs: number) =>
    (await syncScene(scene, { resources: ['document-exports'], fullEveryMs })).of('document-exports');
  for (let night = 0; night < 2; night++) expect(await sync(0)).toMatchObject({ completeness: 'proven' });
  items.unshift(documentExport(201), documentExport(201));
  expect(await sync(3_600_000)).toMatchObject({ mode: 'incremental', inserted: 2 });
  for (let n = 202; n < 240; n++) items.unshift(documentExport(n));
  expect(await sync(3_600_000)).toMatchObject({ mode: 'incremental', inserted: 38 });
  for (const n of [240, 241]) {
    items.unshift(documentExport(n));
    expect(await sync(0)).toMatchObject({ completeness: 'proven', inserted: 1, updated: 0, removed: 0 });
    expectExactMirror(scene.database, scene.service, ['document-exports']);
  }
});

test('a page is refused each time that one item among known ones has the token in it', async () => {
  const token = 'a-secret-of-the-service';
  await using scene = await setScene(
    { maxPageSize: 40, token },
    { exports: 200, collections: 0, webhooks: 0 },
  );
  const exports = scene.service.lists['document-exports'];
  const secrets = new Secrets();
  secrets.add(token);
  const sync = async () =>
    (await syncScene(scene, { resources: ['document-exports'], secrets })).of('document-exports');
  for (const n of [0, -1]) {
    expect(await sync()).toMatchObject({ completeness: 'proven' });
    exports.unshift(documentExport(n));
  }
  exports[100] = documentExport(101, { sourceDocumentTitle: `said ${token}` });
  for (let run = 0; run < 2; run++) expect(await sync()).toMatchObject({ error: { code: 'token_echoed' } });
  const said = "SELECT * FROM document_exports WHERE source_document_title LIKE 'said%'";
  expect(sqlite(scene.database, said)).toEqual([]);
});

describe('pieces of a page', () => {
  const bytesOf = (items: readonly unknown[]) => Buffer.from(JSON.stringify(items));
  const list = Array.from({ length: 400 }, (_, n) => documentExport(n + 1));

  test('are the same for neighbours on whatever page, and have all items in their order', () => {
    const piecesIn = (items: readonly unknown[]) => {
      const bytes = bytesOf(items);
      return (piecesOf(bytes) ?? []).map(piece => JSON.stringify(parsePiece(bytes, piece)).slice(1, -1));
    };
    const [before, moved] = [piecesIn(list.slice(0, 300)), piecesIn(list.slice(37, 337))];
    expect(`[${moved.join()}]`).toBe(JSON.stringify(list.slice(37, 337)));
    expect(before.length).toBeGreaterThan(40);
    const isOld = (piece: string) => before.includes(piece);
    const inBoth = moved.filter(isOld);
    expect(JSON.parse(`[${inBoth.join()}]`).length).toBeGreaterThan(240);
  });

  test.each([
    ['of one item', [list[0]]],
    ['without items', []],
    ['of numbers', [1, 2, 3]],
  ])('are none of a page %s', (_what, items) => {
    expect(piecesOf(bytesOf(items))).toBe(null);
  });
});
