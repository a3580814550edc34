import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { programPath } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** Starts docmirror with a standard error to which nothing can be written, as on a disk that is full. */
function spawnMute(args: readonly string[], { env }: Scene): ChildProcess {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--', programPath, ...args], {
    stdio: ['ignore', 'pipe', full],
    env: { ...process.env, ...env },
  });
  closeSync(full);
  return child;
}

test.each<[what: string, env: Record<string, string>, args: string[], code: number]>([
  ['a run', {}, ['sync', '--json'], 0],
  ['a run that logs all it does', { DOCMIRROR_LOG_LEVEL: 'trace' }, ['sync', '--json'], 0],
  ['a run with a wrong token', { DOCMIRROR_TOKEN: 'no-such-token' }, ['sync', '--json'], 12],
  ['a setting that can not be used', { DOCMIRROR_PAGE_SIZE: 'x' }, ['sync', '--json'], 2],
  ['a look at the service', {}, ['verify', '--live', '--json'], 0],
])('%s ends as it would with a log that can be written', async (_what, env, args, code) => {
  await using scene = await setScene();
  if (args[0] === 'verify') await scene.sync();
  Object.assign(scene.env, { DOCMIRROR_LOG_LEVEL: 'info' }, env);
  const child = spawnMute(args, scene);
  const [[ended], stdout] = await Promise.all([
    once(child, 'close'),
    text(child.stdout as NodeJS.ReadableStream),
  ]);
  expect(ended).toBe(code);
  if (code === 0) expect(JSON.parse(stdout)).toMatchObject(args[0] === 'sync' ? { status: 'completed' } : {});
});

test('a watch goes on if its log can not be written', async () => {
  await using scene = await setScene();
  scene.env.DOCMIRROR_LOG_LEVEL = 'info';
  const child = spawnMute(['watch', '--schedule', '* * * * * *', '--run-now'], scene);
  const ended = once(child, 'close');
  const { service } = scene;
  while (service.requests.length < 18 && child.exitCode === null) await wait(50);
  child.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
});
