import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import buildConnector from 'undici/lib/core/connect.js';
import { expect, test } from 'vitest';
import { toAnyAddress } from '../../src/service/any-address.ts';
import { programPath } from '../support/program.ts';
import { temporaryFolder } from '../support/run-cli.ts';

/** The most time that an end can take, in milliseconds, and the time after which it is asked for. */
const [endMsMax, deadlineMs] = [5_000, 500];

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** How long a sync with a deadline lives, and its exit code. */
async function lifeOf(environment: Readonly<Record<string, string>>, signal: NodeJS.Signals | null) {
  await using folder = temporaryFolder();
  const own = {
    DOCMIRROR_TOKEN: 'a-token-of-a-test',
    DOCMIRROR_DATABASE: join(folder.path, 'mirror.sqlite'),
    ...(signal === null ? { DOCMIRROR_DEADLINE: `${deadlineMs}ms` } : {}),
  };
  const env = { PATH: process.env.PATH, ...own, ...environment };
  const child = spawn(process.execPath, [programPath, 'sync'], { env, stdio: 'ignore' });
  const begunAtMs = performance.now();
  if (signal !== null) setTimeout(() => child.kill(signal), 2_000);
  const [code] = await once(child, 'close');
  return { code, ms: performance.now() - begunAtMs };
}

test.each([null, 'SIGTERM'] as const)(
  'a sync ends soon after its deadline or a signal (%s), although TLS is never agreed on',
  async signal => {
    const server = createServer(() => undefined);
    const url = `https://127.0.0.1:${await portOf(server)}`;
    const { code, ms } = await lifeOf({ DOCMIRROR_BASE_URL: url }, signal);
    server.close();
    expect(code).toBe(signal === null ? 1 : 143);
    expect(ms).toBeLessThan(endMsMax + 2_000);
  },
  60_000,
);

test('a sync ends soon after its deadline, although the token command goes on', async () => {
  const environment = {
    DOCMIRROR_BASE_URL: 'http://127.0.0.1:1',
    DOCMIRROR_TOKEN_COMMAND: 'sleep 30; echo a-token-of-a-test',
  };
  const { code, ms } = await lifeOf(environment, null);
  expect(code).toBe(1);
  expect(ms).toBeLessThan(endMsMax + 2_000);
}, 60_000);

test('a connection in the making ends when nobody needs it any more', async () => {
  const server = createServer(() => undefined);
  const port = String(await portOf(server));
  const closing = new AbortController();
  const connector = toAnyAddress(buildConnector({ timeout: 30_000 }), 30_000, closing.signal);
  const begunAtMs = performance.now();
  setTimeout(() => closing.abort(), 200);
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const host = '127.0.0.1';
  connector({ hostname: host, host, protocol: 'https:', port }, (...made) => resolve(made[0]));
  const error = await promise;
  server.close();
  expect(error).toBeInstanceOf(Error);
  expect(performance.now() - begunAtMs).toBeLessThan(endMsMax);
}, 60_000);
