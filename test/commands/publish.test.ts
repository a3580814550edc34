import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../src/commands/main.ts';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { publish as publishTo } from '../../src/publish/publish.ts';
import { ddlStatements } from '../../src/publish/tables.ts';
import { openPublishSource } from '../../src/store/read/history/publish-source.ts';
import { makeAuthority } from '../service/certificates.ts';
import { startProxy, startTls } from '../service/servers.ts';
import { type CliResult, runCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

// Tests a publication up to its requests. test/clickhouse tests it with the engine itself.

interface Server extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** The addresses that were asked for, in order. */
  readonly asked: URL[];
}

/** A ClickHouse without docmirror's tables. */
const withoutTables: RequestListener = (_request, response) => {
  response
    .writeHead(404, { 'x-clickhouse-exception-code': '60' })
    .end('Code: 60. DB::Exception: There is no such table. (UNKNOWN_TABLE)');
};

/** Imitates a ClickHouse, or a proxy before it. */
async function startServer(answer: RequestListener = withoutTables): Promise<Server> {
  const asked: URL[] = [];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://server'));
    request.resume();
    answer(request, response);
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
  return runCli(
    ['publish', 'clickhouse', '--url', url, '--tenant', 'acme', '--give-up-after', '0', ...args],
    {
      env: { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_CLICKHOUSE_PASSWORD: 'secret-password', ...env },
    },
  );
}

/** Expects that the server was reached: it has no tables, which is said in one line. */
function expectAsked({ code, stdout, stderr }: CliResult, url: string, database = 'docmirror'): void {
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.any(String) });
  expect(stderr).toMatch(/^docmirror: [^\n]+\n$/);
  expect(stderr).toContain(`ClickHouse at ${url}`);
  expect(stderr).toContain(`has no tables of docmirror in the database ${database};`);
}

test.each<[what: string, answer: RequestListener]>([
  [
    'a page',
    ({ headers }, response) => response.writeHead(500).end(`No: ${headers.authorization} (secret-password)`),
  ],
  ['no JSON', ({ headers }, response) => response.writeHead(200).end(`No: ${headers.authorization}`)],
  [
    "an error of ClickHouse's",
    ({ headers }, response) =>
      response
        .writeHead(500, { 'x-clickhouse-exception-code': '1' })
        .end(`Code: 1. DB::Exception: ${headers.authorization} secret-password. (NOT_ALLOWED)`),
  ],
])('the password that comes back as %s is not shown', async (_what, answer) => {
  await using server = await startServer(answer);
  const { code, stdout, stderr } = await publish(server.url);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^docmirror: ClickHouse at \S+ .*\n$/);
  expect(stderr).not.toContain('secret-password');
  expect(stderr).not.toContain(Buffer.from('default:secret-password').toString('base64'));
});

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

  test.each(['HTTP_PROXY', 'http_proxy'])('goes through the proxy that %s names', async variable => {
    await using server = await startServer();
    await using proxy = await startProxy({ account: 'me:right-password' });
    const named = (password: string) => ({ [variable]: `http://me:${password}@127.0.0.1:${proxy.port}` });
    const url = `${server.url}/ch`;
    expectAsked(await publish(url, named('right-password')), url);
    expect(server.asked).toHaveLength(1);
    expect(proxy.asked).toEqual([expect.stringMatching(`^(GET|POST) ${url}\\?`)]);
    const refused = await publish(url, named('wrong-password'));
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('not its own') });
    expect(refused.stderr).not.toContain('wrong-password');
    expect(server.asked).toHaveLength(1);
  });

  test.each(['HTTPS_PROXY', 'https_proxy'])(
    'goes through a tunnel of the proxy that %s names',
    async variable => {
      await using server = await startServer();
      await using authority = makeAuthority();
      await using front = await startTls(server.port, authority.issue('IP:127.0.0.1'));
      await using proxy = await startProxy({ account: 'me:right-password' });
      const url = `https://127.0.0.1:${front.port}`;
      const named = (password: string) => ({
        [variable]: `http://me:${password}@127.0.0.1:${proxy.port}`,
        NODE_EXTRA_CA_CERTS: authority.file,
      });
      expectAsked(await publish(url, named('right-password')), url);
      expect(proxy.asked).toEqual([`CONNECT 127.0.0.1:${front.port}`]);
      const refused = await publish(url, named('wrong-password'));
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^docmirror: .*proxy.*\n$/),
      });
      expect(refused.stderr).not.toContain('wrong-password');
      expect(server.asked).toHaveLength(1);
    },
  );

  test('says on a terminal that it waits, and for what, until it gives up', async () => {
    const shown: string[] = [];
    const write = (text: Buffer, _: string, done: () => void) => {
      shown.push(String(text));
      done();
    };
    const stderr = Object.assign(new Writable({ write }), { isTTY: true, columns: 200 });
    const code = await main(['publish', 'clickhouse', '--url', 'http://127.0.0.1:9', '--tenant', 'a'], {
      environment: { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_GIVE_UP_AFTER: '1s' },
      stdout: new Writable({ write }),
      stderr,
      signal: new AbortController().signal,
    });
    expect(code).toBe(1);
    expect(shown.join('')).toContain(
      'waiting for ClickHouse: ClickHouse at http://127.0.0.1:9 did not answer',
    );
  });
});

