import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { spawnCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import type { Fault, RecordedRequest } from '../support/stand-in.ts';

const resource = 'document-exports';

/** A fault of the first requests for a list that are made, or of those after so many. */
function failFrom(fault: Fault, { after = 0, times = 1, list = resource } = {}) {
  let n = 0;
  return (request: RecordedRequest): Fault | undefined => {
    if (request.resource !== list) return undefined;
    n++;
    return n > after && n <= after + times ? fault : undefined;
  };
}

const status = (code: number, headers: Record<string, string> = {}): Fault => ({
  kind: 'status',
  status: code,
  headers,
});

describe.concurrent('what the run has seen working is tried again:', () => {
  test.each<[string, Fault]>([
    ['401', status(401)],
    ['403', status(403)],
    ['a redirect', status(302, { location: '/maintenance.html' })],
    ['304', status(304)],
    ['a page of HTML', { kind: 'html' }],
    ['a text', status(200)],
    ['an encoding that was not asked for', status(200, { 'content-encoding': 'br' })],
  ])('%s, eight times in the midst of a list', async (_name, fault) => {
    await using scene = await setScene({ maxPageSize: 20 });
    scene.service.options.faults = failFrom(fault, { after: 4, times: 8 });
    const synced = await syncScene(scene, { concurrency: 1 });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of(resource).retries).toBe(8);
    expectExactMirror(scene.database, scene.service);
  });

  test('a token that other lists had accepted', async () => {
    await using scene = await setScene();
    scene.service.options.faults = failFrom(status(401), { list: 'webhooks', times: 8 });
    expect(await syncScene(scene)).toMatchObject({ code: 0, status: 'completed' });
  });

  test('an expired token, read again until there is a new one', async () => {
    await using scene = await setScene({ maxPageSize: 20 });
    const { service } = scene;
    let [reads, token] = [0, service.options.token];
    service.onRequest = ({ n }) => {
      if (n === 5) service.options.token = 'renewed-token';
    };
    const readToken = async () => {
      if (++reads > 6) token = 'renewed-token';
      return token;
    };
    expect(await syncScene(scene, { readToken, concurrency: 1 })).toMatchObject({ code: 0 });
    expect(reads).toBe(7);
    expectExactMirror(scene.database, service);
  });

  test('but a first 304 three times', async () => {
    await using scene = await setScene({ faults: () => status(304) });
    const { retries, error } = (await syncScene(scene)).of('webhooks');
    expect({ retries, code: error?.code }).toEqual({ retries: 2, code: 'invalid_response' });
  });

  test.each([401, 403, 302, 404])('a first %i is told at once', async code => {
    await using scene = await setScene({ faults: () => status(code) });
    const synced = await syncScene(scene);
    expect(synced.status).toBe('failed');
    for (const list of synced.summary.resources) expect(list.retries).toBe(0);
  });
});

describe.concurrent('a wait that the service asks for', () => {
  const reset = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
  test.each<[string, Fault]>([
    ['200 that is no page', status(200, { 'retry-after': '1' })],
    ['401', status(401, { 'retry-after': '1' })],
    ['403', status(403, reset)],
    ['404', status(404, { 'retry-after': '1' })],
    ['302', status(302, { 'retry-after': '1' })],
    ['429', status(429, reset)],
  ])('with %s is kept, also of a first answer', async (_name, fault) => {
    await using scene = await setScene({ faults: failFrom(fault, { list: 'collections', times: 2 }) });
    const waits: number[] = [];
    const synced = await syncScene(scene, {
      resources: ['collections'],
      onWait: untilMs => waits.push(untilMs),
    });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    const [one = 0, two = 0] = scene.service.requests.map(({ atMs }) => atMs);
    expect(two - one).toBeGreaterThan(950);
    expect(waits.length).toBe(2);
    expect(synced.of('collections').waitedMs).toBeGreaterThan(500);
  });

  test('for longer than the last try of a list is kept', async () => {
    await using scene = await setScene({ maxPageSize: 20 });
    scene.service.options.faults = failFrom(status(503, { 'retry-after': '7' }), { after: 3 });
    const synced = await syncScene(scene, { giveUpAfterMs: 20_000 });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of(resource).waitedMs).toBeGreaterThan(6_500);
  });

  test('with a page delays the next one', async () => {
    await using scene = await setScene({ maxPageSize: 20 });
    const { service } = scene;
    const read = service.options;
    Object.assign(read, { headers: ({ n }: RecordedRequest) => (n === 4 ? reset : {}) });
    const synced = await syncScene(scene, { concurrency: 1 });
    expect(synced).toMatchObject({ code: 0 });
    expect(synced.of('webhooks').retries).toBe(0);
    const [held = 0, next = 0] = service.requests.slice(3).map(({ atMs }) => atMs);
    expect(next - held).toBeGreaterThan(950);
  });

  test('for longer than docmirror is patient ends the list at once, and names its end', async () => {
    await using scene = await setScene({ maxPageSize: 20 });
    const hour = status(401, { 'retry-after': '3600' });
    scene.service.options.faults = failFrom(hour, { after: 4, times: 999 });
    const beganMs = Date.now();
    const synced = await syncScene(scene);
    expect(Date.now() - beganMs).toBeLessThan(5_000);
    const { status: ending, error, retries } = synced.of(resource);
    expect({ ending, retries }).toEqual({ ending: 'failed', retries: 0 });
    expect(error).toMatchObject({ code: 'overloaded' });
    const [until = ''] = /until (\S+Z)/.exec(error?.message ?? '')?.slice(1) ?? [];
    expect(Math.abs(Date.parse(until) - beganMs - 3_600_000)).toBeLessThan(5_000);
  });

  test('that fits into what is left is kept once, and not when no more of it is left', async () => {
    await using scene = await setScene({ faults: () => status(429, { 'retry-after': '2' }) });
    const synced = await syncScene(scene, { giveUpAfterMs: 3_000, resources: ['collections'] });
    expect(synced.of('collections').error).toMatchObject({
      code: 'overloaded',
      message: expect.stringContaining('wants no requests until'),
    });
    expect(scene.service.requests).toHaveLength(2);
  });
});

