import { once } from 'node:events';
import { rmSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { main } from '../../src/commands/main.ts';
import { lists } from '../../src/contract/lists.ts';
import { CancelledError, DocmirrorError } from '../../src/errors.ts';
import { type RunningServer, startServer } from '../../src/serve/server.ts';
import { openForWriting } from '../../src/store/file/open-to-write.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection } from '../support/stand-in.ts';

type Options = Parameters<typeof startServer>[0];

const token = 'a-token';
const exportsPath = '/v2/document-exports';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 1_203 });
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(server => server.close()));
});

function options(more: Partial<Options> = {}): Options {
  return { database: scene.database, labels: {}, maxAgeMs: null, host: '127.0.0.1', port: 0, token, ...more };
}

async function start(more: Partial<Options> = {}): Promise<string> {
  const server = await startServer(options(more));
  running.push(server);
  return server.url;
}

function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(url, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
}

interface Body {
  readonly items: readonly unknown[];
  readonly pagination: unknown;
  readonly error: { readonly code: string; readonly message: string };
}

async function bodyOf(answer: Response): Promise<Body> {
  return (await answer.json()) as Body;
}

/** Sends bytes as they are, which `fetch` would not, and gives back all that comes until the server hangs up. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

function sendRawGet(url: string, target: string): Promise<string> {
  const lines = [
    `GET ${target} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${token}`,
    'Connection: close',
    '',
    '',
  ];
  return sendRaw(url, lines.join('\r\n'));
}

describe('a served list', () => {
  let server: RunningServer;
  let url: string;
  beforeAll(async () => {
    server = await startServer(options());
    url = server.url;
  });
  afterAll(() => server.close());

  it('begins with page 1 of 50 records, and answers a page past the end with none', async () => {
    const { items, pagination } = await bodyOf(await get(url + exportsPath));
    expect(items).toHaveLength(50);
    expect(pagination).toEqual({ pageCount: 25, pageNo: 1, pageSize: 50, totalRecordCount: 1_203 });
    for (const pageNo of [26, 2 ** 31]) {
      const past = await bodyOf(await get(`${url}${exportsPath}?pageNo=${pageNo}`));
      expect(past).toMatchObject({ items: [], pagination: { pageNo, pageCount: 25 } });
    }
  });

  it.each([
    ...['1001', '0', '', 'ten', '5.5', '10&pageSize=10'].map(value => `pageSize=${value}`),
    ...['0', '-1', '2147483649', '9'.repeat(400), '1;DROP'].map(value => `pageNo=${value}`),
  ])('refuses ?%s with a 400 that names the parameter', async query => {
    const answer = await get(`${url}${exportsPath}?${query}`);
    expect(answer.status).toBe(400);
    const { code, message } = (await bodyOf(answer)).error;
    expect(code).toBe('bad_request');
    expect(message).toMatch(/^page(Size|No) must be (integer|>= 1|<= 1000|<= 2147483648)/);
    expect(message.startsWith(query.split('=')[0] ?? '')).toBe(true);
  });

  it.each(['/v2/webhooks?pageNo=%zz', '/v2/webhooks?other=%00', '/v2/webhooks?other=%ff', '/%'])(
    'refuses the malformed address %s with a JSON 400 and no stack trace',
    async target => {
      const answer = await sendRawGet(url, target);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer.toLowerCase()).toContain('x-content-type-options: nosniff');
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.code).toBe('bad_request');
      expect(answer).not.toMatch(/\bat .+:\d+/);
    },
  );

  it.each(['/v2', '/v2/webhooks/', '/v2/webhooks%00', '/V2/webhooks', '/v2/../v2/webhooks', '//v2/webhooks'])(
    'answers the unknown path %s with a JSON 404',
    async target => {
      const answer = await sendRawGet(url, target);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').error.code).toBe('not_found');
    },
  );

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'refuses %s everywhere with 405',
    async method => {
      for (const path of [exportsPath, '/healthz', '/nowhere']) {
        const answer = await get(url + path, {}, method);
        expect(answer.status).toBe(405);
        expect(answer.headers.get('allow')).toBe('GET, HEAD');
      }
    },
  );

  it('answers HEAD with the headers of GET, but for the length, which only the rows would tell', async () => {
    for (const path of [exportsPath, '/', '/search?q=document', '/changes', '/healthz', '/livez']) {
      const answer = await get(url + path, {}, 'HEAD');
      const whole = await get(url + path);
      await whole.text();
      const ofConnection = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];
      const headers = (of: Response) => [...of.headers].filter(([name]) => !ofConnection.includes(name));
      expect([answer.status, headers(answer)]).toEqual([whole.status, headers(whole)]);
      expect(await answer.text()).toBe('');
    }
    expect((await get(url + exportsPath, {}, 'HEAD')).headers.get('content-length')).toBeNull();
    for (const [path, status] of [
      ['/records/document-exports/1', 200],
      ['/records/document-exports/99999', 404],
      ['/?timezone=nowhere', 400],
      ['/changes?page=501', 400],
      ['/changes.csv?from=soon', 400],
      ['/v2/changes?cursor=eA', 400],
    ] as const)
      expect([path, (await get(url + path, {}, 'HEAD')).status]).toEqual([path, status]);
  });

  it('is cached for its client alone, and never sniffed', async () => {
    const { headers } = await get(url + exportsPath);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each([
    undefined,
    'Bearer ',
    'Bearer a-toke',
    'Bearer a-token2',
    'Bearer a-token x',
    'Basic a-token',
    'a-token',
  ])('refuses the authorization %j on every list', async authorization => {
    for (const { path } of lists) {
      const answer = await fetch(
        `${url}${path}?pageNo=0`,
        authorization === undefined ? {} : { headers: { authorization } },
      );
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect((await bodyOf(answer)).error.code).toBe('unauthorized');
    }
  });

  it('answers without a token what contains no record', async () => {
    for (const path of ['/healthz', '/livez', '/metrics', '/openapi.json']) {
      const answer = await fetch(url + path);
      expect(answer.status).toBe(200);
      expect(await answer.text()).not.toMatch(/Document \d|Connection \d|hooks\.example/);
    }
  });
});

describe('a server', () => {
  it('tells a client that it has the answer already, until the next run', async () => {
    await using own = await setScene();
    await own.sync();
    const url = await start({ database: own.database });
    for (const path of ['/', exportsPath, '/v2/webhooks']) {
      const etag = (await get(url + path)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^W\/"[\w-]+"$/);
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const again = await get(url + path, { 'if-none-match': known });
        expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
      }
      expect((await get(url + path, { 'if-none-match': '"other"' })).status).toBe(200);
      const refused = await get(url + path, { 'if-none-match': etag, authorization: 'Bearer wrong' });
      expect([refused.status, refused.headers.get('etag')]).toEqual([401, null]);
      own.service.lists.collections.push(collection(70 + path.length, { name: `new at ${path}` }));
      await own.sync();
      expect((await get(url + path, { 'if-none-match': etag })).status).toBe(200);
    }
    expect(await (await get(`${url}/`)).text()).toContain('new at /v2/webhooks');
  });

  it('says that a list is too old, in its health and in the report', async () => {
    const url = await start({ maxAgeMs: 1 });
    const health = await fetch(`${url}/healthz`);
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({ status: 'stale', lists: [{}, {}, {}] });
    expect(await (await get(`${url}/`)).text()).toContain('too old');
    expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it('is not healthy without a mirror, also if no list is ever too old', async () => {
    const url = await start({ database: `${scene.database}-moved-away` });
    const health = await fetch(`${url}/healthz`);
    expect([health.status, await health.json()]).toMatchObject([503, { status: 'stale' }]);
  });

  it('answers 500 without a detail if the mirror can not be read, informs the owner, and goes on', async () => {
    await using spoilt = await setScene();
    await spoilt.sync();
    const faults: unknown[] = [];
    const url = await start({ database: spoilt.database, onFault: error => faults.push(error) });
    expect((await get(url + exportsPath)).status).toBe(200);
    rmSync(`${spoilt.database}-wal`, { force: true });
    truncateSync(spoilt.database);
    const answer = await get(url + exportsPath);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain(spoilt.folder);
    expect(faults).toMatchObject([{ code: 'mirror_file', message: expect.stringContaining('is empty') }]);
    // So the log has its code and its message, and no stack.
    expect(faults[0]).toBeInstanceOf(DocmirrorError);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'unreadable' });
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^docmirror_mirror_readable 0$/m);
  });

  it('tells of each request, but not what a person searched for', async () => {
    const answers: object[] = [];
    const url = await start({ onAnswer: answer => answers.push(answer) });
    await get(`${url}/search?q=searched-for`);
    await vi.waitFor(() => expect(answers).toMatchObject([{ path: '/search', status: 200 }]));
    expect(JSON.stringify(answers)).not.toContain('searched-for');
  });

  it('says that the mirror is of a newer docmirror, and when to ask again, but not where it is', async () => {
    await using newer = await setScene({}, { exports: 1 });
    await newer.sync();
    new Database(newer.database).exec('PRAGMA user_version = 99').close();
    const url = await start({ database: newer.database });
    const answer = await get(url + exportsPath);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    const said = (await answer.text()) + (await (await fetch(`${url}/healthz`)).text());
    expect(said).toContain('was made by a newer docmirror');
    expect(said).not.toContain(newer.folder);
  });

  it('closes at once although clients keep connections, send nothing, or send half a request', async () => {
    const server = await startServer(options());
    await (await fetch(`${server.url}/healthz`)).text();
    const port = Number(new URL(server.url).port);
    const silent = connect(port, '127.0.0.1');
    const halfway = connect(port, '127.0.0.1');
    halfway.write('GET /livez HTTP/1.1\r\nHost:');
    await Promise.all([once(silent, 'connect'), once(halfway, 'connect')]);
    await (await fetch(`${server.url}/livez`)).text();
    const startedAtMs = performance.now();
    await server.close();
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });
});

describe('docmirror serve', () => {
  const folder = temporaryFolder();
  const database = join(folder.path, 'mirror.sqlite');
  beforeAll(() => openForWriting(database).close());
  afterAll(() => folder[Symbol.asyncDispose]());

  it('prints its address first, makes a token, and ends with the exit code of the signal', async () => {
    const command = run(['--port', '0', '--database', database]);
    const url =
      /^docmirror serves (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(await command.firstOutput())?.[1] ?? '';
    const made = /Token, for this time only: (\S{32})\n/.exec(command.errors())?.[1] ?? '';
    expect(command.errors()).toContain(
      `curl -H "Authorization: Bearer ${made}" "${url}/v2/document-exports?pageSize=3"`,
    );
    expect((await fetch(`${url}/v2/webhooks`)).status).toBe(401);
    const answer = await get(`${url}/v2/webhooks`, { authorization: `Bearer ${made}` });
    expect(await bodyOf(answer)).toMatchObject({ items: [], pagination: { totalRecordCount: 0 } });
    command.stop();
    expect(await command.done).toBe(143);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('takes the token of its own flag, never shows it, and does not take the one of the service', async () => {
    const environment = { DOCMIRROR_TOKEN: 'of-the-service' };
    const command = run(['--port', '0', '--database', database, '--token', 'my-own-token'], environment);
    const url = (await command.firstOutput()).trim().split(' ').at(-1);
    expect((await get(`${url}/v2/webhooks`, { authorization: 'Bearer of-the-service' })).status).toBe(401);
    expect((await get(`${url}/v2/webhooks`, { authorization: 'Bearer my-own-token' })).status).toBe(200);
    expect(command.errors()).not.toMatch(/my-own-token|of-the-service/);
    command.stop();
    await command.done;
  });

  it.each([
    ['--host', ''],
    ['--token', ''],
    ['--token', 'two words'],
  ])('refuses %s %j in words that name the flag', async (flag, value) => {
    const command = run([flag, value, '--database', database]);
    expect(await command.done).toBe(2);
    expect(command.errors()).toContain(`docmirror: ${flag}: `);
  });

  it('says that a port is in use, and that there is no mirror, and fails', async () => {
    const port = new URL(await start()).port;
    const second = run(['--port', port, '--database', database]);
    expect(await second.done).toBe(1);
    expect(second.errors()).toContain('another program uses that port');
    const without = run(['--port', '0', '--database', join(folder.path, 'missing.sqlite')]);
    expect(await without.done).toBe(1);
    expect(without.errors()).toContain('There is no mirror at');
  });

  function run(args: string[], environment: Record<string, string> = {}) {
    const stopping = new AbortController();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    let written = '';
    const io = { environment, stdout, stderr, signal: stopping.signal };
    return {
      done: main(['serve', ...args], io),
      firstOutput: async () => String((await once(stdout, 'data'))[0]),
      errors: () => {
        written += String(stderr.read() ?? '');
        return written;
      },
      stop: () => stopping.abort(new CancelledError('SIGTERM')),
    };
  }
});
