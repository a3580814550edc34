import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { Engine } from './engine.ts';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';
import { type Changing, expectPublished, publishedRuns, publishMirror, setChanging } from './mirrors.ts';

let engine: Engine;
let proxy: FaultyProxy;
let mirror: Changing;

beforeAll(async () => {
  engine = await Engine.start();
  proxy = await FaultyProxy.start(engine.url);
  mirror = await setChanging(21, 2);
});

afterAll(async () => {
  for (const each of [proxy, engine, mirror]) await each[Symbol.asyncDispose]();
});

/** A client of a new database whose requests go by the proxy. */
async function newTarget(options: { giveUpAfterMs?: number; timeoutMs?: number } = {}) {
  const target = engine.client(await engine.database(), { url: proxy.url, ...options });
  proxy.requestCount = 0;
  return Object.assign(target, {
    async [Symbol.asyncDispose]() {
      proxy.faults = () => undefined;
      await target.close();
    },
  });
}

/** What ClickHouse says of an error of its own. */
function said(status: number, code: number, name: string, words: string): Fault {
  const body = `Code: ${code}. DB::Exception: ${words}. (${name})`;
  return { kind: 'answer', status, body, headers: { 'x-clickhouse-exception-code': `${code}` } };
}

describe('a publication that is cut off', () => {
  const cuts: Fault[] = [{ kind: 'cut-before' }, { kind: 'cut-after' }, { kind: 'cut-answer' }];

  test.each(cuts)(
    'at any of its requests ($kind) is completed by the next, whether or not a run came between',
    async fault => {
      await using target = await newTarget();
      let requests = 1;
      for (let at = 1; at <= requests; at++) {
        const tenant = `${fault.kind}-${at}`;
        proxy.requestCount = 0;
        proxy.faults = n => (n === at ? fault : undefined);
        const [{ runs } = {}] = sqlite(mirror.database, 'SELECT count(*) AS runs FROM sync_runs');
        const cut = publishMirror(mirror, target, { tenant });
        // An answer of no bytes is whole when it is cut in half.
        if (fault.kind === 'cut-answer') await cut.catch(() => undefined);
        else await expect(cut).rejects.toMatchObject({ exitCode: 1, code: 'network' });
        proxy.faults = () => undefined;
        // A run that is recorded as published is complete.
        expect([0, runs]).toContain((await publishedRuns(target, tenant)).length);
        if (at % 2 === 0) await mirror.goOn();
        proxy.requestCount = 0;
        await publishMirror(mirror, target, { tenant });
        if (at === 1) requests = proxy.requestCount;
        await expectPublished(target, mirror, tenant);
      }
      expect(requests).toBeGreaterThan(6);
    },
  );

  test('while it replaces a tenant is still refused without the flags, and completed with them', async () => {
    await using target = await newTarget();
    await using other = await setChanging(22, 2);
    for (const at of [1, 3, 7, 8, 9, 12]) {
      const tenant = `replaced-${at}`;
      const replace = { tenant, again: true, replaceTenant: true };
      await publishMirror(mirror, target, { tenant });
      proxy.requestCount = 0;
      proxy.faults = n => (n === at ? { kind: at % 2 === 0 ? 'cut-before' : 'cut-after' } : undefined);
      await expect(publishMirror(other, target, replace)).rejects.toMatchObject({ exitCode: 1 });
      proxy.faults = () => undefined;
      if ((await publishedRuns(target, tenant)).length > 0)
        await expect(publishMirror(other, target, { tenant })).rejects.toMatchObject({ exitCode: 2 });
      await publishMirror(other, target, replace);
      await expectPublished(target, other, tenant);
    }
  });

  test('by a signal ends at once, and is completed by the next', async () => {
    await using target = await newTarget();
    const stopping = new AbortController();
    const { signal } = stopping;
    const reason = new Error('told to stop');
    const stopped = engine.client(target.options.database, { url: proxy.url, signal, giveUpAfterMs: 5_000 });
    proxy.faults = n => (n === 4 ? { kind: 'slow', ms: 10_000 } : undefined);
    setTimeout(() => stopping.abort(reason), 300);
    const startedAtMs = Date.now();
    await expect(publishMirror(mirror, stopped)).rejects.toBe(reason);
    expect(Date.now() - startedAtMs).toBeLessThan(5_000);
    await stopped.close();
    proxy.faults = () => undefined;
    await publishMirror(mirror, target);
    await expectPublished(target, mirror);
  });
});

const passing: [what: string, fault: Fault][] = [
  ['a cut connection', { kind: 'cut-before' }],
  ['half an answer', { kind: 'cut-answer' }],
  ['503 from a proxy', { kind: 'answer', status: 503, body: '<html>503 Service Unavailable</html>' }],
  ['too many queries at once', said(500, 202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many queries')],
];

test.each(passing)('%s is tried again', async (_what, fault) => {
  await using target = await newTarget({ giveUpAfterMs: 5_000 });
  proxy.faults = n => (n % 3 === 1 ? fault : undefined);
  await publishMirror(mirror, target);
  expect(proxy.requestCount).toBeGreaterThan(8);
  proxy.faults = () => undefined;
  await expectPublished(target, mirror);
});

describe('a fault that stays', () => {
  const noPage: Fault = { kind: 'answer', status: 403, body: '<h1>No</h1>' };
  const noRows: Fault = { kind: 'answer', status: 200, body: '{"data":[],"rows":5}' };
  const full = said(500, 243, 'NOT_ENOUGH_SPACE', 'Cannot reserve 1.00 MiB, not enough space');
  const denied = said(403, 497, 'ACCESS_DENIED', 'default: Not enough privileges');

  test.each<[what: string, fault: Fault, exitCode: number, words: RegExp, isTriedAgain: boolean]>([
    ['403 with a page', noPage, 1, /not its own/, true],
    ['fewer rows than it says', noRows, 1, /not its own/, true],
    ['silence', { kind: 'slow', ms: 3_000 }, 1, /no answer in time.*DOCMIRROR_TIMEOUT_MS/, true],
    ['a full disk there', full, 1, /243 NOT_ENOUGH_SPACE.*not enough space/, false],
    ['too few rights', denied, 2, /refused the user .*privileges/, false],
  ])('%s ends it with one line, and with %#', async (_what, fault, exitCode, words, isTriedAgain) => {
    await using target = await newTarget({ giveUpAfterMs: 600, timeoutMs: 400 });
    proxy.faults = () => fault;
    const failed = publishMirror(mirror, target);
    await expect(failed).rejects.toMatchObject({ exitCode, message: expect.stringMatching(words) });
    await expect(failed).rejects.toMatchObject({ message: expect.not.stringContaining('\n') });
    // How often it is tried again depends on the clock.
    expect(proxy.requestCount > 1).toBe(isTriedAgain);
  });

  test('over rows that are refused is reported without a word of them', async () => {
    await using target = await newTarget();
    const row = 'at row 1. Column values: endpoint = https://user:pw@hooks.example/S3CRET';
    const violated = said(500, 469, 'VIOLATED_CONSTRAINT', `Constraint is violated ${row}`);
    // The first request asks for what is published.
    proxy.faults = n => (n > 1 ? violated : undefined);
    const failed = publishMirror(mirror, target);
    await expect(failed).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/refused \(469 VIOLATED_CONSTRAINT\): rows\. Its own log says why/),
    });
    await expect(failed).rejects.toMatchObject({ message: expect.not.stringMatching(/S3CRET|hooks/) });
  });
});
