import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliResult, runCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

// What a publication does on its way; what it does with the engine itself is tried in test/clickhouse.

interface Server extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** The addresses that were asked for, in order. */
  readonly asked: URL[];
}

/** Stands in for a ClickHouse without docmirror's tables. */
async function startServer(): Promise<Server> {
  const asked: URL[] = [];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://server'));
    request.resume();
    response
      .writeHead(404, { 'x-clickhouse-exception-code': '60' })
      .end('Code: 60. DB::Exception: There is no such table. (UNKNOWN_TABLE)');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

let scene: Scene;

beforeAll(async () => {
  scene = await setScene({}, { exports: 5 });
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

function publish(url: string, env: Record<string, string> = {}, ...args: string[]): Promise<CliResult> {
  return runCli(['publish', 'clickhouse', '--url', url, '--tenant', 'acme', '--retries', '0', ...args], {
    env: { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_CLICKHOUSE_PASSWORD: 'secret-password', ...env },
  });
}

/** Expects that the server was reached: it has no tables, which is said in one line. */
function expectAsked({ code, stdout, stderr }: CliResult, url: string, database = 'docmirror'): void {
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.any(String) });
  expect(stderr).toMatch(/^docmirror: [^\n]+\n$/);
  expect(stderr).toContain(`ClickHouse at ${url}`);
  expect(stderr).toContain(`has no tables of docmirror in the database ${database};`);
}

describe.concurrent('publish clickhouse', () => {
  test('keeps the path of the address, and asks for the database that is set', async () => {
    await using server = await startServer();
    for (const path of ['', '/', '/ch', '/a/b/']) {
      server.asked.length = 0;
      const url = `${server.url}${path}`;
      expectAsked(await publish(url), url.replace(/\/$/, ''));
      expectAsked(await publish(url, {}, '--target-database', 'other'), url.replace(/\/$/, ''), 'other');
      const [first, second] = server.asked;
      expect(first?.pathname).toBe(path.replace(/\/$/, '') || '/');
      expect(first?.searchParams.get('database')).toBe('docmirror');
      expect(second?.searchParams.get('database')).toBe('other');
    }
  });
});
