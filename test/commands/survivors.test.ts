import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { listOf } from '../../src/contract/lists.ts';
import type { Page, PageRequest } from '../../src/contract/page.ts';
import { CancelledError } from '../../src/errors.ts';
import { Secrets } from '../../src/service/secrets.ts';
import { diedRun } from '../../src/store/read/runs/runs.ts';
import { pageGetter } from '../../src/sync/pages.ts';
import { setLongList, syncLong } from '../support/ended-early.ts';
import { memoryFolder, run, syncScene } from '../support/in-process.ts';
import { MovingList } from '../support/moving-list.ts';
import { runCli, runProcess, spawnCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { documentExport, webhook } from '../support/stand-in.ts';

test('of two secrets of which one contains the other, nothing of the longer one is shown', () => {
  const secrets = new Secrets();
  secrets.add('long-token');
  secrets.add('long-token-and-more');
  expect(secrets.redact('it is long-token-and-more')).toBe('it is [secret]');
});

test.each([
  ['A', 'B'],
  ['B', 'A'],
])('of two names of one moment (%s, then %s), the one that sorts last counts', async (one, other) => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const { exportedAt } = documentExport(1);
  scene.service.lists['document-exports'] = [one, other].map((name, at) => ({
    ...documentExport(at + 1),
    exportedAt,
    sourceConnection: { id: 77, name },
  }));
  await scene.sync();
  expect(sqlite(scene.database, 'SELECT name FROM connections WHERE id = 77')).toEqual([{ name: 'B' }]);
});

test('a token that never worked is asked for once', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const asked = join(scene.folder, 'asked');
  appendFileSync(asked, '');
  delete scene.env.DOCMIRROR_TOKEN;
  scene.env.DOCMIRROR_TOKEN_COMMAND = `echo x >> ${asked}; echo a-token-that-is-wrong`;
  expect(await scene.sync()).toMatchObject({ code: 12 });
  expect(readFileSync(asked, 'utf8')).toBe('x\n');
});

test('each request says that no cache may answer it', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const heard: unknown[] = [];
  const server = createServer((request, response) => {
    heard.push(request.headers['cache-control']);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await runCli(['sync'], { env: { ...scene.env, DOCMIRROR_BASE_URL: `http://127.0.0.1:${port}` } });
  server.close();
  expect(new Set(heard)).toEqual(new Set(['no-cache']));
  expect(existsSync(scene.database)).toBe(true);
});

/** A server on all addresses of this machine. */
async function serve(answer: RequestListener) {
  const server = createServer(answer).listen(0, '0.0.0.0');
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { server, port, [Symbol.dispose]: close };
}

test('a connection to another address of a host is not made any more when one is there', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const hook = join(scene.folder, 'two-addresses.cjs');
  // The first connection is made after the second was begun.
  writeFileSync(
    hook,
    `const dns = require('node:dns');
    dns.lookup = (_host, _options, done) =>
      process.nextTick(done, null, ['127.0.0.2', '127.0.0.3'].map(address => ({ address, family: 4 })));
    process.noDeprecation = true;
    const { TCP } = process.binding('tcp_wrap');
    const { connect } = TCP.prototype;
    TCP.prototype.connect = function (...given) {
      setTimeout(() => connect.apply(this, given), 400);
      return 0;
    };`,
  );
  using served = await serve((_request, response) => response.writeHead(404).end());
  const used: number[] = [];
  served.server.on('connection', socket => socket.once('close', () => used.push(socket.bytesRead)));
  const env = { ...scene.env, NODE_OPTIONS: `--require=${hook}` };
  const given = { DOCMIRROR_BASE_URL: `http://service.test:${served.port}`, DOCMIRROR_ALLOW_HTTP: 'true' };
  const { code } = await runProcess(['sync', '--give-up-after', '0'], { env: { ...env, ...given } });
  expect(code).toBe(1);
  await vi.waitFor(() => expect(used.length).toBeGreaterThan(0));
  expect(used.filter(bytes => bytes === 0)).toEqual([]);
});

