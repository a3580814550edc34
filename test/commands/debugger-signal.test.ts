import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { spawnCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

/** Node opens its debugger within a few milliseconds. */
const openingMsMax = 700;

describe.concurrent('SIGUSR1', () => {
  test.each([
    ['serve', ['serve', '--port', '0']],
    ['watch', ['watch', '--schedule', '0 0 1 1 *', '--log-level', 'info']],
  ])('opens no debugger in %s, which goes on', async (_name, args) => {
    await using scene = await setScene();
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
    const ended = await cli.done;
    expect(ended.code).toBe(143);
    expect(ended.stderr).not.toContain('Debugger');
  });
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
