import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { programFolder, programPath } from '../support/program.ts';
import { runCli, spawnCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** Where an output goes: it is read, nobody reads it, as behind `| true`, or nothing can be written to it. */
type Output = 'pipe' | 'closed' | 'full';

function start(
  args: readonly string[],
  { env }: Scene,
  stdout: Output,
  stderr: Output = 'pipe',
): ChildProcess {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--', programPath, ...args], {
    stdio: ['ignore', stdout === 'full' ? full : 'pipe', stderr === 'full' ? full : 'pipe'],
    env: { ...process.env, ...env },
  });
  closeSync(full);
  if (stdout === 'closed') child.stdout?.destroy();
  return child;
}

async function endOf(child: ChildProcess): Promise<{ code: unknown; stdout: string }> {
  const { stdout, stderr } = child;
  stderr?.resume();
  const said = stdout === null || stdout.destroyed ? '' : text(stdout);
  const [[code], output] = await Promise.all([once(child, 'close'), said]);
  return { code, stdout: output };
}

const rowsWithoutEnd = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';

test.each([
  ['doctor, which a wrong token fails', ['doctor', '--token', 'no-such-token'], 12],
  ['verify, which finds a difference', ['verify'], 4],
  ['changes, which have no end', ['changes', '--since-run', '0', '--format', 'ndjson'], 0],
  ['query, whose rows have no end', ['query', '--format', 'csv', rowsWithoutEnd], 0],
])('%s, says so by its exit code if nobody reads its output', async (_what, args, code) => {
  await using scene = await setScene();
  await scene.sync();
  if (code === 4) new Database(scene.database).exec("UPDATE webhooks SET description = 'altered'").close();
  expect(await endOf(start(args, scene, 'closed'))).toMatchObject({ code });
});

test.each<[Output, Output]>([
  ['closed', 'pipe'],
  ['full', 'pipe'],
  ['pipe', 'full'],
])('a watch goes on, and its runs end, if its output is %s and its log %s', async (stdout, stderr) => {
  await using scene = await setScene({}, { exports: 1 });
  scene.env.DOCMIRROR_LOG_LEVEL = 'info';
  const child = start(['watch', '--run-now', '--http', '127.0.0.1:0'], scene, stdout, stderr);
  const ended = endOf(child);
  // One for each list.
  while (scene.service.requests.length < 3 && child.exitCode === null) await wait(50);
  while (child.exitCode === null && readdirSync(scene.folder).some(name => name.endsWith('-wal')))
    await wait(50);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 143 });
  expect(sqlite(scene.database, 'SELECT status FROM sync_runs')).toEqual([{ status: 'completed' }]);
});

/** Node opens its debugger within a few milliseconds. */
const openingMsMax = 700;

test.each([
  ['serve', ['serve', '--port', '0']],
  ['watch', ['watch', '--schedule', '0 0 1 1 *', '--log-level', 'info']],
])('SIGUSR1 opens no debugger in %s, which goes on', async (_name, args) => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const port = await freePort();
  // Another process on this machine might use Node's usual port, 9229.
  const env = { ...scene.env, NODE_OPTIONS: `--inspect-port=127.0.0.1:${port}` };
  await using cli = spawnCli(args, { env });
  const { stdout, stderr } = cli.child;
  if (stdout === null || stderr === null) throw new Error('The command has no output.');
  await Promise.race([once(stdout, 'data'), once(stderr, 'data')]);
  cli.child.kill('SIGUSR1');
  await wait(openingMsMax);
  expect(cli.child.exitCode).toBe(null);
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
  cli.child.kill('SIGTERM');
  expect(await cli.done).toMatchObject({ code: 143, stderr: expect.not.stringContaining('Debugger') });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/** A Node.js that is too old for docmirror, if this machine has one in its PATH. */
const oldNode = (process.env.PATH ?? '')
  .split(':')
  .map(folder => join(folder, 'node'))
  .find(
    path => existsSync(path) && /^v(\d|1\d|2[0-3])\./.test(spawnSync(path, ['--version']).stdout.toString()),
  );

test.skipIf(oldNode === undefined)('a Node.js that is too old gets a message of one sentence', () => {
  const program = join(programFolder, 'cli.js');
  const { status, stdout, stderr } = spawnSync(String(oldNode), [program, 'status'], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^docmirror needs Node\.js 24 or newer, but this is v\d[^\n]*\n$/);
});

test.each(['--version', 'demo --records 50'])(
  '%s runs no compiled code from the folder for temporary files',
  async words => {
    await using folder = temporaryFolder();
    await using temporary = temporaryFolder();
    const env = { TMPDIR: temporary.path, NODE_COMPILE_CACHE: '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const { code, stderr } = await runCli(words.split(' '), { env, cwd: folder.path });
    // Node would name each file that it looks for in the cache.
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readdirSync(temporary.path)).toEqual([]);
  },
);
