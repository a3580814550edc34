import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

// Each flag at the command line: what it does, and that the same command without it does something else. Other
// flags are tested with their command.

/** With this many records a page, the 130 exports of a scene take more pages than are always read in full. */
const manyPages = ['--page-size', '10'];
const fewPages = ['--page-size', '40'];

/** Takes so many exports from the list, the newest first. */
function remove({ service }: Scene, count: number): void {
  service.lists['document-exports'].splice(0, count);
}

describe.concurrent('sync', () => {
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
    const incremental = await scene.sync(...manyPages, '--max-pages', '12');
    expect(incremental.of('document-exports')).toMatchObject({ error: { code: 'too_many_pages' } });
  });

  test('--max-pages fails a list whose own count of pages says so', async () => {
    await using scene = await setScene({ extraPageCount: 10 });
    expect(await scene.sync('--max-pages', '11')).toMatchObject({ code: 0 });
    expect(await scene.run('doctor', '--max-pages', '10')).toMatchObject({ code: 1 });
    const refused = await scene.sync('--max-pages', '10');
    expect(refused.of('webhooks')).toMatchObject({ error: { code: 'too_many_pages' }, requests: 1 });
  });

  test('--max-removals withholds removals of more than this share', async () => {
    await using scene = await setScene();
    await scene.sync();
    remove(scene, 30);
    const withheld = await scene.sync('--max-removals', '10%');
    expect(withheld).toMatchObject({ code: 3 });
    expect(withheld.of('document-exports')).toMatchObject({ removed: 0, removalsWithheld: 30 });
    expect((await scene.sync('--max-removals', '30%')).of('document-exports')).toMatchObject({ removed: 30 });
  });

  test('--allow-mass-removal makes removals, however many', async () => {
    await using scene = await setScene();
    await scene.sync();
    remove(scene, 100);
    expect((await scene.sync()).of('document-exports')).toMatchObject({ removed: 0, removalsWithheld: 100 });
    const made = await scene.sync('--allow-mass-removal');
    expect(made.of('document-exports')).toMatchObject({ removed: 100, removalsWithheld: 0 });
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

  test('--keep-history deletes versions that ended longer ago, and none without it', async () => {
    await using scene = await setScene();
    await scene.sync();
    remove(scene, 2);
    await scene.sync();
    const kept = () => sqlite(scene.database, 'SELECT * FROM record_history').length;
    await scene.sync('--keep-history', '400d');
    expect(kept()).toBe(2);
    await scene.sync('--keep-history', '1ms');
    expect(kept()).toBe(0);
  });

  test('--rebuild drops what another program altered, and goes on; without it the mirror is refused', async () => {
    await using scene = await setScene();
    await scene.sync();
    new Database(scene.database).exec("UPDATE collections SET name = 'other' WHERE id = 3").close();
    const refused = await scene.run('sync');
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('"docmirror sync --rebuild"') });
    expect(await scene.run('sync', '--rebuild')).toMatchObject({ code: 0 });
    expect(sqlite(scene.database, 'SELECT name FROM collections WHERE id = 3')).toEqual([
      { name: 'Collection 3' },
    ]);
  });

  test('--rebuild of a sound mirror rebuilds it, too', async () => {
    await using scene = await setScene();
    await scene.sync();
    expect(await scene.run('sync', '--rebuild')).toMatchObject({ code: 0 });
    const kinds = sqlite(scene.database, "SELECT receipt ->> '$.kind' AS kind FROM sync_receipts");
    expect(kinds).toEqual([{ kind: 'run' }, { kind: 'rebuild' }, { kind: 'run' }]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('--json prints one object, and nothing else', async () => {
    await using scene = await setScene();
    expect(() => JSON.parse('Run 1')).toThrow();
    expect(JSON.parse((await scene.run('sync', '--json')).stdout)).toMatchObject({ runId: 1 });
    expect((await scene.run('sync')).stdout).not.toMatch(/^\{/);
  });
});

describe.concurrent('runs', () => {
  test('--limit shows so many, the newest first, and --json as one array', async () => {
    await using scene = await setScene({}, { exports: 1 });
    for (const _ of [1, 2, 3]) await scene.sync('--resource', 'webhooks');
    const { stdout } = await scene.run('runs', '--limit', '2', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ runId: 3 }, { runId: 2 }]);
  });
});

describe.concurrent('erase', () => {
  test('--actor is whom the receipt names, --database whose text goes, and --json prints one object', async () => {
    await using scene = await setScene();
    await scene.sync();
    remove(scene, 1);
    await scene.sync();
    const { database } = scene;
    scene.env.DOCMIRROR_DATABASE = join(scene.folder, 'another.sqlite');
    const erase = ['erase', 'document-exports', '1', '--database', database];
    const { code, stdout } = await scene.run(...erase, '--actor', 'data protection', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ resource: 'document-exports', recordId: 1, versions: 1 });
    const actor =
      "SELECT receipt ->> '$.actor' AS actor FROM sync_receipts WHERE receipt ->> '$.kind' = 'erase'";
    expect(sqlite(database, actor)).toEqual([{ actor: 'data protection' }]);
    expect((await scene.run(...erase)).stdout).not.toMatch(/^\{/);
    expect(await scene.run('erase', 'document-exports', '1')).toMatchObject({ code: 1 });
  });
});

describe.concurrent('watch', () => {
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

describe.concurrent('publish clickhouse', () => {
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
