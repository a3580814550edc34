import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { type Fault, FaultyProxy } from './faulty-proxy.ts';
import { ModelMirror, randomMirror, randomOf, randomSteps } from './model.ts';
import { expectPublished, publishedRuns, publishModel } from './oracle.ts';

let engine: Engine;
let proxy: FaultyProxy;

beforeAll(async () => {
  engine = await Engine.start();
});

afterAll(() => engine[Symbol.asyncDispose]());

beforeAll(async () => {
  proxy = await FaultyProxy.start(engine.url);
});

afterAll(() => proxy[Symbol.asyncDispose]());

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

describe('a publication that is cut off', () => {
  const cuts: Fault[] = [{ kind: 'cut-before' }, { kind: 'cut-after' }, { kind: 'cut-answer' }];

  test.each(cuts)(
    'at any of its requests ($kind) is completed by the next, whether or not a run came between',
    async fault => {
      await using target = await newTarget();
      const random = randomOf(21);
      let requests = 1;
      for (let at = 1; at <= requests; at++) {
        const tenant = `${fault.kind}-${at}`;
        const mirror = randomMirror(at, 2, 40);
        proxy.requestCount = 0;
        proxy.faults = n => (n === at ? fault : undefined);
        const cut = publishModel(mirror, target, { tenant });
        // An answer of no bytes is whole when it is cut in half.
        if (fault.kind === 'cut-answer') await cut.catch(() => undefined);
        else await expect(cut).rejects.toMatchObject({ exitCode: 1, code: 'network' });
        proxy.faults = () => undefined;
        // A run that is recorded as published is complete.
        expect([0, 2]).toContain((await publishedRuns(target, tenant)).length);
        if (at % 2 === 0) mirror.run(randomSteps(random, 40));
        proxy.requestCount = 0;
        await publishModel(mirror, target, { tenant });
        if (at === 1) requests = proxy.requestCount;
        await expectPublished(target, mirror, tenant);
      }
      expect(requests).toBeGreaterThan(6);
    },
  );

  test('while it replaces a tenant is still refused without the flags, and completed with them', async () => {
    await using target = await newTarget();
    for (const at of [1, 3, 7, 8, 9, 12]) {
      const tenant = `replaced-${at}`;
      const mirror = randomMirror(at, 3, 30);
      await publishModel(mirror, target, { tenant });
      const restored = mirror.restoredTo(1).run(randomSteps(randomOf(at), 30));
      proxy.requestCount = 0;
      proxy.faults = n => (n === at ? { kind: at % 2 === 0 ? 'cut-before' : 'cut-after' } : undefined);
      await expect(
        publishModel(restored, target, { tenant, again: true, replaceTenant: true }),
      ).rejects.toMatchObject({ exitCode: 1 });
      proxy.faults = () => undefined;
      if ((await publishedRuns(target, tenant)).length > 0)
        await expect(publishModel(restored, target, { tenant })).rejects.toMatchObject({ exitCode: 2 });
      else await publishModel(restored, target, { tenant });
      await publishModel(restored, target, { tenant, again: true, replaceTenant: true });
      await expectPublished(target, restored, tenant);
    }
  });

  test('by a signal ends at once, and is completed by the next', async () => {
    await using target = await newTarget();
    const mirror = randomMirror(22, 3, 200);
    const stopping = new AbortController();
    const reason = new Error('told to stop');
    const stopped = engine.client(target.database, {
      url: proxy.url,
      signal: stopping.signal,
      giveUpAfterMs: 5_000,
    });
    proxy.faults = n => (n === 4 ? { kind: 'slow', ms: 10_000 } : undefined);
    setTimeout(() => stopping.abort(reason), 300);
    const startedAtMs = Date.now();
    await expect(publishModel(mirror, stopped, { signal: stopping.signal })).rejects.toBe(reason);
    expect(Date.now() - startedAtMs).toBeLessThan(5_000);
    await stopped.close();
    proxy.faults = () => undefined;
    await publishModel(mirror, target);
    await expectPublished(target, mirror);
  });
});

