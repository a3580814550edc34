import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { markOf } from '../../src/store/file/file-identity.ts';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { syncScene } from '../support/in-process.ts';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import type { SampleItem } from '../support/stand-in.ts';

// Whoever writes to the mirror between two runs, by whatever tool: the next run claims nothing that is not so.

const day = 86_400_000;
const { signal } = new AbortController();

/** Does to the mirror what another program would, with no regard for foreign keys. */
function alter(path: string, sql: string): void {
  const database = new Database(path);
  try {
    database.pragma('foreign_keys = OFF');
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** All that the service's records say, as the mirror holds it, without docmirror's own ids. */
function contents(path: string): unknown {
  const database = new Database(path, { readonly: true });
  try {
    const read = (sql: string) => database.prepare(sql).raw().all();
    return {
      exports: read(
        `SELECT source_connection_id, source_document_title, source_document_reference, source_document_version,
           source_document_kind, destination_connection_id, destination_reference, exported_at, _extra
         FROM document_exports ORDER BY 2, 3, 4, 8`,
      ),
      collections: read('SELECT id, name, source_connection_id, _extra FROM collections ORDER BY id'),
      webhooks: read('SELECT id, endpoint, description, _extra FROM webhooks ORDER BY id'),
      events: read('SELECT * FROM webhook_events ORDER BY 1, 2'),
      webhookConnections: read('SELECT * FROM webhook_connections ORDER BY 1, 2'),
      connections: read('SELECT id, name, _extra FROM connections ORDER BY id'),
    };
  } finally {
    database.close();
  }
}

const alterations: readonly [what: string, sql: string, isWholeAgain: boolean][] = [
  ['a title', "UPDATE document_exports SET source_document_title = 'other' WHERE id = 5", true],
  ['a time that leads an index', "UPDATE document_exports SET exported_at = '1999' WHERE id = 7", true],
  [
    'bytes that read as what stood there, and are no UTF-8',
    `UPDATE document_exports SET source_document_title = CAST(x'436166ff' AS TEXT)
       WHERE source_document_title = CAST(x'436166efbfbd' AS TEXT)`,
    true,
  ],
  ['further fields that are no JSON', "UPDATE document_exports SET _extra = 'no JSON' WHERE id = 9", true],
  ['a content', 'UPDATE document_exports SET _content = zeroblob(16) WHERE id = 11', true],
  [
    'a name that its further fields hide',
    `UPDATE collections SET _extra = '{"name":"' || name || '"}', name = 'other' WHERE id = 3`,
    true,
  ],
  [
    'a name that was moved among the further fields',
    "UPDATE collections SET _extra = json_object('name', name), name = NULL WHERE id = 3",
    true,
  ],
  [
    'a reference that was moved there',
    `UPDATE document_exports SET _extra = json_object('destinationConnection', json_object('id', destination_connection_id)),
       destination_connection_id = NULL WHERE id = 5`,
    true,
  ],
  [
    'events that were moved there',
    `UPDATE webhooks SET _extra = json_object('events', json((SELECT json_group_array(event ORDER BY position)
         FROM webhook_events WHERE webhook_id = 2)))
       WHERE id = 2;
     DELETE FROM webhook_events WHERE webhook_id = 2`,
    true,
  ],
  ['an id of nothing', `UPDATE webhooks SET _extra = '{"id":null}'`, true],
  ['further fields of nothing', "UPDATE collections SET _extra = '{}' WHERE id = 3", true],
  [
    'a further field that a later one of its name hides',
    `UPDATE document_exports SET _extra = '{"kept":7,' || substr(_extra, 2) WHERE _extra LIKE '{"kept":%'`,
    true,
  ],
  [
    'a reference to a connection that never was',
    'UPDATE collections SET source_connection_id = 12345 WHERE id = 2',
    true,
  ],
  ['a link to a connection that never was', 'UPDATE webhook_connections SET connection_id = 777', true],
  ['a shortcut of no list', "INSERT INTO _list_states VALUES ('nonsense', 1, '{}', x'00')", true],
  ['a known page', 'UPDATE _known_pages SET item_count = item_count + 1 WHERE place = 3', true],
  ['a number that is given last', 'UPDATE sqlite_sequence SET seq = 9223372036854775807', true],
  [
    'a number that is given last, by one',
    "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'document_exports'",
    true,
  ],
  [
    'a row that says what another one says, its content, too',
    `UPDATE document_exports SET (source_document_title, source_document_reference, source_document_version,
       source_document_kind, source_connection_id, destination_connection_id, destination_reference, exported_at, _content) =
       (SELECT source_document_title, source_document_reference, source_document_version, source_document_kind,
         source_connection_id, destination_connection_id, destination_reference, exported_at, _content
        FROM document_exports WHERE id = 6) WHERE id = 5`,
    false,
  ],
  ['every title', "UPDATE document_exports SET source_document_title = 'other'", true],
  [
    'two rows that change places',
    'UPDATE collections SET name = CASE id WHEN 1 THEN (SELECT name FROM collections WHERE id = 2) ELSE (SELECT name FROM collections WHERE id = 1) END WHERE id IN (1, 2)',
    true,
  ],
  ['an event that is gone', 'DELETE FROM webhook_events WHERE position = 0', true],
  ['an event in another place', 'UPDATE webhook_events SET position = 9 WHERE position = 0', true],
  ['an event of no webhook', "INSERT INTO webhook_events VALUES (999, 0, 'x')", true],
  [
    "a connection's name",
    "UPDATE connections SET name = 'other' WHERE id = (SELECT min(id) FROM connections)",
    true,
  ],
  ["a connection's content", 'UPDATE connections SET _content = zeroblob(16) WHERE id % 2 = 0', true],
  ["a connection's content that is gone", 'UPDATE connections SET _content = NULL', true],
  ["a connection's fingerprint", 'UPDATE connections SET _fingerprint = zeroblob(16) WHERE id % 2 = 0', true],
  ["a connection's fingerprint that is gone", 'UPDATE connections SET _fingerprint = NULL', true],
  [
    'the sums of the connections',
    "UPDATE _content_sums SET record_count = record_count + 1 WHERE table_name = 'connections'",
    true,
  ],
  [
    'a connection that is gone',
    'DELETE FROM connections WHERE id = (SELECT min(id) FROM connections)',
    false,
  ],
  [
    'a connection that nobody named',
    "INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _name_rank, _content) VALUES (999, 'x', 1, 1, 1, zeroblob(16))",
    true,
  ],
  ['rows that are gone', 'DELETE FROM document_exports WHERE id < 4', false],
  [
    'a row that was never sent',
    "INSERT INTO collections (id, name, _first_seen_run_id, _changed_run_id, _content) VALUES (999, 'x', 1, 1, zeroblob(16))",
    false,
  ],
  [
    'the sums',
    "UPDATE _content_sums SET digest = '00000000000000000000000000000001' WHERE table_name = 'document_exports'",
    true,
  ],
];

describe('a mirror that another program has written to', () => {
  test.each(alterations)('is what the service lists after the next run: %s', async (_, sql, isWholeAgain) => {
    await using scene = await setScene({ maxPageSize: 10 });
    const exports = scene.service.lists['document-exports'] as SampleItem[];
    Object.assign(exports[4] as SampleItem, { kept: 1, other: 'é' });
    Object.assign(exports[8] as SampleItem, { sourceDocumentTitle: 'Caf\ufffd' });
    await syncScene(scene, { fullEveryMs: day });
    const before = contents(scene.database);
    alter(scene.database, sql);

    const healing = await syncScene(scene, { fullEveryMs: day, allowMassRemoval: true });
    expect(healing).toMatchObject({ code: 0, status: 'completed' });
    expect(contents(scene.database)).toEqual(before);
    const { differenceCount } = await verifyMirror(scene.database, { limit: 1, signal });
    expect(differenceCount === 0).toBe(isWholeAgain);
    await syncScene(scene, { fullEveryMs: day });
    await expectQuiet(scene);
  });

  test('is believed where nobody has: each run vouches for what it leaves', async () => {
    await using scene = await setScene({ maxPageSize: 10 });
    for (const _run of [1, 2, 3]) {
      await syncScene(scene);
      expect(suspects(scene)).toEqual([]);
      const [mark] = sqlite(`${scene.database}.staging`, 'SELECT mark AS file FROM mirror_mark');
      expect(mark).toEqual({ file: markOf(scene.database) });
    }
  });

  test('is looked at once, whatever list a run is for', async () => {
    await using scene = await setScene({ maxPageSize: 10 });
    await syncScene(scene);
    alter(scene.database, "UPDATE collections SET name = 'other'");
    await syncScene(scene, { resources: ['webhooks'] });
    expect(suspects(scene)).toEqual(['document-exports', 'collections']);
    await syncScene(scene, { resources: ['document-exports'] });
    expect(suspects(scene)).toEqual(['collections']);
    const healing = await syncScene(scene, { resources: ['collections'] });
    expect(healing.of('collections')).toMatchObject({ completeness: 'proven', walks: 2, updated: 0 });
    expect(sqlite(scene.database, "SELECT id FROM collections WHERE name = 'other'")).toEqual([]);
    await syncScene(scene, { resources: ['collections'] });
    expect(suspects(scene)).toEqual([]);
  });

  test('is mended by the command line, which says why it reads the list twice', async () => {
    await using scene = await setScene({ maxPageSize: 10 });
    await scene.sync();
    alter(scene.database, "UPDATE collections SET name = 'other'");
    const healing = await scene.sync();
    expect(healing.stderr).toContain('something else has written to the mirror');
    expect(healing.stderr).toContain('the rows of collections are not what docmirror wrote');
    const reason = 'the rows of collections are not what docmirror wrote';
    expect(healing.of('collections')).toMatchObject({ completeness: 'proven', reason, walks: 2, updated: 0 });
    expect((await scene.run('verify')).code).toBe(0);
  });
});

describe('a mirror that another program writes to while a run goes on', () => {
  const sqls = {
    collections: "UPDATE collections SET name = 'other' WHERE id = 3",
    'document-exports': "UPDATE document_exports SET source_document_title = 'other' WHERE id = 5",
    webhooks: 'DELETE FROM webhook_events WHERE position = 0',
    connections: "UPDATE connections SET name = 'other' WHERE id = (SELECT min(id) FROM connections)",
  };
  const requested = ['collections', 'webhooks', 'document-exports'];
  const cases = Object.entries(sqls).flatMap(([what, sql]) =>
    requested.map(during => [what, during, sql] as const),
  );

  test.each(cases)(
    'is what the service lists after that run or the next one: %s, as %s are read',
    async (what, during, sql) => {
      await using scene = await setScene({ maxPageSize: 10 });
      await syncScene(scene);
      await syncScene(scene);
      const before = contents(scene.database);
      scene.service.onRequest = ({ resource }) => {
        if (resource !== during) return;
        scene.service.onRequest = undefined;
        alter(scene.database, sql);
      };
      const meddled = await syncScene(scene);
      expect(scene.service.onRequest).toBeUndefined();
      expect(meddled.code).toBe(0);
      // What is altered before its list is written is put right in the run itself.
      if (what === during) expect(contents(scene.database)).toEqual(before);
      expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expect(contents(scene.database)).toEqual(before);
      expect(await verifyMirror(scene.database, { limit: 1, signal })).toMatchObject({ differenceCount: 0 });
      await expectQuiet(scene);
    },
  );

  test('is read no more often for what others write to tables of their own', async () => {
    await using scene = await setScene({ maxPageSize: 10 });
    await syncScene(scene);
    scene.service.onRequest = () =>
      alter(scene.database, 'CREATE TABLE IF NOT EXISTS notes (t); INSERT INTO notes VALUES (1)');
    const { code, summary } = await syncScene(scene);
    scene.service.onRequest = undefined;
    expect(code).toBe(0);
    for (const { completeness, walks } of summary.resources)
      expect({ completeness, walks }).toEqual({ completeness: 'proven', walks: 1 });
  });
});

test.each([
  ["a list's record", "UPDATE sync_run_resources SET completeness = 'proven' WHERE run_id = 2", 3],
  ["a run's record", "UPDATE sync_runs SET docmirror_version = 'other' WHERE id = 2", 0],
])('a run that another program has altered is no reading (%s)', async (_, sql, totalError) => {
  await using scene = await setScene({ maxPageSize: 10 });
  await syncScene(scene);
  scene.service.options.totalError = totalError;
  await syncScene(scene);
  scene.service.options.totalError = 0;
  alter(scene.database, sql);
  for (const walks of [2, 1]) {
    const { summary } = await syncScene(scene);
    expect(summary.resources.map(each => each.walks)).toEqual([walks, walks, walks]);
  }
});

describe('a mirror that another program has written to, whose list then fails', () => {
  test.each([0, 1, 3])(
    'keeps no version that the service never listed (the service fails after %s requests)',
    async answered => {
      await using scene = await setScene({ maxPageSize: 10 });
      await syncScene(scene);
      const before = contents(scene.database);
      for (const table of [
        'collections SET name',
        'document_exports SET source_document_title',
        'webhooks SET endpoint',
      ])
        alter(scene.database, `UPDATE ${table} = 'other' WHERE id IN (2, 5)`);
      const asked = scene.service.requests.length;
      scene.service.options.faults = ({ n }) =>
        n > asked + answered ? { kind: 'status', status: 500 } : undefined;
      const failing = await syncScene(scene, { retries: 0 });
      expect(failing.status).toBe('failed');
      scene.service.options.faults = undefined;
      expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expect(contents(scene.database)).toEqual(before);
      expect(sqlite(scene.database, 'SELECT * FROM record_history')).toEqual([]);
      expect(await verifyMirror(scene.database, { limit: 1, signal })).toMatchObject({ differenceCount: 0 });
    },
  );

  test('is foretold rightly by a dry run', async () => {
    await using scene = await setScene({ maxPageSize: 10 });
    await scene.sync();
    alter(scene.database, "UPDATE collections SET name = 'other' WHERE id = 3");
    alter(scene.database, 'DELETE FROM webhook_events WHERE webhook_id = 2');
    alter(scene.database, 'DELETE FROM document_exports WHERE id = 4');
    Object.assign(scene.service.lists.collections[4] as SampleItem, { name: 'new' });
    const told = ({ code, of }: Awaited<ReturnType<Scene['sync']>>) => [
      code,
      ...['collections', 'webhooks', 'document-exports']
        .map(of)
        .map(({ status, completeness, walks, updated, inserted, removed }) => ({
          status,
          completeness,
          walks,
          updated,
          inserted,
          removed,
        })),
    ];
    const dry = await scene.sync('--dry-run');
    expect(told(dry)).toEqual(told(await scene.sync()));
  });
});

describe('the record of a run that another program altered', () => {
  test('before it ended is not called docmirror’s own by its end, nor by the next run', async () => {
    for (const isKilled of [false, true]) {
      await using scene = await setScene();
      await using cli = spawnCli(['sync'], { env: scene.env });
      scene.service.options.faults = ({ resource }) => {
        if (resource !== 'document-exports') return undefined;
        scene.service.options.faults = undefined;
        alter(scene.database, "UPDATE sync_runs SET _actor = 'somebody else'");
        if (isKilled) cli.child.kill('SIGKILL');
        return undefined;
      };
      await cli.done;
      if (isKilled) await scene.sync();
      const { code, stdout } = await scene.run('verify');
      expect(code, stdout).toBe(4);
      expect(stdout).toContain('sync_runs 1: the row was changed');
    }
  });
});

/** The lists that the next run will look at row by row, where nobody writes to the mirror until then. */
function suspects({ database }: Scene): unknown {
  const [mark] = sqlite(`${database}.staging`, 'SELECT suspects FROM mirror_mark') as { suspects: string }[];
  return JSON.parse(mark?.suspects ?? 'null');
}

/** The run after the next one has nothing to mend, and costs what it always does. */
async function expectQuiet(scene: Scene): Promise<void> {
  const { summary } = await syncScene(scene, { fullEveryMs: day });
  for (const { inserted, updated, removed, walks } of summary.resources) {
    expect({ inserted, updated, removed }).toEqual({ inserted: 0, updated: 0, removed: 0 });
    expect(walks).toBeLessThanOrEqual(1);
  }
}
