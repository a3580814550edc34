import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli, spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

// What flags do at the command line. Others are tested with their command.

/** With this many records a page, the 130 exports of a scene take more pages than are always read in full. */
const manyPages = ['--page-size', '10'];
const fewPages = ['--page-size', '40'];

/** Takes so many exports from the list, the newest first. */
function remove({ service }: Scene, count: number): void {
  service.lists['document-exports'].splice(0, count);
}

describe('the flag', () => {
  test('--base-url, --token and --database say where', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'other.sqlite');
    const { url, options } = scene.service;
    const args = ['sync', '--base-url', url, '--token', options.token, '--database', file];
    const env = { DOCMIRROR_BASE_URL: 'http://127.0.0.1:9', DOCMIRROR_TOKEN: 'wrong-token' };
    expect(await runCli(args, { env })).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(true);
  });

  test('--allow-http lets the token cross a network in the clear', async () => {
    await using scene = await setScene();
    // It is this machine, but not by an address that says so.
    scene.env.DOCMIRROR_BASE_URL = scene.service.url.replace('127.0.0.1', '0.0.0.0');
    expect(await scene.run('sync')).toMatchObject({ code: 2 });
    expect(await scene.run('sync', '--allow-http')).toMatchObject({ code: 0 });
  });

  test('--concurrency bounds the requests in flight', async () => {
    await using scene = await setScene({ maxPageSize: 5, latencyMs: 20 });
    await scene.sync('--concurrency', '1');
    expect(scene.service.maxInFlight).toBe(1);
    await scene.sync('--concurrency', '3', '--full');
    expect(scene.service.maxInFlight).toBe(3);
  });

  test('--timeout-ms bounds a request', async () => {
    await using scene = await setScene({ latencyMs: 3_000 });
    const args = ['--resource', 'webhooks', '--timeout-ms', '300', '--give-up-after', '0'];
    const { requests, error } = (await scene.sync(...args)).of('webhooks');
    expect({ requests, error }).toMatchObject({ requests: 1, error: { code: 'timeout' } });
  });

  test('--log-level sets how much is logged', async () => {
    await using scene = await setScene();
    expect((await scene.run('sync', '--log-level', 'debug')).stderr).toContain('"level":"debug"');
    expect((await scene.run('sync', '--log-level', 'silent')).stderr).toBe('');
  });

  test('--schedule and --timezone say when a watch runs', async () => {
    await using scene = await setScene();
    const args = ['watch', '--schedule', '0 0 1 1 *', '--timezone', 'Asia/Tokyo', '--log-level', 'info'];
    await using cli = spawnCli(args, { env: scene.env });
    const said = cli.child.stderr;
    if (said === null) throw new Error('The watch has no standard error.');
    const [log] = await once(said, 'data');
    cli.child.kill('SIGTERM');
    await cli.done;
    expect(String(log)).toMatch(/"nextRunAt":"\d{4}-12-31T15:00:00\.000Z"/);
  });
});

describe('sync', () => {
  test('--resource walks these lists and no other', async () => {
    await using scene = await setScene();
    const { summary } = await scene.sync('--resource', 'webhooks', '--resource', 'collections');
    expect(summary.resources).toMatchObject([{ resource: 'collections' }, { resource: 'webhooks' }]);
    expect(scene.service.requests.filter(({ resource }) => resource === 'document-exports')).toEqual([]);
  });

  test('--full and --full-every 0 make a full sync even if an incremental one would do', async () => {
    await using scene = await setScene({}, { exports: 500 });
    const modeWith = async (...args: string[]) =>
      (await scene.sync(...fewPages, ...args)).of('document-exports').mode;
    expect(await modeWith()).toBe('full');
    expect(await modeWith('--full-every', '1h')).toBe('incremental');
    expect(await modeWith('--full')).toBe('full');
    expect(await modeWith('--full-every', '0')).toBe('full');
  });

  test('--max-pages fails a list that has more', async () => {
    await using scene = await setScene();
    const refused = await scene.sync(...manyPages, '--max-pages', '12');
    expect(refused.of('document-exports')).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('--max-pages') },
    });
    expect(await scene.sync(...manyPages, '--max-pages', '13')).toMatchObject({ code: 0 });
  });

  test('--max-removals withholds removals of more than this share, which --allow-mass-removal makes', async () => {
    await using scene = await setScene();
    await scene.sync();
    remove(scene, 30);
    const withheld = await scene.sync('--max-removals', '10%');
    expect(withheld).toMatchObject({ code: 3 });
    expect(withheld.of('document-exports')).toMatchObject({ removed: 0, removalsWithheld: 30 });
    const made = await scene.sync('--max-removals', '10%', '--allow-mass-removal');
    expect(made.of('document-exports')).toMatchObject({ removed: 30, removalsWithheld: 0 });
  });

  test('--accept-new-base-url goes on at another address, which is refused before a request otherwise', async () => {
    await using scene = await setScene();
    await using moved = await setScene();
    await scene.sync();
    scene.env.DOCMIRROR_BASE_URL = moved.service.url;
    expect(await scene.sync()).toMatchObject({ code: 2 });
    expect(moved.service.requests).toEqual([]);
    expect(await scene.sync('--accept-new-base-url')).toMatchObject({ code: 0 });
    expect(await scene.sync()).toMatchObject({ code: 0 });
  });

  test('--dry-run says what would change, and changes nothing', async () => {
    await using scene = await setScene();
    await scene.sync();
    const before = readFileSync(scene.database);
    remove(scene, 2);
    const { code, stdout } = await scene.run('sync', '--dry-run');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('− document-exports 2 ') });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect((await scene.sync()).of('document-exports')).toMatchObject({ removed: 2 });
  });

  test('--actor is whom the receipt names', async () => {
    await using scene = await setScene({}, { exports: 1 });
    await scene.sync('--actor', 'night shift');
    await scene.sync();
    const [first, second] = sqlite(
      scene.database,
      "SELECT receipt ->> '$.actor' AS actor FROM sync_receipts",
    );
    expect(first).toEqual({ actor: 'night shift' });
    expect(second).not.toEqual(first);
  });

  test('--rebuild rebuilds a mirror that is sound, too', async () => {
    await using scene = await setScene({}, { exports: 1 });
    await scene.sync();
    expect(await scene.run('sync', '--rebuild')).toMatchObject({ code: 0 });
    const kinds = sqlite(scene.database, "SELECT receipt ->> '$.kind' AS kind FROM sync_receipts");
    expect(kinds).toEqual([{ kind: 'run' }, { kind: 'rebuild' }, { kind: 'run' }]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });
});