test('a short last page that a service repeats past the end is not asked for by a further number', async () => {
  const asked: unknown[] = [];
  const items = [1, 2, 3];
  const last: Page = {
    pagination: { pageCount: 9, pageNo: 3, pageSize: 5, totalRecordCount: 45 },
    bytes: Buffer.from(JSON.stringify(items)),
    digest: 'd',
    items,
    unknown: Buffer.from(JSON.stringify(items)),
    otherMembers: [],
    ageMs: 0,
  };
  const traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  const source = { baseUrl: 'https://service.test', traffic, concurrency: 1 };
  const getPage = async (_list: unknown, { pageNo }: PageRequest) => {
    asked.push(pageNo);
    return last;
  };
  const paging = { firstPageNo: 1, pageSize: 5, pageCount: 9, sendsServedSize: false, isOnlySize: false };
  const get = pageGetter({ ...source, getPage }, listOf('collections'), paging);
  const ask = { index: 3, size: 5, requestedSize: null, isBeyond: false, isSecondLook: false };
  expect(await get(ask, new AbortController().signal)).toEqual({ page: last, wrong: null });
  expect(asked).toEqual([4]);
});

test('a run that is told to stop while a list pauses is the last one', async () => {
  await using scene = await setLongList(30, { order: 'by id' });
  scene.service.lists.webhooks = [webhook(1)];
  const stop = new AbortController();
  scene.service.onRequest = ({ resource }) => {
    if (resource === 'webhooks') stop.abort(new CancelledError('SIGTERM'));
  };
  const { summary } = await syncScene(scene, { saveEveryMs: 1, pageSize: scene.size, signal: stop.signal });
  expect(summary.status).toBe('cancelled');
  const lists = 'SELECT resource, status FROM sync_run_resources WHERE records_seen > 0';
  expect(sqlite(scene.database, lists)).toEqual([{ resource: 'collections', status: 'partial' }]);
  expect(sqlite(scene.database, 'SELECT id FROM sync_runs')).toEqual([{ id: 1 }]);
});

test('a clock that was a year ahead makes the next sync a full one', async () => {
  await using folder = memoryFolder();
  const list = new MovingList(600, 50, 2);
  const sync = async (now: string) => {
    const options = { resources: ['document-exports'], pageSize: 50, fullEveryMs: 86_400_000 };
    const source = join(folder.path, 'mirror.sqlite');
    const { resources } = await run(source, list, { ...options, now: new Date(now) });
    return resources[0]?.mode;
  };
  expect(await sync('2027-06-01T00:00:00Z')).toBe('full');
  expect(await sync('2027-06-01T01:00:00Z')).toBe('incremental');
  expect(await sync('2026-06-01T01:00:00Z')).toBe('full');
});

test('a backup is on the disk before it has its name', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const [hook, told] = ['told.mjs', 'told'].map(name => join(scene.folder, name)) as [string, string];
  writeFileSync(
    hook,
    `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { openSync, fsyncSync, renameSync, appendFileSync } = fs;
    const paths = new Map();
    const tell = (...words) => appendFileSync(${JSON.stringify(told)}, words.join(' ') + '\\n');
    fs.openSync = (path, ...rest) => { const file = openSync(path, ...rest); paths.set(file, path); return file; };
    fs.fsyncSync = file => { fsyncSync(file); tell('flushed', paths.get(file)); };
    fs.renameSync = (from, to) => { tell('named', from, to); renameSync(from, to); };
    syncBuiltinESMExports();`,
  );
  const backup = join(scene.folder, 'backup.sqlite');
  const env = { ...scene.env, NODE_OPTIONS: `--import=${hook}` };
  expect(await runProcess(['backup', backup], { env })).toMatchObject({ code: 0 });
  const steps = readFileSync(told, 'utf8').split('\n');
  const named = steps.findIndex(step => step.endsWith(` ${backup}`));
  const [, unfinished] = steps[named]?.split(' ') ?? [];
  expect(unfinished).toContain('.docmirror-unfinished');
  expect(steps.slice(0, named)).toContain(`flushed ${unfinished}`);
  expect(steps.slice(named)).toContain(`flushed ${scene.folder}`);
});

test('a run that ends while it is looked at has not died', async () => {
  await using scene = await setScene({}, { exports: 1 });
  await scene.sync();
  const other = new Database(scene.database);
  const become = (status: string) => other.exec(`UPDATE sync_runs SET status = '${status}'`);
  become('running');
  expect(diedRun(other)).toBe(1);
  let looks = 0;
  class EndingMeanwhile extends Database {
    // biome-ignore lint/complexity/noBannedTypes: as better-sqlite3 declares it.
    override prepare<Bound extends unknown[] | {}, Result>(sql: string) {
      if (sql.includes("status = 'running'") && ++looks === 2) become('completed');
      return super.prepare<Bound, Result>(sql);
    }
  }
  const reader = new EndingMeanwhile(scene.database);
  expect(diedRun(reader)).toBeNull();
  expect(looks).toBe(2);
  reader.close();
  other.close();
});

