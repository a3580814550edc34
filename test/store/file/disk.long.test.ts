import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { expectExactMirror, expectSound, mirrored } from '../../support/oracle.ts';
import { programPath } from '../../support/program.ts';
import { type CliResult, runProcess, sqlite } from '../../support/run-cli.ts';
import { make, type Scene, setScene } from '../../support/scene.ts';
import { documentExport } from '../../support/stand-in.ts';

const resource = 'document-exports';

async function setSyncedScene(exports = 130): Promise<Scene> {
  const scene = await setScene({ maxPageSize: 100 }, { exports });
  expect(await syncScene(scene)).toMatchObject({ code: 0 });
  return scene;
}

describe('a mirror that another program has locked', () => {
  test('during a run for 2 s is waited for, and the run succeeds', async () => {
    await using scene = await setSyncedScene();
    scene.service.lists[resource].push(documentExport(901));
    const other = new Database(scene.database);
    scene.service.onRequest = request => {
      if (request.resource === resource && !other.inTransaction) other.exec('BEGIN IMMEDIATE');
    };
    const synced = scene.sync('--resource', resource);
    while (!other.inTransaction) await wait(10);
    await wait(2_000);
    other.exec('COMMIT');
    other.close();
    scene.service.onRequest = undefined;
    expect(await synced).toMatchObject({ code: 0, status: 'completed' });
    expectExactMirror(scene.database, scene.service);
  });
});

/** Runs a sync whose files cannot grow beyond `kib` KiB: every write behind that fails. */
async function syncWithin(scene: Scene, kib: number): Promise<CliResult> {
  const child = spawn(
    'bash',
    ['-c', 'ulimit -f "$0"; exec "$@"', String(kib), process.execPath, programPath, 'sync'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...scene.env, DOCMIRROR_LOG_LEVEL: 'fatal' },
    },
  );
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, signal, stdout, stderr };
}

const hasUlimit = existsSync('/bin/bash') || existsSync('/usr/bin/bash');

describe.skipIf(!hasUlimit).concurrent('a disk that is full', () => {
  test.each([4, 300, 700])(
    'when a file has %i KiB fails the run with clear words, and the mirror is sound and as before or as after',
    async kib => {
      await using scene = await setSyncedScene(100);
      const before = mirrored(scene.database, resource);
      scene.service.lists[resource].push(...make(3_000, n => documentExport(1_000 + n)));
      const result = await syncWithin(scene, kib);
      const output = result.stdout + result.stderr;
      expect(output).not.toMatch(/^\s+at |fault of docmirror|SqliteError/m);
      expect([0, 1, 3]).toContain(result.code);
      if (result.code !== 0)
        expect(output).toMatch(/Check the disk|is full|a quota or the limit of the size of files/);
      const after = mirrored(scene.database, resource);
      // If only the checkpoint of the log fails at the end, all is written.
      expect([before.length, before.length + 3_000]).toContain(after.length);
      expectSound(scene.database);
      expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expectExactMirror(scene.database, scene.service);
    },
  );
});

test('a run that is recorded as completed ends with 0, also if the disk is full at its end', async ({
  skip,
}) => {
  await using scene = await setScene({}, { exports: 100 });
  const folder = join(scene.folder, 'small');
  const env = { ...scene.env, DOCMIRROR_DATABASE: join(folder, 'mirror.sqlite') };
  mkdirSync(folder);
  const mount = (...options: string[]) => spawnSync('mount', [...options, folder]).status === 0;
  if (!mount('-t', 'tmpfs', 'none')) return skip('only who may mount file systems can try this');
  try {
    expect(await runProcess(['sync'], { env })).toMatchObject({ code: 0 });
    const used = spawnSync('du', ['-sk', folder], { encoding: 'utf8' }).stdout;
    scene.service.lists[resource].push(...make(3_000, n => documentExport(1_000 + n)));
    const warned = [];
    for (const freeKib of [500, 900, 1_100, 1_500]) {
      expect(mount('-o', `remount,size=${Number.parseInt(used, 10) + freeKib}k`)).toBe(true);
      const completed = "SELECT count(*) AS n FROM sync_runs WHERE status = 'completed'";
      const [before] = sqlite(env.DOCMIRROR_DATABASE, completed);
      const { code, stderr } = await runProcess(['sync', '--full'], { env });
      const [after] = sqlite(env.DOCMIRROR_DATABASE, completed);
      expect([freeKib, code === 0], stderr).toEqual([freeKib, after?.n !== before?.n]);
      if (code === 0 && stderr !== '') warned.push(JSON.parse(stderr));
    }
    expect(warned[0]).toMatchObject({ level: 'warn', error: { code: 'disk_full' } });
    expect(warned[0].msg).toBe('the run is recorded, but still in the -wal file beside the mirror');
    expectSound(env.DOCMIRROR_DATABASE);
    expectExactMirror(env.DOCMIRROR_DATABASE, scene.service);
  } finally {
    spawnSync('umount', [folder]);
  }
});
