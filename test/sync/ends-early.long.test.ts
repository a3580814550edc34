import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  breakOff,
  differenceOf,
  endsOf,
  failAfter,
  failBeyond,
  type LongList,
  type Order,
  setLongList,
  syncBriefly,
  syncLong,
  takeRequests,
} from '../support/ended-early.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { spawnCli } from '../support/run-cli.ts';

const [pages, size, answers] = [120, 50, 70];
/** Each answer has at least so many records that no other one has. */
const newOfPage = 38;

/** How a reading ends early, and with what the run ends then; `share` of the requests of a whole reading is the most for both runs. */
interface Break {
  readonly name: string;
  readonly status: 'failed' | 'cancelled';
  readonly error: string;
  readonly code: number;
  readonly share: number;
  readonly run: (scene: LongList) => Promise<number | null>;
}

/** A run in a process of its own; after so many answers the next ones do not come, and `then` is called with the process. */
async function inProcess(scene: LongList, args: string[], then: (pid: number) => void) {
  const { service, resource, env } = scene;
  let n = 0;
  await using cli = spawnCli(['sync', '--json', '--resource', resource, ...args], { env });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  service.onRequest = async request => {
    if (request.resource !== resource || ++n <= answers) return;
    if (n === answers + 1) then(cli.child.pid as number);
    await ended;
  };
  const { code, signal } = await cli.done;
  end();
  service.onRequest = undefined;
  expect(signal).toBeNull();
  return code;
}

const breaks: Break[] = [
  {
    ...{ name: 'a token that is refused', status: 'failed', error: 'unauthorized', code: 12, share: 1.25 },
    run: async scene => {
      failAfter(scene, answers);
      return (await syncBriefly(scene)).code;
    },
  },
  {
    ...{ name: 'an outage', status: 'failed', error: 'overloaded', code: 1, share: 1.25 },
    run: async scene => {
      failAfter(scene, answers, { kind: 'status', status: 503 });
      return (await syncBriefly(scene)).code;
    },
  },
  {
    ...{ name: 'connections that break', status: 'failed', error: 'network', code: 1, share: 1.25 },
    run: async scene => {
      failAfter(scene, answers, { kind: 'reset' });
      return (await syncBriefly(scene)).code;
    },
  },
  {
    ...{ name: 'a 500 for each later page', status: 'failed', error: 'server_error', code: 1, share: 1.9 },
    run: async scene => {
      failBeyond(scene, answers * size, 500);
      return (await syncBriefly(scene)).code;
    },
  },
  {
    ...{ name: 'a 400 beyond a limit', status: 'failed', error: 'server_error', code: 1, share: 1.9 },
    run: async scene => {
      failBeyond(scene, answers * size, 400);
      return (await syncLong(scene)).code;
    },
  },
  {
    ...{ name: 'SIGTERM', status: 'cancelled', error: 'cancelled', code: 143, share: 1.25 },
    run: scene => inProcess(scene, [], pid => process.kill(pid, 'SIGTERM')),
  },
  {
    ...{ name: '--deadline', status: 'cancelled', error: 'deadline', code: 1, share: 1.25 },
    run: scene => inProcess(scene, ['--deadline', '4s'], () => undefined),
  },
];

const orders: Order[] = ['by time, the oldest first', 'by time, the newest first', 'by id'];

describe.each(orders)('a list of 120 pages %s', order => {
  /** The requests of one whole reading. */
  let whole = 0;
  let scene: LongList;
  beforeAll(async () => {
    await using clean = await setLongList(pages, { order, size });
    expect(await syncLong(clean)).toMatchObject({ code: 0 });
    whole = takeRequests(clean).length;
  });

  describe.each(breaks)('that is broken off by $name', ({ run, status, error, code, share }) => {
    let first = 0;
    beforeAll(async () => {
      scene = await setLongList(pages, { order, size });
    });
    afterAll(() => scene[Symbol.asyncDispose]());

    test('has what was read, and says so', async () => {
      expect(await run(scene)).toBe(code);
      first = takeRequests(scene).length;
      const [end] = endsOf(scene);
      const reason = expect.stringContaining('; the next run goes on from there');
      expect(end).toMatchObject({ status, error, completeness: 'unproven', mode: 'full', reason });
      const { missing, extra } = differenceOf(scene);
      expect(scene.items.length - missing).toBeGreaterThan((answers - 4) * newOfPage);
      expect(end).toMatchObject({ rows: scene.items.length - missing, inserted: end?.rows, seen: end?.rows });
      expect(extra).toBe(0);
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
    });

    test('goes on in the next run, and is exact', async () => {
      failAfter(scene);
      const next = await syncLong(scene);
      expect(next).toMatchObject({ code: 0 });
      expect(next.of(scene.resource)).toMatchObject({ completeness: 'proven', reason: null, removed: 0 });
      const both = first + takeRequests(scene).length;
      expect(both / whole).toBeLessThan(share);
      expectExactMirror(scene.database, scene.service);
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
    });
  });

  test('a run that is killed has lost no more than --save-every says', async () => {
    await using killed = await setLongList(pages, { order, size });
    const { service, resource, env } = killed;
    service.options.latencyMs = 80;
    let n = 0;
    await using cli = spawnCli(['sync', '--resource', resource, '--save-every', '500ms'], { env });
    service.onRequest = () => {
      if (++n === 100) cli.child.kill('SIGKILL');
    };
    expect(await cli.done).toMatchObject({ signal: 'SIGKILL' });
    service.onRequest = undefined;
    service.options.latencyMs = 0;
    const first = takeRequests(killed).length;
    const { missing, extra } = differenceOf(killed);
    expect(killed.items.length - missing).toBeGreaterThanOrEqual(500);
    expect(extra).toBe(0);
    const next = await syncLong(killed);
    expect(next).toMatchObject({ code: 0 });
    expect(next.of(resource)).toMatchObject({ completeness: 'proven' });
    const both = first + takeRequests(killed).length;
    expect(both / whole).toBeLessThan(1.45);
    expectExactMirror(killed.database, killed.service);
    expect(await killed.run('verify')).toMatchObject({ code: 0 });
  });

  test('records that come and go between two runs are there at last', async () => {
    await using changed = await setLongList(pages, { order, size });
    await breakOff(changed, answers);
    const first = takeRequests(changed).length;
    const { items } = changed;
    for (let n = 1; n <= 20; n++) items.splice(100 * n, 1);
    const always = [...items];
    for (let n = 1; n <= 20; n++) changed.add(990 * n + 5);
    const next = await syncLong(changed);
    expect(next.of(changed.resource)).toMatchObject({ completeness: 'proven' });
    expect(differenceOf(changed, always)).toMatchObject({ missing: 0 });
    const both = first + takeRequests(changed).length;
    expect(both / whole).toBeLessThan(1.25);
    expect(await changed.run('verify')).toMatchObject({ code: 0 });
    expect(await changed.sync('--full', '--resource', changed.resource)).toMatchObject({ code: 0 });
    expectExactMirror(changed.database, changed.service);
  });
});