test('a tick of a watch whose run still goes on begins no second one', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const [ahead, clock] = ['ahead', 'clock.mjs'].map(name => join(scene.folder, name)) as [string, string];
  writeFileSync(ahead, '0');
  writeFileSync(
    clock,
    `import { readFileSync } from 'node:fs';
    const Real = Date;
    const now = () => Real.now() + Number(readFileSync(${JSON.stringify(ahead)}));
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [now()] : given)); }
      static now() { return now(); }
    };`,
  );
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let isReached = false;
  scene.service.onRequest = async () => {
    isReached = true;
    await released;
  };
  const env = { ...scene.env, NODE_OPTIONS: `--import=${clock}`, DOCMIRROR_LOG_LEVEL: 'info' };
  await using watch = spawnCli(['watch', '--run-now', '--schedule', '30 * * * *'], { env });
  let log = '';
  watch.child.stderr?.on('data', chunk => {
    log += chunk;
  });
  const within = { timeout: 20_000, interval: 50 };
  await vi.waitFor(() => expect(isReached).toBe(true), within);
  writeFileSync(ahead, '3600000');
  await vi.waitFor(() => expect(log).toContain('tick skipped'), within);
  release();
  await vi.waitFor(() => expect(log).toContain('run completed'), within);
  watch.child.kill('SIGTERM');
  await watch.done;
  expect(log.match(/run (begins|started|completed|failed|partial)|mirror_busy/g)).not.toContain(
    'mirror_busy',
  );
  expect(log.match(/run (completed|failed|partial)/g)).toEqual(['run completed']);
  expect(sqlite(scene.database, 'SELECT status FROM sync_runs')).toEqual([{ status: 'completed' }]);
}, 60_000);

test('in ClickHouse a record that a run brings back has a higher version than its removal in that run', async () => {
  await using scene = await setScene({}, { exports: 3 });
  await scene.sync();
  const [gone] = scene.service.lists['document-exports'].splice(0, 1);
  await scene.sync();
  if (gone !== undefined) scene.service.lists['document-exports'].push(gone);
  await scene.sync();
  const rows: unknown[][] = [];
  using served = await serve(async (request, response) => {
    const body = await text(request);
    if (`${request.url} ${body}`.includes('INSERT') && request.url?.includes('document_exports'))
      rows.push(
        ...body
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line)),
      );
    response.end('{"meta":[],"data":[],"rows":0}');
  });
  const args = ['publish', 'clickhouse', '--url', `http://127.0.0.1:${served.port}`, '--tenant', 'acme'];
  await runCli([...args, '--give-up-after', '0'], {
    env: { ...scene.env, DOCMIRROR_CLICKHOUSE_PASSWORD: 'a-password-of-a-test' },
  });
  const versions = rows.map(row => ({ id: row[1], version: row.at(-2), isRemoved: row.at(-1) }));
  // Twice the number of the run, and one more if the record is there after it.
  expect(versions.filter(({ id }) => id === 1)).toEqual([
    { id: 1, version: 3, isRemoved: 0 },
    { id: 1, version: 4, isRemoved: 1 },
  ]);
  const present = versions.filter(({ isRemoved }) => isRemoved === 0);
  expect(present.map(({ version }) => version)).toEqual([3, 3, 3, 7]);
});

test('a rebuild drops the altered rows once, also if the process makes several runs', async () => {
  await using scene = await setLongList(30);
  await syncLong(scene, {});
  new Database(scene.database)
    .exec("UPDATE document_exports SET source_document_title = 'x' WHERE id < 50")
    .close();
  scene.items.push(...Array.from({ length: 200 }, (_, n) => documentExport(100_000 + n)));
  await syncLong(scene, { saveEveryMs: 1, mayRebuild: true });
  const runs = sqlite(scene.database, 'SELECT count(*) AS n FROM sync_runs')[0]?.n;
  expect(runs).toBeGreaterThan(2);
  const rebuilds = "SELECT 1 FROM sync_receipts WHERE receipt ->> 'kind' = 'rebuild'";
  expect(sqlite(scene.database, rebuilds)).toHaveLength(1);
});
