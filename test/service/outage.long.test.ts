import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

describe('a service that answers nothing useful', () => {
  test('is given up after --give-up-after, all lists together, and each list says why', async () => {
    await using scene = await setScene();
    scene.service.options.faults = () => ({ kind: 'status', status: 503 });
    const startedAt = performance.now();
    const synced = await scene.sync('--give-up-after', '3s');
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(3_000);
    expect(tookMs).toBeLessThan(6_000);
    expect(synced).toMatchObject({ code: 1, status: 'failed' });
    const outcomes = ['document-exports', 'collections', 'webhooks'].map(synced.of);
    for (const { status, error } of outcomes)
      expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'overloaded' } });
    const [most, ...others] = outcomes.map(({ requests }) => requests).sort((a, b) => b - a);
    expect(most).toBeGreaterThan(2);
    expect(others).toEqual([1, 1]);
  });

  test('ends a run in time if it hangs, and if it asks to be left alone for long', async () => {
    const server = createServer(() => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      await using scene = await setScene();
      const startedAt = performance.now();
      const hanging = await scene.sync('--give-up-after', '1s', '--base-url', `http://127.0.0.1:${port}`);
      expect(hanging.of('webhooks')).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
      expect(performance.now() - startedAt).toBeLessThan(6_000);
      scene.service.options.faults = () => ({
        kind: 'status',
        status: 429,
        headers: { 'retry-after': '300' },
      });
      const heldAt = performance.now();
      const held = await scene.sync('--give-up-after', '1s');
      expect(performance.now() - heldAt).toBeLessThan(4_000);
      expect(held.summary.error).toMatchObject({ code: 'overloaded' });
      expect(scene.service.requests).toHaveLength(1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('gives each list that is left one short try if it hangs', async () => {
    await using scene = await setScene({ latencyMs: 60_000 });
    const startedAt = performance.now();
    const synced = await scene.sync('--give-up-after', '10s');
    // 10 s, and 5 s for each of the other two.
    expect(performance.now() - startedAt).toBeGreaterThan(19_000);
    expect(performance.now() - startedAt).toBeLessThan(27_000);
    expect(synced.of('webhooks').error).toMatchObject({ message: expect.stringContaining('within 5000 ms') });
  });

  test('of one list that asks to wait leaves the other lists one try each', async () => {
    await using scene = await setScene({
      faults: ({ resource }) =>
        resource === 'collections'
          ? { kind: 'status', status: 429, headers: { 'retry-after': '1' } }
          : undefined,
    });
    const synced = await scene.sync('--give-up-after', '2s');
    expect(synced.of('collections').status).toBe('failed');
    for (const resource of ['document-exports', 'webhooks'])
      expect(synced.of(resource).status, resource).toBe('completed');
  });

  test('for 12 s is waited out', async () => {
    await using scene = await setScene();
    const untilMs = Date.now() + 12_000;
    scene.service.options.faults = () => (Date.now() < untilMs ? { kind: 'status', status: 502 } : undefined);
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(Date.now()).toBeGreaterThan(untilMs);
  });
});

test('--max-requests-per-second spaces requests out evenly, over all lists', async () => {
  await using scene = await setScene({ maxPageSize: 20 });
  expect(await scene.sync('--max-requests-per-second', '10')).toMatchObject({ code: 0 });
  const times = scene.service.requests.map(({ atMs }) => atMs);
  expect(times.length).toBeGreaterThan(10);
  const gaps = times.slice(1).map((atMs, at) => atMs - (times[at] as number));
  // The time on the way differs a little from one request to the next.
  expect(Math.min(...gaps)).toBeGreaterThan(60);
  expect((times.at(-1) as number) - (times[0] as number)).toBeGreaterThan((times.length - 1) * 95);
});
