import { spawn } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { onMount } from '../../support/mount.ts';
import { expectExactMirror, expectSound, mirrored } from '../../support/oracle.ts';
import { programPath } from '../../support/program.ts';
import { type CliResult, sqlite } from '../../support/run-cli.ts';
import { make, type Scene, setScene } from '../../support/scene.ts';
import { collection, documentExport, webhook } from '../../support/stand-in.ts';

const resource = 'document-exports';

async function setSyncedScene(exports = 130): Promise<Scene> {
  const scene = await setScene({ maxPageSize: 100 }, { exports });
  expect(await syncScene(scene)).toMatchObject({ code: 0 });
  return scene;
}

/** Expects one clear line on standard error and nothing that only a developer can read. */
function expectClearLine({ code, stdout, stderr }: CliResult, exitCode: number, words: RegExp): void {
  expect(stderr).toMatch(/^docmirror: [^\n]+\n$/);
  expect(stderr).toMatch(words);
  expect(stderr + stdout).not.toMatch(/^\s+at |SqliteError|fault of docmirror/m);
  expect(code).toBe(exitCode);
}

/** Bytes that look like chance and are the same each time. */
function noise(length: number): Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(length));
}

/** Overwrites some of a file's bytes with noise. */
function damage(path: string, offset: number, length: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, noise(length), 0, length, offset);
  closeSync(file);
}

describe('a damaged mirror', () => {
  const damages: [name: string, harm: (path: string) => void][] = [
    ['whose first page is noise', path => damage(path, 100, 3_996)],
    ['that is noise but for its header', path => damage(path, 100, statSync(path).size - 100)],
    ['that is cut in the middle', path => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['that is cut to its header', path => truncateSync(path, 100)],
  ];

  test.each(damages)(
    '%s is one clear line and exit 1 with every command, and is left as it is',
    async (_name, harm) => {
      await using scene = await setSyncedScene(600);
      scene.service.lists[resource].splice(0, 250);
      scene.service.lists[resource].push(...make(400, n => documentExport(2_000 + n)));
      harm(scene.database);
      const bytes = readFileSync(scene.database);
      for (const result of await Promise.all(['sync', 'status', 'runs'].map(command => scene.run(command))))
        expectClearLine(result, 1, /damaged/);
      expect(readFileSync(scene.database).equals(bytes)).toBe(true);
    },
  );
});

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
      if (result.code !== 0) expect(output).toMatch(/Check the disk|is full/);
      const after = mirrored(scene.database, resource);
      // If only the checkpoint of the log fails at the end, all is written.
      expect([before.length, before.length + 3_000]).toContain(after.length);
      expectSound(scene.database);
      expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
      expectExactMirror(scene.database, scene.service);
    },
  );
});

test('a disk that fills up during a run is what the run records, never a fault of docmirror', async ({
  skip,
}) => {
  await using scene = await setScene({ maxPageSize: 200 }, { exports: 600, collections: 600 });
  await onMount(scene, 'size=24m', skip, async folder => {
    const [database, filler] = [join(folder, 'mirror.sqlite'), join(folder, 'filler')];
    scene.env.DOCMIRROR_DATABASE = database;
    expect(await scene.sync()).toMatchObject({ code: 0 });
    for (const left of make(10, n => 300 + 60 * n)) {
      scene.service.lists.collections = make(600, n => collection(1_000 * left + n));
      scene.service.lists.webhooks = make(600, n => webhook(1_000 * left + n));
      scene.service.lists['document-exports'] = make(600, n => documentExport(1_000 * left + n));
      writeFileSync(filler, '');
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(bavail * bsize - left * 1024));
      const { code, stderr } = await scene.run('sync', '--allow-mass-removal');
      expect({ code, stderr }).toEqual({
        code: expect.any(Number),
        stderr: expect.not.stringMatching(/^\s+at /m),
      });
      writeFileSync(filler, '');
      const recorded = sqlite(
        database,
        "SELECT error_code, error_message FROM sync_runs WHERE error_code = 'internal'",
      );
      expect(recorded).toEqual([]);
    }
    expect(await scene.sync('--allow-mass-removal')).toMatchObject({ code: 0 });
  });
});
