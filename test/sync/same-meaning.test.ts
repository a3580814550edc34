import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { tamper } from '../store/verify/tamper.ts';
import { writeItems } from '../support/answers.ts';
import { playsAll } from '../support/cases.ts';
import { breakOff, setLongList, syncLong, takeRequests } from '../support/ended-early.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { feedOf, type Row, sqlite } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { connection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';
import { anyZone, writtenIn, type Zone } from '../support/zones.ts';

// A record that means the same as its row is its row, however the service writes it.

const { signal } = new AbortController();
const hour = 3_600_000;
const events = ['document.exported', 'document.failed', 'collection.updated'];

const paris: Zone = { minutes: 60, separator: 'T', fraction: '', end: 'colon' };
const inZone = (item: SampleItem, zone: Zone): SampleItem => ({
  ...item,
  exportedAt: writtenIn(zone, Date.parse(`${item.exportedAt}`)),
});
const turned = <Element>(array: readonly Element[], by: number): Element[] =>
  array.map((_, at) => array[(at + by) % array.length] as Element);

/** The webhook n, whose sets are in another order for each turn. */
const turnedWebhook = (n: number, turn: number, over: SampleItem = {}) =>
  webhook(n, {
    events: turned(events, n + turn),
    connections: turned([1, 2, 3, 4].map(connection), n + turn),
    ...over,
  });

/** Everything that a reader can see of a list and its past. */
const shown = ({ database }: Scene): Row[] =>
  ['document_exports', 'webhook_events', 'webhook_connections', 'changes', 'record_history'].flatMap(table =>
    sqlite(database, `SELECT * FROM ${table}`),
  );

async function expectUnchanged(scene: Scene, options: Parameters<typeof syncScene>[1] = {}) {
  const before = shown(scene);
  const { code, of } = await syncScene(scene, options);
  expect(code).toBe(0);
  for (const resource of ['document-exports', 'webhooks']) {
    const same = { inserted: 0, updated: 0, removed: 0, completeness: 'proven', restlessFields: [] };
    expect(of(resource)).toMatchObject(same);
  }
  expect(shown(scene)).toEqual(before);
  expect(await verifyMirror(scene.database, { signal, limit: 10 })).toMatchObject({ differenceCount: 0 });
}

describe('an answer that writes the same otherwise', () => {
  test('changes nothing, whatever the order of events and connections and the zone of times', async () => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 0, webhooks: 0 });
    const { lists } = scene.service;
    const webhooks = make(50, n => turnedWebhook(n, 0));
    const exports = make(90, documentExport);
    lists.webhooks = webhooks;
    lists['document-exports'] = exports;
    await syncScene(scene);
    const zones = fc.array(anyZone, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(zones, fc.nat({ max: 11 }), async (some, turn) => {
        lists['document-exports'] = exports.map((item, at) => inZone(item, some[at % some.length] as Zone));
        lists.webhooks = webhooks.map((_, at) => turnedWebhook(at + 1, turn));
        await expectUnchanged(scene);
      }),
      { numRuns: playsAll ? 15 : 5 },
    );
  });

  test('beside real changes shows these alone', async () => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 90 });
    const { lists } = scene.service;
    lists.webhooks = make(30, n => turnedWebhook(n, 0));
    await syncScene(scene);
    lists.webhooks = make(30, n => turnedWebhook(n, 1));
    lists.webhooks[3] = turnedWebhook(4, 1, { events: events.slice(1) });
    lists.webhooks[4] = turnedWebhook(5, 1, { connections: [1, 2, 3, 5].map(connection) });
    lists.webhooks[5] = turnedWebhook(6, 1, { events: [...events, 'document.failed'] });
    lists.webhooks[6] = turnedWebhook(7, 1, { description: 'Edited' });
    const exports = lists['document-exports'] as SampleItem[];
    lists['document-exports'] = exports.map(item => inZone(item, paris));
    lists['document-exports'][40] = inZone(documentExport(41, { sourceDocumentTitle: 'Edited' }), paris);
    const later = new Date(Date.parse(`${exports[50]?.exportedAt}`) + 1).toISOString();
    lists['document-exports'][50] = inZone(documentExport(51, { exportedAt: later }), paris);
    const { of } = await syncScene(scene);
    expect(of('webhooks')).toMatchObject({ inserted: 0, updated: 4, removed: 0 });
    expect(of('document-exports')).toMatchObject({ inserted: 1, updated: 1, removed: 1 });
    const { stdout } = await scene.run('changes', '--since-run', '1', '--format', 'ndjson');
    const fields = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).changedFields ?? null);
    expect(fields.filter(each => each !== null).sort()).toEqual(
      [['connections'], ['description'], ['events'], ['events'], ['sourceDocumentTitle']].sort(),
    );
  });

  test('is what verify --live finds unchanged, and a dry run', async () => {
    await using scene = await setScene({}, { webhooks: 0 });
    const { lists } = scene.service;
    lists.webhooks = make(30, n => turnedWebhook(n, 0));
    await syncScene(scene);
    lists.webhooks = make(30, n => turnedWebhook(n, 1));
    lists['document-exports'] = (lists['document-exports'] as SampleItem[]).map(item => inZone(item, paris));
    expect(await scene.run('verify', '--live')).toMatchObject({ code: 0 });
    const { stdout } = await scene.run('sync', '--dry-run', '--full');
    expect(stdout).toContain('Nothing new');
  });

  test('costs no request more in the nights after it', async () => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 200 });
    const requests = async () => (await syncScene(scene)).of('document-exports').requests;
    await requests();
    const usual = await requests();
    const exports = scene.service.lists['document-exports'] as SampleItem[];
    scene.service.lists['document-exports'] = exports.map(item => inZone(item, paris));
    expect([await requests(), await requests()]).toEqual([usual, usual]);
  });
});

