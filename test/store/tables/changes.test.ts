import { expect, test } from 'vitest';
import { holdRun } from '../../support/held-run.ts';
import { syncScene } from '../../support/in-process.ts';
import { type Row, sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';
import { collection, documentExport, type SampleItem, webhook } from '../../support/stand-in.ts';

test('a reader that asks for later runs during a run, and keeps the newest run id, misses no change', async () => {
  await using scene = await setScene({}, { exports: 3, collections: 2, webhooks: 1 });
  await syncScene(scene);
  const read: Row[] = [];
  let newest = 0;
  const readOn = () => {
    const rows = sqlite(scene.database, `SELECT * FROM changes WHERE run_id > ${newest}`);
    newest = Math.max(newest, ...rows.map(row => row.run_id as number));
    read.push(...rows);
    return rows.length;
  };
  readOn();
  Object.assign(scene.service.lists['document-exports'][0] as SampleItem, { sourceDocumentTitle: 'Other' });
  scene.service.lists.collections.pop();
  Object.assign(scene.service.lists.webhooks[0] as SampleItem, { description: 'Other' });
  await using held = await holdRun(scene, 'webhooks');
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM collections')).toEqual([{ n: 1 }]);
  expect(readOn()).toBe(0);
  await held.release();
  expect(readOn()).toBe(3);
  const all = sqlite(scene.database, 'SELECT * FROM changes');
  expect(inOrder(read)).toEqual(inOrder(all));
});

test('connections in a record have the names of the run that is asked for', async () => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const { lists } = scene.service;
  const syncAs = async (name: string, title: string) => {
    const named = { id: 2, name };
    lists['document-exports'] = [
      documentExport(1, { sourceConnection: named, sourceDocumentTitle: title }),
      documentExport(2, { destinationConnection: named }),
    ];
    lists.collections = [
      collection(1, { sourceConnection: named, name: title }),
      collection(2, { sourceConnection: null, destinationConnection: null }),
    ];
    lists.webhooks = [webhook(1, { connections: [{ id: 102, name: 'C' }, named], description: title })];
    if (title === 'removed') lists.collections.shift();
    expect(await syncScene(scene, { allowMassRemoval: true })).toMatchObject({ code: 0 });
  };
  await syncAs('A', 'first');
  await syncAs('B', 'first');
  await syncAs('C', 'second');
  await syncAs('D', 'second');
  await syncAs('E', 'removed');

  const nameIn = (json: unknown) => /\{"id":2,"name":"(\w)"\}/.exec(`${json}`)?.[1];
  const rows = sqlite(
    scene.database,
    "SELECT * FROM changes WHERE resource <> 'connections' ORDER BY run_id, resource, record_id",
  );
  const told = rows.map(row => [
    row.run_id,
    row.resource,
    row.operation,
    nameIn(row.before),
    nameIn(row.record),
  ]);
  expect(told).toEqual([
    [1, 'collections', 'insert', undefined, 'A'],
    [1, 'collections', 'insert', undefined, undefined],
    [1, 'document-exports', 'insert', undefined, 'A'],
    [1, 'document-exports', 'insert', undefined, 'A'],
    [1, 'webhooks', 'insert', undefined, 'A'],
    [3, 'collections', 'update', 'B', 'C'],
    [3, 'document-exports', 'update', 'B', 'C'],
    [3, 'webhooks', 'update', 'B', 'C'],
    [5, 'collections', 'removal', undefined, 'D'],
    [5, 'document-exports', 'update', 'D', 'E'],
    [5, 'webhooks', 'update', 'D', 'E'],
  ]);
});

test('a record with fields of no column has the same text before and after it has ended', async () => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const odd = { big: '<12345678901234567890>', list: [1, 'two', null], 'odd "key"': { a: 'é\n' } };
  // No column can store half a character, or a connection without an id.
  const half = '\ud800';
  const say = (title: string) => {
    const sourceConnection = { id: 2, name: null, region: 'eu' };
    const item = { ...documentExport(1, { sourceConnection, sourceDocumentTitle: title }), ...odd };
    const texts = { sourceDocumentVersion: half, destinationConnection: { id: null, name: 'Nobody' } };
    const { lists } = scene.service;
    lists['document-exports'] = [JSON.stringify({ ...item, ...texts }).replace(/"<(\d+)>"/, '$1')];
    lists.collections = [
      collection(1, { name: title, sourceConnection: { id: 3, name: half, region: 'eu' } }),
    ];
    lists.webhooks = [webhook(1, { description: title, connections: [null, { id: 2 }], events: null })];
  };
  const records = () =>
    sqlite(scene.database, 'SELECT resource, record_id, operation, record FROM changes WHERE run_id = 1');
  say('first');
  expect(await syncScene(scene)).toMatchObject({ code: 0 });
  const before = records();
  const texts = before.map(({ record }) => `${record}`);
  expect(texts.map(record => JSON.parse(record))).toContainEqual(
    expect.objectContaining({ sourceDocumentVersion: half, list: odd.list, 'odd "key"': odd['odd "key"'] }),
  );
  expect(texts.join('\n')).toContain('"big":12345678901234567890');
  say('second');
  await syncScene(scene);
  expect(inOrder(records())).toEqual(inOrder(before));
});

test('an update has the record before it and the names of the fields that differ', async () => {
  await using scene = await setScene({}, { exports: 2, collections: 1, webhooks: 1 });
  await syncScene(scene);
  const { lists } = scene.service;
  lists['document-exports'].shift();
  lists.collections = [collection(1, { name: 'Other', sourceConnection: null, region: 'eu' })];
  lists.webhooks = [webhook(1, { events: ['document.exported'] }), webhook(2)];
  await syncScene(scene, { allowMassRemoval: true });
  const rows = sqlite(scene.database, "SELECT * FROM changes WHERE run_id = 2 AND resource <> 'connections'");
  const told = (resource: string, operation: string) =>
    rows.find(row => row.resource === resource && row.operation === operation);
  expect(told('document-exports', 'removal')).toMatchObject({ before: null, changed_fields: null });
  expect(told('webhooks', 'insert')).toMatchObject({ before: null, changed_fields: null });
  expect(told('webhooks', 'update')).toMatchObject({
    before: JSON.stringify(webhook(1)),
    changed_fields: '["events"]',
  });
  expect(told('collections', 'update')).toMatchObject({
    before: JSON.stringify(collection(1)),
    record: JSON.stringify(collection(1, { name: 'Other', sourceConnection: null, region: 'eu' })),
    changed_fields: '["name","sourceConnection","region"]',
  });
  expect(rows).toHaveLength(4);
});

const inOrder = (rows: readonly Row[]) => rows.map(row => JSON.stringify(row)).sort();