describe('runs', () => {
  test('--limit shows so many, the newest first, and --json as one array', async () => {
    await using scene = await setScene({}, { exports: 1 });
    for (const _ of [1, 2, 3]) await scene.sync('--resource', 'webhooks');
    const { stdout } = await scene.run('runs', '--limit', '2', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ runId: 3 }, { runId: 2 }]);
  });

  test('says why a run is partial', async () => {
    await using scene = await setScene({}, { exports: 60, collections: 5, webhooks: 2 });
    await scene.sync();
    remove(scene, 50);
    Object.assign(scene.service.lists.collections[0] as object, { id: 'none' });
    await scene.sync('--full');
    scene.service.options.status = { webhooks: 403 };
    await scene.sync('--full');
    const { stdout } = await scene.run('runs');
    const ends = stdout.split('\n').flatMap(line => /(partial|completed)[ \d]+(.*)$/.exec(line)?.[2] ?? []);
    expect(ends).toEqual(['forbidden', 'records rejected, removals withheld', '']);
  });
});

describe('watch', () => {
  test('--run-now makes a run due at once, and --jitter starts it up to so much later', async () => {
    await using scene = await setScene();
    const args = ['watch', '--run-now', '--jitter', '1h', '--schedule', '0 0 1 1 *', '--log-level', 'debug'];
    await using cli = spawnCli(args, { env: scene.env });
    let said = '';
    const isDelayed = new Promise<void>(resolve => {
      cli.child.stderr?.on('data', chunk => {
        said += String(chunk);
        if (said.includes('delayMs')) resolve();
      });
    });
    await Promise.race([isDelayed, cli.done]);
    cli.child.kill('SIGTERM');
    await cli.done;
    expect(Number(/"delayMs":(\d+)/.exec(said)?.[1])).toBeLessThanOrEqual(3_600_000);
    expect(scene.service.requests).toEqual([]);
  });
});

describe('publish clickhouse', () => {
  test('--url, --user, --password, --password-file, --target-database and --tenant say where to, as whom and for whom', async () => {
    await using scene = await setScene();
    await scene.sync();
    await using server = await recordingServer();
    const asked = async (...args: string[]) => {
      server.requests.length = 0;
      await scene.run('publish', 'clickhouse', '--url', server.url, '--give-up-after', '0', ...args);
      const [request] = server.requests;
      return {
        as: request?.as,
        of: request?.database,
        for: JSON.stringify(server.requests).includes('acme'),
      };
    };
    expect(await asked('--tenant', 'other')).toEqual({ as: 'default:', of: 'docmirror', for: false });
    const file = join(scene.folder, 'password');
    writeFileSync(file, 'from a file\n');
    const many = ['--tenant', 'acme', '--user', 'writer', '--target-database', 'mirrors'];
    expect(await asked(...many, '--password', 'open')).toMatchObject({ as: 'writer:open', of: 'mirrors' });
    expect(await asked(...many, '--password-file', file)).toMatchObject({ as: 'writer:from a file' });
    // A file of settings gives the password in either way: none of the environment is used.
    scene.env.DOCMIRROR_CLICKHOUSE_PASSWORD_FILE = file;
    const settings = join(scene.folder, 'one.env');
    writeFileSync(settings, 'DOCMIRROR_CLICKHOUSE_PASSWORD=of-the-file\n');
    expect(await asked(...many, '--env-file', settings)).toMatchObject({ as: 'writer:of-the-file' });
  });
});

interface RecordedQuery {
  /** Name and password, with a colon between. */
  readonly as: string;
  readonly database: string | null;
  readonly url: string;
}

/** A server that is no ClickHouse, and writes down what it is asked. */
async function recordingServer() {
  const requests: RecordedQuery[] = [];
  const server = createServer((request, response) => {
    const [, credentials = ''] = (request.headers.authorization ?? '').split(' ');
    const { searchParams } = new URL(request.url ?? '/', 'http://server');
    requests.push({
      as: Buffer.from(credentials, 'base64').toString(),
      database: searchParams.get('database'),
      url: request.url ?? '',
    });
    response.writeHead(500).end('no ClickHouse');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server is not listening.');
  return {
    requests,
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
