import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror, expectSound } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection, documentExport, webhook } from '../support/stand-in.ts';

const hour = 3_600_000;

describe.concurrent('records', () => {
  test('any text arrives byte for byte', async () => {
    await using scene = await setScene();
    const text = 'NUL \0 quote \' " backslash \\ tab\t line\n astral 😀 𝒟 e\u0301 \u2028 \uFEFF';
    scene.service.lists['document-exports'].push(documentExport(700, { sourceDocumentTitle: text }));
    scene.service.lists.webhooks.push(webhook(70, { description: text, events: [text] }));
    expect(await scene.sync()).toMatchObject({ code: 0 });
    const [row] = sqlite(
      scene.database,
      "SELECT source_document_title AS t FROM document_exports WHERE source_document_reference = 'DOC-700'",
    );
    expect(row?.t).toBe(text);
    expectExactMirror(
      scene.database,
      { ...scene.service, lists: { ...scene.service.lists, webhooks: [] } } as never,
      ['document-exports'],
    );
    expect(sqlite(scene.database, 'SELECT event FROM webhook_events WHERE webhook_id = 70')).toEqual([
      { event: text },
    ]);
    expect((await scene.sync()).of('webhooks')).toMatchObject({ updated: 0, unchanged: 4 });
  });

  test('fields that no column names are kept, numbers at their value', async () => {
    await using scene = await setScene();
    scene.service.lists.collections.push(
      '{"zebra": {"b": 1, "2": [1, 2], "1": null}, "id": 71, "7": "seven", "big": 123456789012345678901234567890, "same": [10.50, 1E2, -0, 1.0], "a": "\\u00e9"}' as never,
      collection(72, { colour: 'red', sourceConnection: { id: 1, name: 'Connection 1', region: 'eu' } }),
    );
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(sqlite(scene.database, 'SELECT _extra FROM collections WHERE id > 70 ORDER BY id')).toEqual([
      {
        _extra:
          '{"7":"seven","zebra":{"1":null,"2":[1,2],"b":1},"big":123456789012345678901234567890,"same":[10.5,100,0,1],"a":"é"}',
      },
      { _extra: '{"colour":"red"}' },
    ]);
    expect(sqlite(scene.database, 'SELECT _extra FROM connections WHERE id = 1')).toEqual([
      { _extra: '{"region":"eu"}' },
    ]);
    expect(
      sqlite(scene.database, 'SELECT count(*) AS n FROM collections WHERE id < 70 AND _extra IS NULL'),
    ).toEqual([{ n: 7 }]);
    expect((await scene.sync()).of('collections')).toMatchObject({ updated: 0, unchanged: 9 });
  });

  test('a record that can not be read is kept whole beside the others, and the run is partial', async () => {
    await using scene = await setScene();
    const broken = [
      '{"id":"not a number","name":"x"}',
      '{"name":"no id"}',
      '{"id":1.5}',
      '{"id":9007199254740993,"name":"beyond"}',
      '{"id":3000,"sourceConnection":{"id":90071992547409931,"name":"beyond"}}',
      '{"id":3001,"name":7}',
      '17',
      'null',
      '[]',
    ];
    scene.service.lists.collections.unshift(...(broken as never[]));
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 3, status: 'partial' });
    expect(synced.of('collections')).toMatchObject({
      status: 'partial',
      inserted: 7,
      rejected: broken.length,
    });
    const rejected = sqlite(
      scene.database,
      'SELECT run_id, resource, page_no, position, reason, record FROM rejected_records ORDER BY position',
    );
    expect(rejected.map(row => row.record)).toEqual(broken);
    expect(rejected.map(row => row.position)).toEqual(broken.map((_, at) => at));
    expect(
      rejected.every(row => row.run_id === 1 && row.resource === 'collections' && row.page_no === 1),
    ).toBe(true);
    expect(rejected.map(row => row.reason)).not.toContain('');
    expectSound(scene.database);
    scene.service.lists.collections.splice(0, broken.length);
    expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
    expectExactMirror(scene.database, scene.service);
  });

  test('a record that is rejected again with the same text is not stored again', async () => {
    await using scene = await setScene();
    scene.service.lists.collections.push('17' as never);
    const rejected = () => sqlite(scene.database, 'SELECT run_id, last_run_id, record FROM rejected_records');
    for (const run of [1, 2, 3]) {
      expect((await scene.sync()).of('collections')).toMatchObject({ status: 'partial', rejected: 1 });
      expect(rejected()).toEqual([{ run_id: 1, last_run_id: run, record: '17' }]);
    }
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    // Nor if a run came between that did not meet it.
    scene.service.lists.collections.pop();
    await scene.sync();
    scene.service.lists.collections.push('17' as never);
    await scene.sync();
    expect(rejected()).toEqual([{ run_id: 1, last_run_id: 5, record: '17' }]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('a null among the events is kept, and given out again', async () => {
    await using scene = await setScene();
    scene.service.lists.webhooks = [webhook(70, { events: [null, 'made'], connections: [null] })];
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(sqlite(scene.database, 'SELECT _extra FROM webhooks')).toEqual([
      { _extra: '{"events":[null,"made"]}' },
    ]);
    expect(await scene.run('verify', '--live')).toMatchObject({ code: 0 });
    expect((await scene.sync('--full')).of('webhooks')).toMatchObject({ updated: 0, unchanged: 1 });
  });

  test('an array that is null or missing differs from one that is empty', async () => {
    await using scene = await setScene();
    scene.service.lists.webhooks = [
      webhook(70, { events: null, connections: [] }),
      '{"id": 71, "events": []}' as never,
      webhook(72, { events: [], connections: [] }),
    ];
    expect(await scene.sync()).toMatchObject({ code: 0 });
    const out = join(scene.folder, 'out');
    expect(await scene.run('export', '--format', 'csv', '--out', out)).toMatchObject({ code: 0 });
    const exported = readFileSync(join(out, 'webhooks.csv'), 'utf8').split('\n').slice(1, 4);
    // id, endpoint, description, events, connection_ids; nothing between two commas is null.
    expect(exported.map(line => line.split(',').slice(3, 5))).toEqual([
      ['', '[]'],
      ['[]', ''],
      ['[]', '[]'],
    ]);
    expect(sqlite(scene.database, 'SELECT id, _extra FROM webhooks ORDER BY id')).toEqual([
      { id: 70, _extra: '{"events":null}' },
      { id: 71, _extra: '{"connections":null}' },
      { id: 72, _extra: null },
    ]);
    scene.service.lists.webhooks[0] = webhook(70, { events: [], connections: [] });
    expect((await scene.sync()).of('webhooks')).toMatchObject({ updated: 1, unchanged: 2 });
    expectSound(scene.database);
  });

  const idsTwice = [
    ['twice in what has come, alike', hour, [collection(91), collection(91)]],
    ['twice in what has come, with another content', hour, [collection(91), { id: 91 }]],
    ['twice in what has come, in a full sync', 0, [collection(91), collection(91)]],
    ['once more on a page that is new, and says something else', hour, [{ id: 2 }]],
    ['once more on a page that is new, in a full sync', 0, [{ id: 2 }]],
  ] as const;
  test.each(casesOf(idsTwice, 3))(
    'an id that is %s makes a list unproven that was proven',
    async (_where, fullEveryMs, come) => {
      await using scene = await setScene({ maxPageSize: 5 }, { exports: 3, collections: 60 });
      const { lists } = scene.service;
      const sync = () => syncScene(scene, { fullEveryMs });
      expect(await sync()).toMatchObject({ code: 0 });
      lists.collections.push(...come);
      // A list that is read after it is synced all the same, and a dry run says so, too.
      lists['document-exports'].push(documentExport(90));
      const dry = () => scene.sync('--dry-run', '--full-every', `${fullEveryMs}ms`);
      for (const run of [dry, sync, sync]) {
        const synced = await run();
        expect(synced).toMatchObject({ code: 3, status: 'partial' });
        expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven' });
        expect(synced.of('collections')).toMatchObject({
          status: 'partial',
          completeness: 'unproven',
          removed: 0,
          reason: expect.stringContaining('is in the list twice'),
        });
      }
      expectSound(scene.database);
      lists.collections.splice(-come.length);
      // Pages this small leave none for a second look, so two runs have to show the same.
      await sync();
      expect(await sync()).toMatchObject({ code: 0, status: 'completed' });
      expectExactMirror(scene.database, scene.service);
    },
  );

  test.each(['empty', 'last'] as const)(
    'a record nested a hundred thousand levels deep is set aside: past the end, %s',
    async beyond => {
      await using scene = await setScene({ beyond });
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      scene.service.lists.collections.push(`{"id":90,"n":1234567,"deep":${deep}}` as never);
      const synced = await scene.sync();
      expect(synced).toMatchObject({ code: 3, status: 'partial' });
      expect(synced.of('collections')).toMatchObject({ completeness: 'proven', inserted: 7, rejected: 1 });
      expect(sqlite(scene.database, 'SELECT record FROM rejected_records')).toEqual([
        { record: '"the record is nested deeper than 512 levels"' },
      ]);
    },
  );

  test('a time without a zone is the same record wherever docmirror runs', async () => {
    await using scene = await setScene();
    scene.service.lists['document-exports'].push(documentExport(850, { exportedAt: '2026-03-08T02:30:00' }));
    for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
      scene.env.TZ = zone;
      const synced = await scene.sync();
      const first = zone === 'America/New_York';
      expect(synced.of('document-exports'), zone).toMatchObject({ inserted: first ? 131 : 0, removed: 0 });
    }
  });
});

