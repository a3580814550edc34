import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { programPath } from '../support/program.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** Starts docmirror with a standard output that nobody reads, as behind `| true`, or to which nothing can be written. */
function spawnUnheard(args: readonly string[], { env }: Scene, lost: 'closed' | 'full'): ChildProcess {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--', programPath, ...args], {
    stdio: ['ignore', lost === 'full' ? full : 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  closeSync(full);
  child.stdout?.destroy();
  return child;
}

async function endOf(child: ChildProcess): Promise<{ code: unknown; stderr: string }> {
  const [[code], stderr] = await Promise.all([
    once(child, 'close'),
    text(child.stderr as NodeJS.ReadableStream),
  ]);
  return { code, stderr };
}

test.each([
  ['doctor, which a wrong token fails', ['doctor', '--token', 'no-such-token'], 12],
  ['doctor, which finds nothing', ['doctor'], 0],
  ['verify, which finds a difference', ['verify', '--live'], 4],
  [
    'changes, which have no end for who reads the first',
    ['changes', '--since-run', '0', '--format', 'ndjson'],
    0,
  ],
  [
    'query, whose rows have no end',
    [
      'query',
      '--format',
      'csv',
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n',
    ],
    0,
  ],
])('%s, says so by its exit code if nobody reads its output', async (_what, args, code) => {
  await using scene = await setScene();
  await scene.sync();
  if (args[0] === 'verify') {
    const database = new Database(scene.database);
    database.exec("UPDATE webhooks SET description = 'altered'");
    database.close();
  }
  expect((await endOf(spawnUnheard(args, scene, 'closed'))).code).toBe(code);
});

test.each(['closed', 'full'] as const)(
  'a watch goes on, and its runs end, if its output is lost: %s',
  async lost => {
    await using scene = await setScene();
    const child = spawnUnheard(['watch', '--run-now', '--http', '127.0.0.1:0'], scene, lost);
    const ended = endOf(child);
    // One for each list.
    while (scene.service.requests.length < 3 && child.exitCode === null) await wait(50);
    while (child.exitCode === null && readdirSync(scene.folder).some(name => name.endsWith('-wal')))
      await wait(50);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(143);
    expect(sqlite(scene.database, 'SELECT status FROM sync_runs')).toEqual([{ status: 'completed' }]);
  },
);
