import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { isHeld, MirrorLock, markOf } from '../../../src/store/file/lock-file.ts';
import { openForReading } from '../../../src/store/file/open.ts';
import { openForWriting } from '../../../src/store/file/open-to-write.ts';
import { RunReader } from '../../../src/store/read/runs/runs.ts';
import { temporaryFolder } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';

/** Asks another process whether it can take the lock. */
function canOtherHold(path: string): boolean {
  const script = `
    import { MirrorLock } from './src/store/file/lock-file.ts';
    new MirrorLock(process.argv[1]).release();`;
  const { status } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script, path]);
  return status === 0;
}

test('a look at a file that this process has locked keeps the lock', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const lock = new MirrorLock(path);
  expect(canOtherHold(path)).toBe(false);
  // Each of these looks at the staging file or the mirror, and lets go of it again.
  expect(() => new MirrorLock(path)).toThrow('Another run is using this mirror');
  openForWriting(path).close();
  openForReading(path).close();
  expect(() => new MirrorLock(path)).toThrow('Another run is using this mirror');
  expect([canOtherHold(path), isHeld(path)]).toEqual([false, true]);
  lock.release();
  expect([canOtherHold(path), isHeld(path)]).toEqual([true, false]);
});

test('a run goes on as long as it has its lock, and has died without it', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const lock = new MirrorLock(path);
  using mirror = openForWriting(path);
  mirror.sqlite.exec(
    "INSERT INTO sync_runs (status, trigger, started_at, docmirror_version, base_url) VALUES ('running', 'manual', '2026-06-10T00:00:00.000Z', 'test', 'https://made.example')",
  );
  const status = () => {
    using reader = new RunReader(path);
    return reader.runs(1)[0]?.status;
  };
  expect(status()).toBe('running');
  lock.release();
  expect(status()).toBe('died');
});

/** Lets another process take a database's lock, and give it back after so long; done when it has it. */
async function takeElsewhere(path: string, forMs: number): Promise<void> {
  const script = `
    const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
    database.exec('BEGIN IMMEDIATE; SELECT * FROM sqlite_schema');
    console.log('taken');
    setTimeout(() => database.close(), ${forMs});`;
  const other = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
}

test('a run waits a moment for a command that only looks at its lock, and names another run within a second', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  new MirrorLock(path).release();
  await takeElsewhere(`${path}.lock`, 50);
  const lock = new MirrorLock(path);
  const startedAtMs = performance.now();
  expect(() => new MirrorLock(path)).toThrow('Another run is using this mirror');
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  lock.release();
});

test('a reader that keeps the WAL open is named in the log, and costs a run no wait', async () => {
  await using scene = await setScene();
  await scene.sync();
  const reader = new Database(scene.database, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM collections').get();
  scene.service.lists.collections.pop();
  const { code, stderr } = await scene.sync('--allow-mass-removal', '--log-level', 'info');
  expect(code).toBe(0);
  const lines = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { time: string; msg: string });
  const [last, before] = [lines.at(-1), lines.at(-2)];
  expect(last?.msg).toContain('copy the mirror together with its -wal file');
  expect(Date.parse(last?.time ?? '') - Date.parse(before?.time ?? '')).toBeLessThan(900);
  reader.close();
});

test('a file that another program wrote looks otherwise, also with the size and the time of before', async () => {
  await using folder = temporaryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  writeFileSync(path, 'one');
  const time = new Date('2026-01-01T00:00:00Z');
  utimesSync(path, time, time);
  const [mark, { mtimeMs }] = [markOf(path), statSync(path)];
  writeFileSync(path, 'two');
  utimesSync(path, time, time);
  expect(statSync(path)).toMatchObject({ size: 3, mtimeMs });
  expect(markOf(path)).not.toBe(mark);
});