describe.concurrent('connection names', () => {
  const named = (id: number, name: string | null) => ({ id, name });
  const nameOf = (database: string, id: number) =>
    sqlite(database, `SELECT name FROM connections WHERE id = ${id}`)[0]?.name;

  test('the newest export is believed, and a collection more than any export', async () => {
    await using scene = await setScene();
    const { lists } = scene.service;
    lists['document-exports'].push(
      documentExport(900, { sourceConnection: named(50, 'Newest'), exportedAt: '2030-01-01T00:00:00Z' }),
      documentExport(901, { sourceConnection: named(50, 'Old'), exportedAt: '2029-12-31T23:59:59.999Z' }),
      documentExport(902, { sourceConnection: named(51, 'In the log'), exportedAt: '2031-01-01T00:00:00Z' }),
    );
    lists.collections.push(collection(60, { sourceConnection: named(51, 'In a collection') }));
    await scene.sync();
    expect(nameOf(scene.database, 50)).toBe('Newest');
    expect(nameOf(scene.database, 51)).toBe('In a collection');
    lists['document-exports'].reverse();
    await scene.sync();
    expect(nameOf(scene.database, 50)).toBe('Newest');
    expect(sqlite(scene.database, 'SELECT DISTINCT _changed_run_id AS run FROM connections')).toEqual([
      { run: 1 },
    ]);
  });

  test('a rename that only the names show is taken over, without touching the records', async () => {
    await using scene = await setScene();
    await scene.sync();
    for (const list of Object.values(scene.service.lists)) {
      for (const item of list as Record<string, { id: number; name: string } | undefined>[]) {
        for (const ref of [
          item.sourceConnection,
          item.destinationConnection,
          ...((item.connections as never) ?? []),
        ]) {
          if (ref?.id === 1) ref.name = 'Renamed';
        }
      }
    }
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 0 });
    expect(synced.of('document-exports')).toMatchObject({ updated: 0, completeness: 'proven', walks: 1 });
    expect(nameOf(scene.database, 1)).toBe('Renamed');
    expect(
      sqlite(scene.database, "SELECT record_id, ended_by FROM record_history WHERE resource = 'connections'"),
    ).toEqual([{ record_id: 1, ended_by: 'update' }]);
  });
});
