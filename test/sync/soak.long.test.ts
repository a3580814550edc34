import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { ResourceName } from '../../src/contract/lists.ts';
import { Random } from '../../src/sample/random.ts';
import { Secrets } from '../../src/service/secrets.ts';
import { Service } from '../../src/service/service.ts';
import { memoryFolder, run } from '../support/in-process.ts';
import { expectExactMirror, expectSound, listed, mirrored } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { make } from '../support/scene.ts';
import {
  collection,
  documentExport,
  type Fault,
  type Lists,
  type StandIn,
  startStandIn,
  webhook,
} from '../support/stand-in.ts';

const runs = 200;
const faultShare = 0.05;

const faults: readonly Fault[] = [
  { kind: 'status', status: 408 },
  { kind: 'status', status: 429, headers: { 'retry-after': '0.01' } },
  { kind: 'status', status: 429 },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503, headers: { 'retry-after': '0' } },
  { kind: 'html' },
  { kind: 'reset' },
  { kind: 'cut' },
  { kind: 'cut', chunked: true },
  { kind: 'stall', ms: 3_000 },
];

/** A few records come, go and change; now and then nothing happens, or a twin comes. */
function change(lists: Lists, round: number, random: () => number): void {
  const at = (length: number) => Math.floor(random() * length);
  const exports = lists['document-exports'];
  if (random() < 0.3) return;
  exports.push(...make(at(4), n => documentExport(1_000 + round * 10 + n)));
  exports.splice(at(exports.length), at(4));
  const changed = at(exports.length);
  exports[changed] = { ...(exports[changed] as object), sourceDocumentTitle: `Title of round ${round}` };
  const twin = at(exports.length);
  if (random() < 0.1) exports.splice(twin, 0, exports[twin] as object as never);
  // A record that goes needs an address that no run has used, and a list of twelve has thirteen for pages of 25.
  const isReplaced = random() < 0.04;
  const place = at(lists.collections.length);
  const { id } = lists.collections[place] as { id: number };
  lists.collections[place] = collection(isReplaced ? 100 + round : id, { name: `Round ${round}` });
  lists.webhooks[0] = webhook(1, { description: `round ${round}` });
}

async function syncOnce(service: StandIn, database: string, giveUpAfterMs: number) {
  const source = new Service({
    baseUrl: service.url,
    readToken: async () => service.options.token,
    secrets: new Secrets(),
    timeoutMs: 150,
    giveUpAfterMs,
    concurrency: 4,
    userAgent: 'soak',
    retryDelayMs: 2,
  });
  try {
    return await run(database, source, { pageSize: 25 });
  } finally {
    await source.close();
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Live memory in MiB. Garbage is left out, because it grows with the machine's load. */
function heldMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function openFiles(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

/** As `expectExactMirror`, without the audit of the whole file, which would take longer than all the runs. */
function expectExactList(database: string, { lists }: StandIn, resource: ResourceName): void {
  expect(mirrored(database, resource), resource).toEqual(listed(lists[resource], resource));
}

test(`${runs} runs in one process, with a fault in every twentieth answer and changes between them, end exact and leak nothing`, {
  timeout: 120_000,
}, async () => {
  await using service = await startStandIn({ gzip: true });
  await using folder = memoryFolder();
  const database = join(folder.path, 'mirror.sqlite');
  const chance = new Random(7);
  const random = () => chance.fraction();
  service.lists['document-exports'] = make(120, documentExport);
  service.lists.collections = make(12, collection);
  service.lists.webhooks = make(4, webhook);
  service.options.faults = () =>
    random() < faultShare ? faults[Math.floor(random() * faults.length)] : undefined;
  const heap: number[] = [];
  const files: number[] = [];
  const statuses = new Map<string, number>();
  let retries = 0;
  for (let round = 0; round < runs; round++) {
    change(service.lists, round, random);
    // Every tenth run has no second try, so that some fail.
    const summary = await syncOnce(service, database, round % 10 === 9 ? 0 : 60);
    statuses.set(summary.status, (statuses.get(summary.status) ?? 0) + 1);
    for (const outcome of summary.resources) {
      retries += outcome.retries;
      expect(outcome.rejected).toBe(0);
      if (outcome.status === 'completed') expectExactList(database, service, outcome.resource);
    }
    if (round % 20 === 0) expectSound(database);
    if (round % 5 === 0) {
      heap.push(heldMb());
      files.push(openFiles());
    }
  }
  service.options.faults = undefined;
  const last = await syncOnce(service, database, 5_000);
  expect(last.resources.map(({ error, reason }) => error ?? reason)).toEqual([null, null, null]);
  expectExactMirror(database, service);
  expect(statuses.get('completed')).toBeGreaterThan(runs * 0.25);
  expect((statuses.get('partial') ?? 0) + (statuses.get('failed') ?? 0)).toBeGreaterThan(3);
  expect(retries).toBeGreaterThan(40);
  expect(sqlite(database, 'SELECT count(*) AS n FROM sync_runs')).toEqual([{ n: runs + 1 }]);
  expect(mirrored(database, 'webhooks')).toHaveLength(4);
  // Connections of the first quarter might still be closing in the last one. A leak would be one for every run.
  const quarter = files.length / 4;
  expect(median(files.slice(-quarter)) - median(files.slice(0, quarter))).toBeLessThan(20);
  const growth = median(heap.slice(-quarter)) - median(heap.slice(quarter, 2 * quarter));
  expect(growth).toBeLessThan(5);
});