describe.concurrent('the first page of auto', () => {
  const auto = (scene: Awaited<ReturnType<typeof setScene>>) =>
    scene.service.requests.filter(request => request.resource === resource).map(({ pageSize }) => pageSize);

  const refusals: [string, Fault][] = [
    ['400', status(400)],
    ['404', status(404)],
    ['413', status(413)],
    ['429', status(429)],
    ['500', status(500)],
    ['502', status(502)],
    ['504', status(504)],
    ['a reset connection', { kind: 'reset' }],
    ['a time-out', { kind: 'stall', ms: 20_000 }],
  ];

  test.each(refusals)('falls to smaller sizes if large ones are answered by %s', async (name, fault) => {
    await using scene = await setScene({}, { exports: 700 });
    scene.service.options.faults = ({ pageSize }) => ((pageSize ?? 50) > 300 ? fault : undefined);
    const synced = await syncScene(scene, {
      timeoutMs: name === 'a time-out' ? 2_000 : 20_000,
      giveUpAfterMs: 60_000,
    });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    expect(synced.of(resource)).toMatchObject({ pageSize: 250 });
    // A size that is refused is not asked for again; another might have failed for a moment only.
    const isRefused = /^4(00|04|13)/.test(name);
    const asked = isRefused ? [1000, 250] : [1000, 1000, 250, 1000];
    expect(auto(scene).slice(0, asked.length + 1)).toEqual([...asked, expect.toSatisfy(size => size < 251)]);
    expectExactMirror(scene.database, scene.service);
  });

  test('falls to the default if no larger size comes', async () => {
    await using scene = await setScene({ defaultPageSize: 40 });
    scene.service.options.faults = ({ pageSize }) => ((pageSize ?? 0) > 45 ? status(502) : undefined);
    const synced = await syncScene(scene, { giveUpAfterMs: 60_000 });
    expect(synced.of(resource)).toMatchObject({ status: 'completed', pageSize: 40 });
    expect(auto(scene).slice(0, 9)).toEqual([1000, 1000, 250, 250, 50, 50, null, 1000, 40]);
  });

  test('falls to a smaller size if an answer is too large', async () => {
    await using scene = await setScene({}, { exports: 120 });
    const large = Buffer.alloc(65 * 1024 * 1024, ' ');
    scene.service.options.rawBody = (list, _no, size) => (list === resource && size > 60 ? large : undefined);
    expect((await syncScene(scene)).of(resource)).toMatchObject({ status: 'completed', pageSize: 50 });
    expect(auto(scene).slice(0, 4)).toEqual([1000, 250, 50, expect.toSatisfy(size => size < 51)]);
  });

  test('is as large as ever after an outage that was over soon', async () => {
    await using scene = await setScene({}, { exports: 1_500 });
    scene.service.options.faults = failFrom(status(503), { times: 7 });
    expect((await syncScene(scene)).of(resource)).toMatchObject({ status: 'completed', pageSize: 1000 });
    expect(auto(scene).slice(0, 9)).toEqual([1000, 1000, 250, 250, 50, 50, null, null, 1000]);
  });

  test('of a service that is down is asked for in each size just twice, and for no longer than before', async () => {
    await using scene = await setScene({ faults: () => status(503) });
    const beganMs = performance.now();
    const synced = await scene.sync('--give-up-after', '6s');
    expect(performance.now() - beganMs).toBeLessThan(9_000);
    expect(synced).toMatchObject({ code: 1, status: 'failed' });
    const asked = scene.service.requests.map(({ pageSize }) => pageSize);
    expect(asked.slice(0, 6)).toEqual([1000, 1000, 250, 250, 50, 50]);
    // The default until it is given up, then one try for each of the other lists.
    expect(asked.slice(6, -2).every(size => size === null)).toBe(true);
    expect(asked.length).toBeLessThan(14);
  });
});

