import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { programPath } from '../support/program.ts';
import { type Row, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { shareOf } from '../support/share.ts';
import { collection, type SampleItem } from '../support/stand-in.ts';

const small = { exports: 4, collections: 2, webhooks: 2 };

interface Key {
  readonly runId: number;
  readonly resource: string;
  readonly recordId: number;
  readonly operation: string;
}

const textOf = ({ runId, resource, recordId, operation }: Key) =>
  `${runId} ${resource} ${recordId} ${operation}`;

function keysIn(ndjson: string): string[] {
  return ndjson
    .split('\n')
    .filter(line => line !== '')
    .map(line => textOf(JSON.parse(line)));
}

/** All changes of ended runs, as the view has them. */
function allChanges(database: string): string[] {
  const columns = 'run_id AS runId, resource, record_id AS recordId, operation';
  return sqlite(database, `SELECT ${columns} FROM changes`).map((row: Row) => textOf(row as unknown as Key));
}

/** A scene with a reader that moves its cursor each time. */
async function setReader() {
  const scene = await setScene({}, small);
  const cursor = join(scene.folder, 'c');
  const next = join(scene.folder, 'n');
  const flags = ['changes', '--cursor', cursor, '--next', next, '--format', 'ndjson'];
  return {
    scene,
    cursor,
    next,
    flags,
    async read(...more: string[]): Promise<string[]> {
      const { code, stdout, stderr } = await scene.run(...flags, ...more);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      renameSync(next, cursor);
      return keysIn(stdout);
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

async function change(scene: Scene, id: number): Promise<void> {
  scene.service.lists.collections.push(collection(id));
  await scene.sync();
}

describe.concurrent('a cursor', () => {
  test('delivers each change once, whatever runs do between', async () => {
    await using reader = await setReader();
    const { scene, cursor } = reader;
    await scene.sync();
    const told = await reader.read();
    expect(JSON.parse(readFileSync(cursor, 'utf8'))).toEqual({
      mirrorId: expect.stringMatching(/^[\da-f-]{36}$/),
      runId: 1,
      leafIndex: 0,
      leafHash: sqlite(scene.database, 'SELECT leaf_hash FROM sync_receipts')[0]?.leaf_hash,
      after: null,
      earlier: [],
    });
    expect(await reader.read()).toEqual([]);
    (scene.service.lists.collections[0] as SampleItem).name = 'another';
    scene.service.lists.webhooks.splice(0, 1);
    await scene.sync();
    await change(scene, 70);
    told.push(...(await reader.read()));
    await scene.sync();
    told.push(...(await reader.read()));
    await change(scene, 71);
    told.push(...(await reader.read()));
    expect(new Set(told).size).toBe(told.length);
    expect(told.toSorted()).toEqual(allChanges(scene.database).toSorted());
    expect(told).toContain('2 webhooks 1 removal');
  });

  test('is left alone: only --next is written, and the same changes come again until it is moved', async () => {
    await using reader = await setReader();
    const { scene, cursor, next, flags } = reader;
    await scene.sync();
    await reader.read();
    await change(scene, 70);
    const before = readFileSync(cursor, 'utf8');
    const [first, second] = [await scene.run(...flags), await scene.run(...flags)];
    expect(keysIn(first.stdout)).toContain('2 collections 70 insert');
    expect(second.stdout).toBe(first.stdout);
    expect(readFileSync(cursor, 'utf8')).toBe(before);
    expect(JSON.parse(readFileSync(next, 'utf8')).runId).toBe(2);
  });

  test('begins at the first run, and with --from now at the newest', async () => {
    await using reader = await setReader();
    const { scene, cursor } = reader;
    await scene.sync();
    expect(await reader.read('--from', 'now')).toEqual([]);
    await change(scene, 70);
    expect(await reader.read('--from', 'now')).toContain('2 collections 70 insert');
    renameSync(cursor, join(scene.folder, 'old'));
    expect((await reader.read('--from', 'first')).length).toBe(allChanges(scene.database).length);
  });

  test('can stop at a run, and goes no way back', async () => {
    await using reader = await setReader();
    const { scene } = reader;
    await scene.sync();
    await change(scene, 70);
    await change(scene, 71);
    const runsOf = (keys: string[]) => [...new Set(keys.map(key => key.split(' ')[0]))];
    expect(runsOf(await reader.read('--until-run', '2'))).toEqual(['1', '2']);
    expect(await reader.read('--until-run', '1')).toEqual([]);
    expect(runsOf(await reader.read())).toEqual(['3']);
    const alone = await scene.run('changes', '--until-run', '2', '--format', 'ndjson');
    expect(runsOf(keysIn(alone.stdout))).toEqual(['2']);
    const between = await scene.run('changes', '--since-run', '0', '--until-run', '2', '--format', 'ndjson');
    expect(runsOf(keysIn(between.stdout))).toEqual(['1', '2']);
  });

  test('works on a share, too, and one of the mirror works there', async () => {
    await using reader = await setReader();
    const { scene } = reader;
    await scene.sync();
    await reader.read();
    await change(scene, 70);
    const share = await shareOf(scene);
    expect(await reader.read('--database', share)).toContain('2 collections 70 insert');
    expect(await reader.read()).toEqual([]);
  });

  test('goes with no filter, and its files must be what they are', async () => {
    await using reader = await setReader();
    const { scene, cursor, flags } = reader;
    await scene.sync();
    for (const [more, words] of [
      [['--resource', 'webhooks'], 'cannot be used with'],
      [['--since', '2026-01-01'], 'cannot be used with'],
      [['--next', cursor], 'name another file'],
      [['--next', scene.database], 'is a mirror'],
    ] as const) {
      const { code, stdout, stderr } = await scene.run(...flags, ...more);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
    }
    for (const wrong of ['', '{}', 'no JSON', '{"mirrorId":"x","runId":1}', '[]']) {
      writeFileSync(cursor, wrong);
      const { code, stdout, stderr } = await scene.run(...flags);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('is not a cursor of docmirror');
    }
    for (const alone of [
      ['--next', 'n'],
      ['--from', 'now'],
    ])
      expect(await scene.run('changes', ...alone)).toMatchObject({ code: 2 });
  });

  test.skipIf(process.platform !== 'linux')('is not written if the output is lost', async () => {
    await using reader = await setReader();
    const { scene, flags, next } = reader;
    await scene.sync();
    const line = `exec '${process.execPath}' -- '${programPath}' ${flags.join(' ')} > /dev/full`;
    expect(spawnSync('sh', ['-c', line], { env: { ...process.env, ...scene.env } }).status).toBe(1);
    expect(existsSync(next)).toBe(false);
  });

  test('is not written if the reader of the pipe stops early', async () => {
    await using scene = await setScene({}, { exports: 2_000, collections: 1, webhooks: 1 });
    await scene.sync();
    for (const format of ['ndjson', 'csv', 'table']) {
      const flags = ['changes', '--cursor', 'c', '--next', 'n', '--format', format].join(' ');
      const line = `{ '${process.execPath}' -- '${programPath}' ${flags}; echo $? >&2; } | head -1`;
      const env = { ...process.env, ...scene.env };
      const { stderr } = spawnSync('sh', ['-c', line], { cwd: scene.folder, env, encoding: 'utf8' });
      expect(stderr).toMatch(/--next was not written\. \[output_failed\]\n1\n$/);
      expect(existsSync(join(scene.folder, 'n'))).toBe(false);
    }
  });
});

describe.concurrent('a cursor that the mirror can not follow', () => {
  async function lost(scene: Scene, flags: readonly string[], shared: RegExp): Promise<void> {
    const { code, stdout, stderr } = await scene.run(...flags);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toMatch(shared);
    expect(existsSync(join(scene.folder, 'n'))).toBe(false);
  }

  test('because a backup was restored, names the last run before the two parted', async () => {
    await using reader = await setReader();
    const { scene, flags } = reader;
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.sync();
    await change(scene, 70);
    expect((await scene.run('backup', backup)).code).toBe(0);
    for (const id of [71, 72, 73]) await change(scene, id);
    await reader.read();
    expect((await scene.run('backup', '--restore', backup)).code).toBe(0);
    await lost(scene, flags, /restored.* is 2\. .*--since-run 2\./);
    // Runs after that have the same numbers as those that were lost.
    for (const id of [74, 75, 76, 77]) await change(scene, id);
    await lost(scene, flags, / is 2\. .*--since-run 2\./);
    const resumed = await reader.read('--since-run', '2');
    expect(resumed.filter(key => key.includes('collections'))).toEqual(
      [
        '3 collections 71',
        '3 collections 72',
        '3 collections 73',
        '3 collections 74',
        '4 collections 75',
        '5 collections 76',
        '6 collections 77',
      ].map(key => `${key} insert`),
    );
    expect(await reader.read()).toEqual([]);
  });

  test('because it is of another mirror, says that they share nothing', async () => {
    await using reader = await setReader();
    const { scene, flags, cursor } = reader;
    await scene.sync();
    await reader.read();
    const other = join(scene.folder, 'other.sqlite');
    await scene.run('sync', '--database', other);
    await lost(scene, [...flags, '--database', other], /of another mirror.*They share no run.*--since-run 0/);
    expect(existsSync(cursor)).toBe(true);
  });

  test('because the mirror was rebuilt, or its history was deleted', async () => {
    await using reader = await setReader();
    const { scene, flags, cursor } = reader;
    await scene.sync();
    await reader.read();
    copyFileSync(cursor, join(scene.folder, 'first'));
    (scene.service.lists.collections[0] as SampleItem).name = 'second';
    await scene.sync();
    (scene.service.lists.collections[0] as SampleItem).name = 'third';
    await scene.sync();
    await reader.read();
    await scene.sync('--keep-history', '1ms');
    copyFileSync(join(scene.folder, 'first'), cursor);
    await lost(scene, flags, /older than the history.* is 1\./);
    expect((await scene.run(...flags, '--since-run', '3')).code).toBe(0);
    renameSync(join(scene.folder, 'n'), cursor);
    tamper(scene.database, "UPDATE collections SET name = 'altered' WHERE id = 2");
    await scene.sync('--rebuild');
    await lost(scene, flags, /rebuild.* is 4\. .*--since-run 4/);
  });
});

describe.concurrent('changes as CSV', () => {
  test('are flat: a column a field before and after, names beside ids, and what changed', async () => {
    await using scene = await setScene({}, small);
    const { lists } = scene.service;
    await scene.sync();
    const [first, gone] = lists.webhooks as [SampleItem, SampleItem];
    first.description = null;
    lists.webhooks.splice(1, 1);
    lists.collections.push(
      '{"id":80,"name":"=1+1","sourceConnection":{"id":1,"name":"Connection 1"},"size":12345678901234567890}',
    );
    await scene.sync();
    const { stdout } = await scene.run('changes', '--format', 'csv');
    const rows = parse(stdout, { columns: true }) as Record<string, string>[];
    const inserted = rows.find(
      ({ operation, resource }) => operation === 'insert' && resource === 'collections',
    );
    expect(inserted).toMatchObject({
      run_id: '2',
      record_id: '80',
      changed_fields: '',
      is_erased: '0',
      before_name: '',
      after_name: '=1+1',
      after_source_connection_id: '1',
      after_source_connection_name: 'Connection 1',
      after_destination_connection_id: '',
      after_extra: '{"size":12345678901234567890}',
      after_endpoint: '',
    });
    const updated = rows.find(({ operation, resource }) => operation === 'update' && resource === 'webhooks');
    expect(updated).toMatchObject({ changed_fields: '["description"]', after_description: '' });
    expect(updated?.before_description).not.toBe('');
    expect(JSON.parse(updated?.after_connection_ids ?? '')).toEqual(
      (first.connections as { id: number }[]).map(({ id }) => id),
    );
    expect(JSON.parse(updated?.after_connection_names ?? '')).toHaveLength(
      (first.connections as unknown[]).length,
    );
    expect(JSON.parse(updated?.after_events ?? '')).toEqual(first.events);
    const removed = rows.find(({ operation }) => operation === 'removal');
    expect(removed).toMatchObject({
      before_endpoint: gone.endpoint,
      after_endpoint: '',
      changed_fields: '',
    });
    const listed = sqlite(
      scene.database,
      'SELECT record_id, changed_fields FROM changes WHERE changed_fields IS NOT NULL',
    );
    expect(listed.length).toBeGreaterThan(0);
    for (const { record_id, changed_fields } of listed)
      expect(
        rows.find(row => row.record_id === String(record_id) && row.operation === 'update')?.changed_fields,
      ).toBe(changed_fields);
  });

  test('have the columns of the lists that are asked for, and say which records were erased', async () => {
    await using scene = await setScene({}, small);
    await scene.sync();
    scene.service.lists.webhooks.splice(0, 1);
    await scene.sync();
    await scene.run('erase', 'webhooks', '1');
    const { stdout } = await scene.run('changes', '--format', 'csv', '--resource', 'webhooks');
    expect(stdout.split('\n')[0]).toBe(
      'run_id,changed_at,resource,record_id,operation,changed_fields,is_erased,before_endpoint,after_endpoint,before_description,after_description,before_events,after_events,before_connection_ids,after_connection_ids,before_connection_names,after_connection_names,before_extra,after_extra',
    );
    expect(parse(stdout, { columns: true })).toMatchObject([
      { operation: 'removal', is_erased: '1', before_endpoint: '' },
    ]);
  });
});

describe.concurrent('since a length of time', () => {
  test('are the changes of runs that ended within it', async () => {
    await using scene = await setScene({}, small);
    await scene.sync();
    tamper(
      scene.database,
      "UPDATE sync_runs SET started_at = '2026-01-01T00:00:00.000Z', completed_at = '2026-01-01T00:00:01.000Z'",
    );
    await change(scene, 70);
    const since = async (time: string) => {
      const { stdout } = await scene.run('changes', '--since', time, '--format', 'ndjson');
      return new Set(keysIn(stdout).map(key => key.split(' ')[0]));
    };
    expect(await since('24h')).toEqual(new Set(['2']));
    expect(await since('90000d')).toEqual(new Set(['1', '2']));
    expect(await scene.run('changes', '--since', '24x')).toMatchObject({ code: 2 });
  });
});

describe.concurrent('export --changes', () => {
  test('goes on from a cursor, as CSV, too, and writes the next one when all files have their names', async () => {
    await using scene = await setScene({}, small);
    await scene.sync();
    const [cursor, next] = [join(scene.folder, 'c'), join(scene.folder, 'n')];
    const read = async (format: string, ...more: string[]) => {
      const out = join(scene.folder, `feed-${format}`);
      const flags = ['--changes', '--out', out, '--format', format, '--cursor', cursor, '--next', next];
      const { code, stderr } = await scene.run('export', ...flags, ...more);
      expect([code, stderr]).toEqual([0, '']);
      renameSync(next, cursor);
      return existsSync(join(out, 'changes')) ? readdirSync(join(out, 'changes')) : [];
    };
    expect(await read('ndjson')).toEqual(['run_id=1']);
    await change(scene, 70);
    expect(await read('csv')).toEqual(['run_id=2']);
    const file = join(scene.folder, 'feed-csv', 'changes', 'run_id=2', 'changes.csv');
    const rows = parse(readFileSync(file), { columns: true }) as Record<string, string>[];
    expect(rows).toContainEqual(
      expect.objectContaining({
        resource: 'collections',
        record_id: '70',
        after_source_connection_name: expect.stringMatching(/./),
      }),
    );
    expect(Object.keys(rows[0] ?? {})).not.toContain('run_id');
    expect(await read('parquet')).toEqual([]);
    expect(await scene.run('export', '--out', 'x', '--cursor', cursor)).toMatchObject({ code: 2 });
    expect(await scene.run('export', '--out', 'x', '--changes', '--next', next)).toMatchObject({ code: 2 });
    writeFileSync(cursor, readFileSync(cursor, 'utf8').replace(/"mirrorId":"./, '"mirrorId":"x'));
    const lost = await scene.run('export', '--out', 'x', '--changes', '--cursor', cursor, '--next', next);
    expect([lost.code, existsSync(next)]).toEqual([4, false]);
  });
});