describe('an incremental sync stays one', () => {
  test('if the newest export is shown in another zone', async () => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 400 });
    await syncScene(scene);
    const exports = scene.service.lists['document-exports'] as SampleItem[];
    exports.push(documentExport(401));
    scene.service.lists['document-exports'] = exports.map(item => inZone(item, paris));
    const { of } = await syncScene(scene, { fullEveryMs: hour });
    expect(of('document-exports')).toMatchObject({
      mode: 'incremental',
      completeness: 'incremental',
      inserted: 1,
      updated: 0,
    });
  });
});

describe('two answers of one run that write the same otherwise', () => {
  test('are one record on a first copy, in the form that came first', async () => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 90 });
    scene.service.lists.webhooks = make(90, n => turnedWebhook(n, 0));
    const items = [...(scene.service.lists['document-exports'] as SampleItem[])];
    const first = new Map<number, SampleItem>();
    writeItems(scene.service, 'document-exports', (item, at, { n, from, to }) => {
      const written = inZone(item, { ...paris, minutes: 60 * n });
      if (from <= at && at < to && !first.has(at)) first.set(at, written);
      return written;
    });
    const { code, of } = await syncScene(scene, { concurrency: 1 });
    expect(code).toBe(0);
    expect(of('document-exports')).toMatchObject({ inserted: 90, completeness: 'proven' });
    scene.service.lists['document-exports'] = items.map((_, at) => first.get(at) as SampleItem);
    expectExactMirror(scene.database, scene.service, ['document-exports']);
    writeItems(scene.service, 'webhooks', ({ id }, _at, { n }) => turnedWebhook(Number(id), n));
    await expectUnchanged(scene, { concurrency: 1 });
    expect(feedOf(scene.database)).toEqual({ insert: 90 });
    expect(feedOf(scene.database, 'webhooks')).toEqual({ insert: 90 });
  });

  test('are one change of a record that was edited', async () => {
    await using scene = await setScene({ maxPageSize: 10 }, { exports: 0 });
    scene.service.lists.webhooks = make(40, n => turnedWebhook(n, 0));
    await syncScene(scene);
    const added = [...events, 'document.removed'];
    writeItems(scene.service, 'webhooks', ({ id }, _at, { n }) =>
      turnedWebhook(Number(id), 0, { events: turned(added, n) }),
    );
    const { of } = await syncScene(scene, { concurrency: 1 });
    expect(of('webhooks')).toMatchObject({
      inserted: 0,
      updated: 40,
      removed: 0,
      restlessFields: ['events'],
    });
    await expectUnchanged(scene);
  });
});

describe('several exports of one identity', () => {
  test('stay as they are, in whatever zone they come', async () => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 90 });
    const exports = scene.service.lists['document-exports'] as SampleItem[];
    const title = (sourceDocumentTitle: string) => documentExport(41, { sourceDocumentTitle });
    exports.splice(40, 1, title('One'), inZone(title('Other'), paris), title('Third'), title('Third'));
    await syncScene(scene);
    expectExactMirror(scene.database, scene.service, ['document-exports']);
    for (const minutes of [120, -300]) {
      const zone = { ...paris, minutes };
      scene.service.lists['document-exports'] = exports.map(item => inZone(item, zone));
      await expectUnchanged(scene);
    }
  });
});