describe('a fault that passes', () => {
  const passing: [what: string, fault: Fault][] = [
    ['a cut connection', { kind: 'cut-before' }],
    ['a lost answer', { kind: 'cut-after' }],
    ['half an answer', { kind: 'cut-answer' }],
    ['503 from a proxy', { kind: 'answer', status: 503, body: '<html>503 Service Unavailable</html>' }],
    [
      'too many queries at once',
      {
        kind: 'answer',
        status: 500,
        body: 'Code: 202. DB::Exception: Too many simultaneous queries. (TOO_MANY_SIMULTANEOUS_QUERIES)',
        headers: { 'x-clickhouse-exception-code': '202' },
      },
    ],
  ];

  test.each(passing)('%s is tried again', async (_what, fault) => {
    await using target = await newTarget({ giveUpAfterMs: 5_000 });
    const mirror = randomMirror(23, 2, 40);
    proxy.faults = n => (n % 3 === 1 ? fault : undefined);
    await publishModel(mirror, target);
    expect(proxy.requestCount).toBeGreaterThan(9);
    proxy.faults = () => undefined;
    await expectPublished(target, mirror);
  });
});

describe('a fault that stays', () => {
  const mirror = new ModelMirror().run([]);
  const staying: [what: string, fault: Fault, exitCode: number, said: RegExp, requestCount: number][] = [
    ['403 with a page', { kind: 'answer', status: 403, body: '<h1>No</h1>' }, 1, /not its own/, 2],
    [
      'fewer rows than it says',
      { kind: 'answer', status: 200, body: '{"data":[],"rows":5}' },
      1,
      /without its rows/,
      2,
    ],
    ['silence', { kind: 'slow', ms: 3_000 }, 1, /no answer in time.*DOCMIRROR_TIMEOUT_MS/, 2],
    [
      'a full disk there',
      {
        kind: 'answer',
        status: 500,
        body: 'Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)',
        headers: { 'x-clickhouse-exception-code': '243' },
      },
      1,
      /not enough space.*243 NOT_ENOUGH_SPACE/,
      1,
    ],
    [
      'too few rights',
      {
        kind: 'answer',
        status: 403,
        body: 'Code: 497. DB::Exception: default: Not enough privileges. (ACCESS_DENIED)',
        headers: { 'x-clickhouse-exception-code': '497' },
      },
      2,
      /too few rights: .*privileges/,
      1,
    ],
  ];

  test.each(staying)(
    '%s ends it with one line, and with %#',
    async (_what, fault, exitCode, said, requestCount) => {
      await using target = await newTarget({ giveUpAfterMs: 600, timeoutMs: 400 });
      proxy.faults = () => fault;
      const failed = publishModel(mirror, target);
      await expect(failed).rejects.toMatchObject({ exitCode, message: expect.stringMatching(said) });
      await expect(failed).rejects.toMatchObject({ message: expect.not.stringContaining('\n') });
      // How often it is tried again depends on the clock.
      if (requestCount === 1) expect(proxy.requestCount).toBe(1);
      else expect(proxy.requestCount).toBeGreaterThan(1);
    },
  );

  test('over rows that are refused is reported without a word of them', async () => {
    await using target = await newTarget();
    const refused =
      'Constraint is violated at row 1. Column values: endpoint = https://user:pw@hooks.example/S3CRET';
    const headers = { 'x-clickhouse-exception-code': '469' };
    const body = `Code: 469. DB::Exception: ${refused}. (VIOLATED_CONSTRAINT)`;
    // The first two requests ask for the tables, and for what is published.
    proxy.faults = n => (n > 2 ? { kind: 'answer', status: 500, body, headers } : undefined);
    const failed = publishModel(randomMirror(24, 1, 10), target);
    await expect(failed).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/refused rows \(469 VIOLATED_CONSTRAINT\)\. Its own log says why/),
    });
    await expect(failed).rejects.toMatchObject({ message: expect.not.stringMatching(/S3CRET|hooks/) });
  });
});