describe('a publication', () => {
  /** Publishes to a ClickHouse that answers with these rows. Returns how it ended, and each statement and table that was sent. */
  async function publishing(published: readonly string[][], counted: readonly string[][], options = {}) {
    const sent: string[] = [];
    const target = {
      options: { url: 'http://clickhouse' },
      ask: async (query: string) => (query.includes('published_runs') ? published : counted),
      insert: async ({ name }: { name: string }) => void sent.push(name),
      command: async (statement: string) => void sent.push(statement),
    } as unknown as ClickHouse;
    const order = {
      tenant: 'acme',
      again: false,
      replaceTenant: false,
      onProgress: () => undefined,
      ...options,
    };
    const ended = publishTo(() => openPublishSource(scene.database), target, order);
    return { how: await ended.then(String, (error: Error) => error.message), sent };
  }

  test('of a tenant that another mirror has published is refused, and nothing is sent', async () => {
    const { how, sent } = await publishing([['another-mirror', '3', '0']], []);
    expect(how).toContain('The tenant acme was published by another mirror, another-mirror');
    expect(sent).toEqual([]);
  });

  test('that ClickHouse does not have is no success, and its runs do not count as published', async () => {
    const { how, sent } = await publishing([], [['document-exports', '5', '7']]);
    expect(how).toContain('document_exports: as many rows as in the mirror, 5, but other contents');
    expect(how).toContain('collections: 0 rows there, 7 in the mirror');
    expect(sent).not.toContain('published_runs');
    expect(sent.filter(each => each.startsWith('ALTER'))).toEqual([]);
  });

  test('deletes the rows of a tenant only if that is asked for', async () => {
    const { sent } = await publishing([], [], { again: true, replaceTenant: true });
    expect(sent[0]).toBe('ALTER TABLE document_exports_rows DELETE WHERE tenant = {tenant:String}');
  });
});

test('an answer of ClickHouse that lacks rows is none, and nothing is sent', async () => {
  await using server = await startServer((_request, response) =>
    response.writeHead(200).end('{"meta":[],"data":[],"rows":1}'),
  );
  expect(await publish(server.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not its own'),
  });
  expect(server.asked).toHaveLength(1);
});

test('an error about rows that were sent does not show them', async () => {
  await using server = await startServer((request, response) => {
    const isInsert = request.url?.includes('INSERT') === true;
    const head = isInsert ? { 'x-clickhouse-exception-code': '27' } : {};
    response.writeHead(isInsert ? 400 : 200, head);
    response.end(
      isInsert
        ? 'Code: 27. DB::Exception: Cannot parse row: Document 1. (CANNOT_PARSE)'
        : '{"meta":[],"data":[],"rows":0}',
    );
  });
  const { code, stderr } = await publish(server.url);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('refused (27 CANNOT_PARSE): rows. Its own log'),
  });
  expect(stderr).not.toContain('Document 1');
});

test('a name in the statements for ClickHouse ends at its own end', () => {
  expect(ddlStatements('a`b\\')[0]).toBe('CREATE DATABASE IF NOT EXISTS `a\\`b\\\\`');
});