describe('a field that does not count', () => {
  test('is ignored in a record that is written otherwise, too', async () => {
    await using scene = await setScene({}, { exports: 60 });
    const ignoreFields = { 'document-exports': ['url'], webhooks: ['url'] };
    scene.service.lists.webhooks = make(30, n => turnedWebhook(n, 0));
    const write = (turn: number) => {
      const url = `https://files.example.com/?signature=${turn}`;
      const { lists } = scene.service;
      lists.webhooks = make(30, n => turnedWebhook(n, turn, { url }));
      lists['document-exports'] = make(60, n =>
        inZone(documentExport(n, { url }), { ...paris, minutes: turn }),
      );
    };
    write(0);
    await syncScene(scene, { ignoreFields });
    for (const turn of [1, 2]) {
      write(turn);
      await expectUnchanged(scene, { ignoreFields });
    }
    // It counts again: the records are updated once, and only their addresses are.
    write(3);
    expect((await syncScene(scene)).of('webhooks')).toMatchObject({ updated: 30, restlessFields: ['url'] });
    write(4);
    expect((await syncScene(scene)).of('webhooks')).toMatchObject({ updated: 30, restlessFields: ['url'] });
  });
});

test('a field that counts again and has gone is an update of a record that is written otherwise', async () => {
  await using scene = await setScene({}, { exports: 0 });
  const ignoreFields = { webhooks: ['url'] };
  scene.service.lists.webhooks = make(12, n => turnedWebhook(n, 0, { url: 'https://files.example.com/' }));
  await syncScene(scene, { ignoreFields });
  scene.service.lists.webhooks = make(12, n => turnedWebhook(n, 1));
  expect((await syncScene(scene)).of('webhooks')).toMatchObject({ updated: 12 });
  expect(sqlite(scene.database, 'SELECT 1 FROM webhooks WHERE _extra IS NOT NULL')).toEqual([]);
});

describe('a renamed connection', () => {
  test('of a webhook in another order is a change of the connection alone', async () => {
    await using scene = await setScene({}, { exports: 0, collections: 0 });
    scene.service.lists.webhooks = make(12, n => turnedWebhook(n, 0));
    await syncScene(scene);
    const renamed = [{ id: 1, name: 'Renamed' }, ...[2, 3, 4].map(connection)];
    scene.service.lists.webhooks = make(12, n =>
      turnedWebhook(n, 0, { connections: turned(renamed, n + 1) }),
    );
    const { of } = await syncScene(scene);
    expect(of('webhooks')).toMatchObject({ updated: 0 });
    expect(sqlite(scene.database, 'SELECT name FROM connections WHERE id = 1')).toEqual([
      { name: 'Renamed' },
    ]);
    expect(feedOf(scene.database, 'connections', 2)).toEqual({ update: 1 });
  });
});

describe('a row that another program altered', () => {
  test('gives a record no form', async () => {
    await using scene = await setScene({}, { exports: 30 });
    scene.service.lists.webhooks = make(12, n => turnedWebhook(n, 0));
    await syncScene(scene);
    const edited = turnedWebhook(3, 2, { description: 'Edited' });
    scene.service.lists.webhooks[2] = edited;
    const turn = 'UPDATE webhook_events SET position = (position + 2) % 3 - 3 WHERE webhook_id = 3';
    const back = 'UPDATE webhook_events SET position = position + 3 WHERE position < 0';
    const { of } = await syncScene(scene, {
      resources: ['webhooks'],
      onList: () => tamper(scene.database, `${turn}; ${back}`),
    });
    expect(of('webhooks')).toMatchObject({ updated: 1 });
    const stored = sqlite(
      scene.database,
      'SELECT event FROM webhook_events WHERE webhook_id = 3 ORDER BY position',
    );
    expect(stored).toEqual((edited.events as string[]).map(event => ({ event })));
  });
});

describe('a reading that ended early', () => {
  test('is gone on with, however the service writes its records now', async () => {
    await using scene = await setLongList(30);
    expect(await breakOff(scene, 25)).toMatchObject({ status: 'failed' });
    const items = [...scene.items];
    scene.service.lists[scene.resource] = items.map(item => inZone(item, paris));
    takeRequests(scene);
    const { code, of } = await syncLong(scene);
    expect({ code, ...of(scene.resource) }).toMatchObject({ code: 0, completeness: 'proven', updated: 0 });
    expect(takeRequests(scene).length).toBeLessThan(25);
    expect(feedOf(scene.database)).toEqual({ insert: items.length });
    expect(await verifyMirror(scene.database, { signal, limit: 10 })).toMatchObject({ differenceCount: 0 });
  });
});
