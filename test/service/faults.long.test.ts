import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror, listed, mirrored } from '../support/oracle.ts';
import { setScene } from '../support/scene.ts';
import type { Fault, RecordedRequest } from '../support/stand-in.ts';

const resource = 'document-exports';

/** Faults that another try can mend, each with its code in the record of a run in which it never ends. */
const passing: [name: string, fault: Fault, code: string][] = [
  ['408', { kind: 'status', status: 408 }, 'timeout'],
  ['425', { kind: 'status', status: 425 }, 'overloaded'],
  ['429', { kind: 'status', status: 429 }, 'overloaded'],
  ['500', { kind: 'status', status: 500 }, 'server_error'],
  ['502', { kind: 'status', status: 502 }, 'server_error'],
  ['503', { kind: 'status', status: 503 }, 'overloaded'],
  ['504', { kind: 'status', status: 504 }, 'server_error'],
  ['204', { kind: 'status', status: 204 }, 'invalid_response'],
  ['a page of HTML', { kind: 'html' }, 'invalid_response'],
  ['a reset connection', { kind: 'reset' }, 'network'],
  ['a body that is cut short', { kind: 'cut' }, 'network'],
  ['a chunked body that is cut short', { kind: 'cut', chunked: true }, 'network'],
  ['a body that stalls', { kind: 'stall', ms: 20_000 }, 'timeout'],
];

/** One of each kind. */
const representative = passing.filter(([name]) => /^(429|500|204)|HTML|reset|^a body/.test(name));

/** Short only where it is the point: on a busy machine any answer can take a while. */
const timeoutFor = ({ kind }: Fault) => (kind === 'stall' ? 1_000 : 20_000);

const isPage = (request: RecordedRequest, pageNo: number) =>
  request.resource === resource && request.pageNo === pageNo;

describe.concurrent('a fault that passes:', () => {
  test.each(passing)('%s on the first try of every page is mended by the second', async (_name, fault) => {
    await using scene = await setScene({ maxPageSize: 40, gzip: true });
    const failed = new Set<string>();
    scene.service.options.faults = ({ resource: name, pageNo }) => {
      const page = `${name} ${pageNo}`;
      if (failed.has(page)) return undefined;
      failed.add(page);
      return fault;
    };
    const synced = await syncScene(scene, { timeoutMs: timeoutFor(fault) });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    const pages = (name: string) => [...failed].filter(page => page.startsWith(`${name} `)).length;
    for (const name of [resource, 'webhooks'])
      expect(synced.of(name)).toMatchObject({ retries: pages(name), error: null });
    // A cache on the way could give both readings the same old page.
    expect(scene.service.requests.every(({ headers }) => headers['cache-control'] === 'no-cache')).toBe(true);
    expect(pages(resource)).toBeGreaterThan(3);
    expectExactMirror(scene.database, scene.service);
  });

  // A page that is a 500 for ever is left out: test/sync/page-failed.test.ts.
  test.each(representative.filter(([name]) => name !== '500'))(
    '%s without end ends that list alone, keeps what was read, and says so',
    async (_name, fault, code) => {
      await using scene = await setScene({ maxPageSize: 40 });
      scene.service.options.faults = request => (isPage(request, 3) ? fault : undefined);
      const synced = await syncScene(scene, { timeoutMs: timeoutFor(fault), giveUpAfterMs: 0 });
      expect(synced).toMatchObject({ code: 3, status: 'partial' });
      expect(synced.of(resource)).toMatchObject({ status: 'failed', retries: 0, error: { code } });
      // The plan asks for page 3 in several sizes.
      expect(scene.service.requests.filter(request => isPage(request, 3)).length).toBeLessThan(4);
      const message = synced.of(resource).error?.message;
      expect(message).toContain(`GET ${scene.service.url}/v2/document-exports`);
      expect(message).not.toContain(scene.service.options.token);
      expect(synced.of(resource).completeness).toBe('unproven');
      const kept = mirrored(scene.database, resource);
      expect(kept.length).toBeGreaterThan(30);
      expect(listed(scene.service.lists[resource], resource)).toEqual(expect.arrayContaining(kept));
      expectExactMirror(scene.database, scene.service, ['collections', 'webhooks']);
      scene.service.options.faults = undefined;
      expect(await syncScene(scene)).toMatchObject({ code: 0 });
      expectExactMirror(scene.database, scene.service);
    },
  );

  test('if every list fails, the run has failed: exit 1, with a clear line that names each list', async () => {
    await using scene = await setScene();
    scene.service.options.faults = () => ({ kind: 'status', status: 500 });
    const synced = await scene.sync('--give-up-after', '300ms');
    expect(synced).toMatchObject({ code: 1, status: 'failed' });
    expect(synced.summary.error).toMatchObject({ code: 'server_error' });
    const text = await scene.run('sync', '--give-up-after', '0');
    expect(text.code).toBe(1);
    // One cause is told once.
    expect(text.stdout).toMatch(
      /^document-exports, collections, webhooks: GET .* answered 500: the service failed \[server_error\]$/m,
    );
  });

  test('no server at all is exit 1 with the reason', async () => {
    await using scene = await setScene();
    await scene.service.close();
    const text = await scene.run('sync', '--give-up-after', '300ms');
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('ECONNREFUSED');
    expect(text.stdout + text.stderr).not.toMatch(/^\s+at /m);
  });
});

