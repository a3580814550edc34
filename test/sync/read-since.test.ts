import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breakOff, endsOf, type LongList, setLongList, syncLong } from '../support/ended-early.ts';
import { sqlite } from '../support/run-cli.ts';
import { serveScene } from '../support/served.ts';
import type { SampleItem } from '../support/stand-in.ts';

const [pages, answers] = [30, 26];
const day = 86_400_000;
const titleOf = (item: SampleItem) => String(item.sourceDocumentTitle);

describe('a list that was read in two parts, three days apart', () => {
  let scene: LongList;
  let begunAt: string;
  let readSince: unknown;

  beforeAll(async () => {
    scene = await setLongList(pages);
    const first = new Date(Date.now() - 3 * day);
    begunAt = first.toISOString();
    await breakOff(scene, answers, { now: first });
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 0 });
    ({ readSince } = synced.of(scene.resource));
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test('is proven since the first part, and --json says so', () => {
    const lateMs = Date.parse(String(readSince)) - Date.parse(begunAt);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(60_000);
  });

  test('has that moment in its table, its view and its receipt', async () => {
    const { database, resource } = scene;
    expect(endsOf(scene)).toMatchObject([
      { completeness: 'unproven' },
      { completeness: 'proven', since: readSince },
    ]);
    const [view] = sqlite(
      database,
      `SELECT read_since AS since FROM sync_status WHERE resource = '${resource}'`,
    );
    expect(view).toEqual({ since: readSince });
    const { stdout } = await scene.run('audit', 'receipts', '--json');
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) as string);
    expect(last).toMatchObject({ kind: 'run', runId: 2 });
    const ofList = last.lists.find((list: { resource: string }) => list.resource === resource);
    expect(ofList).toMatchObject({ completeness: 'proven', readSince });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('is three days old in status, though its run has just completed', async () => {
    const { resource } = scene;
    expect(await scene.run('status', '--max-age', '4d')).toMatchObject({ code: 0 });
    const old = await scene.run('status', '--max-age', '2d');
    expect(old).toMatchObject({ code: 4 });
    expect(old.stdout).toMatch(/too old/);
    const { stdout } = await scene.run('status', '--json');
    const { resources } = JSON.parse(stdout);
    const status = resources.find((list: { resource: string }) => list.resource === resource);
    expect(status).toMatchObject({ readSince });
    expect(status.ageMs).toBeGreaterThan(2.9 * day);
    expect(Date.now() - Date.parse(status.lastCompletedAt)).toBeLessThan(day);
    expect(resources.filter((list: { ageMs: number }) => list.ageMs < day)).toHaveLength(2);
  });

  test('is three days old for /healthz and in the metrics', async () => {
    await using old = await serveScene(scene, '--max-age', '2d');
    const health = await old.get('/healthz');
    expect(health.status).toBe(503);
    const { lists } = (await health.json()) as { lists: { resource: string; ageSeconds: number }[] };
    const list = lists.find(each => each.resource === scene.resource);
    expect(list).toMatchObject({ readSince });
    expect(list?.ageSeconds).toBeGreaterThan(2.9 * 86_400);
    const metrics = await (await old.get('/metrics')).text();
    const line = metrics
      .split('\n')
      .find(
        each =>
          each.startsWith('docmirror_list_last_completed_timestamp_seconds') && each.includes(scene.resource),
      );
    expect(Number(line?.split(' ').at(-1))).toBeCloseTo(Date.parse(String(readSince)) / 1000, 0);
    await using fresh = await serveScene(scene, '--max-age', '4d');
    expect((await fresh.get('/healthz')).status).toBe(200);
  });

  test('is due for a full sync by the age of its first part', async () => {
    const next = await syncLong(scene, { fullEveryMs: 2 * day });
    expect(next.of(scene.resource)).toMatchObject({ mode: 'full', completeness: 'proven' });
    expect(Date.now() - Date.parse(String(next.of(scene.resource).readSince))).toBeLessThan(day);
    expect(await scene.run('status', '--max-age', '2d')).toMatchObject({ code: 0 });
  });
});

test('a list that was read in one run is proven since the run began', async () => {
  await using scene = await setLongList(3);
  const before = Date.now();
  const { readSince, startedAt } = (await syncLong(scene)).of(scene.resource);
  expect(readSince).toBe(startedAt);
  expect(Date.parse(String(readSince))).toBeGreaterThanOrEqual(before - 1);
});

test('an incremental run is true since it began', async () => {
  await using scene = await setLongList(pages);
  await syncLong(scene, { fullEveryMs: day, now: new Date(Date.now() - day / 2) });
  scene.add(6_001);
  const next = (await syncLong(scene, { fullEveryMs: day })).of(scene.resource);
  expect(next).toMatchObject({ completeness: 'incremental', readSince: next.startedAt });
});

test('answers of a cache that are a day old make what goes on with them a day older', async () => {
  await using scene = await setLongList(pages);
  scene.service.options.headers = () => ({ age: '86400' });
  await breakOff(scene, answers);
  expect(endsOf(scene)[0]?.reason).toContain('24 hours older than the run');
  scene.service.options.headers = undefined;
  const next = await syncLong(scene);
  expect(next).toMatchObject({ code: 0 });
  const ageMs = Date.now() - Date.parse(String(next.of(scene.resource).readSince));
  expect(ageMs).toBeGreaterThan(day);
  expect(ageMs).toBeLessThan(1.1 * day);
});

test('answers of an earlier run do not count that were not needed', async () => {
  await using scene = await setLongList(pages);
  await breakOff(scene, answers, { now: new Date(Date.now() - day) });
  // The rest is in no order that can be seen, so whole readings of this run have to agree.
  scene.items.push(...scene.items.splice(500).sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1)));
  const next = await syncLong(scene);
  expect(next.of(scene.resource)).toMatchObject({ completeness: 'proven', walks: 3 });
  expect(Date.now() - Date.parse(String(next.of(scene.resource).readSince))).toBeLessThan(day / 2);
});
