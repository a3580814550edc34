import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { programPath } from '../support/program.ts';
import { type Row, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
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

describe('a cursor', () => {
  test('delivers each change once, whatever runs do between', async () => {
    await using reader = await setReader();
    const { scene, cursor } = reader;
    await scene.sync();
    const told = await reader.read();
    expect(JSON.parse(readFileSync(cursor, 'utf8'))).toEqual({
      mirrorId: expect.stringMatching(/^[\da-f-]{36}$/),
      runId: 1,
      leafIndex: 0,
      // It is not the one of the receipt, by which a reader of a share could check a guess.
      leafHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      isKeyed: true,
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

  test('works with each format and with a file, and the next one is written when the file has its name', async () => {
    await using reader = await setReader();
    const { scene, cursor, next } = reader;
    await scene.sync();
    for (const [at, format] of ['ndjson', 'csv', 'parquet', 'xlsx'].entries()) {
      const out = join(scene.folder, `feed.${format}`);
      const flags = ['--cursor', cursor, '--next', next, '--format', format, '--out', out];
      const { code, stdout, stderr } = await scene.run('changes', ...flags);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/: \d+ rows?, /);
      expect(existsSync(out)).toBe(true);
      renameSync(next, cursor);
      await change(scene, 70 + at);
    }
    const missing = ['--cursor', cursor, '--next', next, '--out', join(scene.folder, 'none', 'x')];
    expect(await scene.run('changes', ...missing)).toMatchObject({ code: 2 });
    expect(existsSync(next)).toBe(false);
  });

  test('goes with no filter, and its files must be what they are', async () => {
    await using reader = await setReader();
    const { scene, cursor, flags } = reader;
    await scene.sync();
    for (const [more, words] of [
      [['--resource', 'webhooks'], 'cannot be used with'],
      [['--since', '2026-01-01'], 'cannot be used with'],
    ] as const) {
      const { code, stdout, stderr } = await scene.run(...flags, ...more);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
    }
    for (const [file, words] of [
      [cursor, 'name another file'],
      [scene.database, 'is a mirror'],
    ] as const) {
      const { code, stderr } = await scene.run('changes', '--cursor', cursor, '--next', file);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
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
    await using scene = await setScene({}, { exports: 2_000, collections: 1, webhooks: 1 });
    await scene.sync();
    const script =
      'format=$1 node=$2 program=$3; run() { "$node" -- "$program" changes --cursor c --next n --format $format; echo $? >&2; };';
    const env = { ...process.env, ...scene.env };
    for (const [format, to] of [
      ['ndjson', '> /dev/full'],
      ['ndjson', '| head -1'],
      ['table', '| head -1'],
    ] as const) {
      const args = ['-c', `${script} run ${to}`, 'sh', format, process.execPath, programPath];
      const { stderr } = spawnSync('sh', args, { cwd: scene.folder, env, encoding: 'utf8' });
      expect(stderr).toMatch(/\[output_failed\]\n1\n$/);
      expect(existsSync(join(scene.folder, 'n'))).toBe(false);
    }
  });
});

describe('a cursor that the mirror can not follow', () => {
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
    await lost(scene, [...flags, '--database', other], /of another mirror.* is 0\. .*--since-run 0/);
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