describe.concurrent('a fault that lasts:', () => {
  test('a token that is refused from the midst of a walk on: tried again until it is given up, nothing changed, and no token shown', async () => {
    await using scene = await setScene({ maxPageSize: 20 });
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
    const before = mirrored(scene.database, resource);
    const { service } = scene;
    service.lists[resource].splice(3, 1);
    service.requests = [];
    service.onRequest = request => {
      if (isPage(request, 5)) service.options.token = 'revoked';
    };
    const synced = await scene.sync('--concurrency', '1', '--give-up-after', '2s');
    expect(synced.of(resource)).toMatchObject({ status: 'failed', error: { code: 'unauthorized' } });
    expect(synced.of(resource).retries).toBeGreaterThan(1);
    const asked = service.requests.filter(({ resource: name }) => name === resource);
    expect(isPage(asked.at(-1) as RecordedRequest, 5)).toBe(true);
    expect(synced.code).toBe(3);
    expect(synced.stderr).not.toContain('secret-token');
    expect(mirrored(scene.database, resource)).toEqual(before);
    const refused = await scene.sync();
    expect(refused).toMatchObject({ code: 12, status: 'failed' });
    expect(refused.of(resource).requests).toBe(1);
  });

  test.each([301, 302, 307, 308])(
    'a redirect (%i) is not followed, and the token goes nowhere else',
    async status => {
      await using scene = await setScene();
      await using elsewhere = await setScene();
      const location = `${elsewhere.service.url}/v2/webhooks`;
      scene.service.options.faults = ({ resource: name }) =>
        name === 'webhooks'
          ? { kind: 'status', status, headers: { location: `${location}?next=x` } }
          : undefined;
      const synced = await syncScene(scene);
      expect(synced.of('webhooks')).toMatchObject({
        status: 'failed',
        requests: 1,
        error: { code: 'redirected', message: expect.stringContaining(`It points to ${location}`) },
      });
      expect(synced.of('webhooks').error?.message).not.toContain('next=');
      expect(elsewhere.service.requests).toEqual([]);
    },
  );
});

test.each([429, 503, 500])(
  'a wait in Retry-After (with %i) is kept before the next request',
  async status => {
    await using scene = await setScene({ maxPageSize: 20 });
    const headers = { 'retry-after': '1' };
    scene.service.options.faults = ({ n }) => (n === 4 ? { kind: 'status', status, headers } : undefined);
    const { summary } = await syncScene(scene, { concurrency: 1 });
    expect(summary.resources.reduce((sum, { retries }) => sum + retries, 0)).toBe(1);
    expect(summary.resources.reduce((sum, { waitedMs }) => sum + waitedMs, 0)).toBeGreaterThan(980);
    const [held = 0, next = 0] = scene.service.requests.slice(3).map(({ atMs }) => atMs);
    expect(next - held).toBeGreaterThan(980);
  },
);

interface OwnServer extends AsyncDisposable {
  readonly url: string;
}

/** A server for answers that no service should give. */
async function startServer(listener: RequestListener): Promise<OwnServer> {
  const server = createServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

const mebibyte = 1024 * 1024;

/** Answers that never should be read whole: each is more than the bound of 64 MiB. */
const floods: [name: string, makeListener: () => RequestListener][] = [
  [
    'a small gzip body that grows to 256 MiB',
    () => {
      const bomb = gzipSync(Buffer.alloc(256 * mebibyte, ' '));
      return (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    },
  ],
  [
    'a body without end',
    () => async (_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(mebibyte, ' ');
      while (!response.destroyed) {
        if (!response.write(chunk)) await Promise.race([wait(20), once(response, 'drain')]);
      }
    },
  ],
];

describe('an answer larger than the bound', () => {
  test.each(floods)('is refused with a clear error: %s', async (_name, makeListener) => {
    await using server = await startServer(makeListener());
    await using scene = await setScene();
    Object.assign(scene.env, { DOCMIRROR_BASE_URL: server.url });
    const text = await scene.run('sync', '--resource', 'webhooks');
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('answered with more than 64 MiB; set DOCMIRROR_PAGE_SIZE to less');
  });
});

describe.concurrent('a request that gets no answer', () => {
  test('ends after DOCMIRROR_TIMEOUT_MS, and the run does not hang', async () => {
    await using server = await startServer(() => undefined);
    await using scene = await setScene();
    Object.assign(scene.env, { DOCMIRROR_BASE_URL: server.url });
    const startedAt = Date.now();
    const text = await scene.run(
      'sync',
      '--timeout-ms',
      '300',
      '--give-up-after',
      '1s',
      '--resource',
      resource,
    );
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    expect(text.code).toBe(1);
    expect(text.stdout).toContain('did not answer completely within 300 ms');
  });
});