describe('a process that stood still for longer than it is patient', () => {
  test.each([
    ['goes on if the answer was a failure', status(503)],
    ['goes on with an answer that came meanwhile', undefined],
  ])('%s', async (_name, fault) => {
    await using scene = await setScene({ maxPageSize: 20 });
    const { service } = scene;
    const args = ['sync', '--json', '--give-up-after', '2s', '--timeout-ms', '2000', '--concurrency', '1'];
    await using cli = spawnCli(args, { env: scene.env });
    service.options.faults = ({ n }) => (n === 6 ? fault : undefined);
    service.onRequest = async ({ n }) => {
      if (n !== 6) return;
      cli.child.kill('SIGSTOP');
      setTimeout(() => cli.child.kill('SIGCONT'), 4_500);
      await wait(300);
    };
    const { code, stdout } = await cli.done;
    expect(code).toBe(0);
    const resources: { retries: number; durationMs: number }[] = JSON.parse(stdout).resources;
    expect(resources.reduce((sum, { retries }) => sum + retries, 0)).toBe(fault === undefined ? 0 : 1);
    expectExactMirror(scene.database, service);
  });
});

test.each(['gzip, identity', 'x-gzip', 'Identity'])(
  'an answer in the encoding "%s" is read',
  async encoding => {
    await using scene = await setScene({ gzip: encoding !== 'Identity' });
    Object.assign(scene.service.options, { headers: () => ({ 'content-encoding': encoding }) });
    expect(await syncScene(scene)).toMatchObject({ code: 0 });
  },
);

// A host that resolves to several addresses, of which some lead nowhere, or slowly.
const far = (addresses: readonly string[], slowMs: number, lost: number) => `
let left = ${lost};
const dns = require('node:dns');
const { lookup } = dns;
dns.lookup = (host, options, done) => {
  if (host !== 'service.test') return lookup(host, options, done);
  const all = ${JSON.stringify(addresses)}.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));
  process.nextTick(() => (options.all ? done(null, all) : done(null, all[0].address, all[0].family)));
};
process.noDeprecation = true;
const { TCP } = process.binding('tcp_wrap');
for (const name of ['connect', 'connect6']) {
  const connect = TCP.prototype[name];
  TCP.prototype[name] = function (request, address, ...rest) {
    if (/^192\\.0\\.2\\.|^2001:db8:/.test(address) || left-- > 0) return 0;
    setTimeout(() => connect.call(this, request, address, ...rest), ${slowMs});
    return 0;
  };
}`;

describe.concurrent('a host with several addresses', () => {
  async function farScene(addresses: readonly string[], slowMs = 0, lost = 0) {
    const scene = await setScene({}, { exports: 3 });
    const file = join(scene.folder, 'far.cjs');
    writeFileSync(file, far(addresses, slowMs, lost));
    const { port } = new URL(scene.service.url);
    Object.assign(scene.env, {
      NODE_OPTIONS: `--require=${file}`,
      DOCMIRROR_ALLOW_HTTP: 'true',
      DOCMIRROR_BASE_URL: `http://service.test:${port}`,
      DOCMIRROR_GIVE_UP_AFTER: '0',
    });
    return scene;
  }

  test.each([
    ['the first of them dead', ['2001:db8::1', '127.0.0.1'], 0],
    ['the second dead, and the first slow', ['127.0.0.1', '2001:db8::1'], 700],
    ['three dead ones before', ['192.0.2.1', '192.0.2.2', '2001:db8::1', '127.0.0.1'], 0],
    [
      'many refusing ones before',
      [...Array.from({ length: 60 }, (_, at) => `127.0.1.${at}`), '127.0.0.1'],
      0,
    ],
  ])('is reached with %s', async (_name, addresses, slowMs) => {
    await using scene = await farScene(addresses, slowMs);
    const beganMs = performance.now();
    expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
    expect(performance.now() - beganMs).toBeLessThan(12_000);
  });

  test('is reached by another connection if one is never made', async () => {
    await using scene = await farScene(['127.0.0.1'], 0, 1);
    const args = ['--timeout-ms', '1500', '--give-up-after', '20s', '--concurrency', '1'];
    expect(await scene.sync(...args)).toMatchObject({ code: 0, status: 'completed' });
  });

  test.each([
    [['192.0.2.1', '2001:db8::1'], 'timeout', 'within 1000 ms'],
    [['127.0.0.8', '127.0.0.9'], 'network', 'ECONNREFUSED 127.0.0.9'],
  ])('is told why if none answers: %j', async (addresses, code, words) => {
    await using scene = await farScene(addresses);
    const { error } = (await scene.sync('--timeout-ms', '1000')).of('webhooks');
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  });
});
