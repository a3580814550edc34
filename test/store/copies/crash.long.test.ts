import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { programPath } from '../../support/program.ts';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { readable, shareOf } from '../../support/share.ts';
import type { SampleItem } from '../../support/stand-in.ts';

interface OldScene extends Scene {
  readonly path: string;
  readonly old: Buffer;
  readonly sql: string;
}

/** A share of the first run, and a mirror with a second one. */
async function setOldScene(): Promise<OldScene> {
  const scene = await setScene({}, { exports: 12, collections: 3, webhooks: 2 });
  await syncScene(scene);
  const path = await shareOf(scene);
  const old = readFileSync(path);
  (scene.service.lists.collections[0] as SampleItem).name = 'new';
  await syncScene(scene);
  const sql = join(scene.folder, 'own.sql');
  writeFileSync(sql, 'CREATE VIEW mine AS SELECT 1 AS one; CREATE INDEX mine_too ON collections (name)');
  return { ...scene, path, old, sql };
}

const unfinishedIn = (folder: string) => readdirSync(folder).filter(name => name.includes('unfinished'));

/** True if the new share is there; the old one is put back for the next try. */
function isNew({ path, old, folder }: OldScene, expected: Record<string, string[]>): boolean {
  expect(readdirSync(folder).filter(name => /^share\.sqlite-/.test(name))).toEqual([]);
  if (readFileSync(path).equals(old)) return false;
  expect(sqlite(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  // Each share has a mark of its own.
  expect({ ...readable(path), _share: [] }).toEqual({ ...expected, _share: [] });
  writeFileSync(path, old);
  return true;
}

/** What one process leaves behind, the other one removes; if both were killed, the first share that is made a day later does. */
async function expectLeftoversGo(scene: Scene & { path: string }): Promise<void> {
  expect(unfinishedIn(scene.folder)).toEqual([]);
  const left = `${scene.path}.0123abcd.docmirror-unfinished`;
  writeFileSync(left, 'a part of a share');
  const twoDaysAgo = Date.now() / 1_000 - 2 * 24 * 3_600;
  utimesSync(left, twoDaysAgo, twoDaysAgo);
  await shareOf(scene);
  expect(unfinishedIn(scene.folder)).toEqual([]);
}

/** All by which something is written, given another name or other rights, or removed. */
const calls = ['pwrite64', 'ftruncate', 'chmod', 'fsync', 'rename', 'unlink'];

/** Runs docmirror under strace, to its end or to its death. */
async function strace(scene: Scene, options: string[], args: string[]) {
  const command = ['-f', '-qq', ...options, process.execPath, '--', programPath, ...args];
  const env = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1', ...scene.env };
  const child = spawn('strace', command, { env, cwd: scene.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { stderr, wasKilled: signal === 'SIGKILL' || code === 137, code };
}

/** Has docmirror killed as it makes a system call for the nth time. */
function killedAt(scene: Scene, call: string, at: number, args: string[]) {
  const kill = `inject=${call}:signal=KILL:when=${at}`;
  return strace(scene, ['-e', `trace=${call}`, '-e', kill, '-o', '/dev/null'], args);
}

/** How often docmirror makes each of these calls. */
async function countCalls(scene: Scene, args: string[]): Promise<Map<string, number>> {
  const log = join(scene.folder, 'strace.log');
  const { code, stderr } = await strace(scene, ['-e', `trace=${calls}`, '-o', log], args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const names = readFileSync(log, 'utf8')
    .split('\n')
    .flatMap(line => /^\d+ +(\w+)\(/.exec(line)?.[1] ?? []);
  return new Map(calls.map(call => [call, names.filter(name => name === call).length]));
}

const hasStrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;
const skipped = hasStrace ? '' : ' (skipped: strace is needed, and the right to use it)';

describe.concurrent('a share that is killed while it is made', { timeout: 900_000 }, () => {
  test.skipIf(!hasStrace)(`at any of its writes is the old one or the new one${skipped}`, async () => {
    await using scene = await setOldScene();
    const args = ['share', scene.path, '--sql', scene.sql];
    const counts = await countCalls(scene, args);
    const expected = readable(scene.path);
    writeFileSync(scene.path, scene.old);
    const seen = { old: 0, new: 0 };
    for (const [call, count] of counts) {
      for (let at = 1; at <= count; at++) {
        // If the process is killed that makes the share, docmirror itself says so and exits with 1.
        const { wasKilled, code } = await killedAt(scene, call, at, args);
        const found = isNew(scene, expected) ? 'new' : 'old';
        // What an earlier kill left of the lock or the log can save a call.
        if (!wasKilled && code !== 1) break;
        seen[found]++;
      }
    }
    expect(seen.old).toBeGreaterThan(50);
    expect(seen.new).toBeGreaterThan(0);
    await expectLeftoversGo(scene);
  });
});
