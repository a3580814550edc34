import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sum } from '../../src/contract/sum.ts';
import type { ListContext } from '../../src/store/write/mirror.ts';
import {
  breakOff,
  differenceOf,
  endsOf,
  failAfter,
  type LongList,
  setLongList,
  syncBriefly,
  syncLong,
  takeRequests,
} from '../support/ended-early.ts';
import { expectExactMirror, expectSound } from '../support/oracle.ts';
import { feedOf, sqlite } from '../support/run-cli.ts';

const [pages, answers] = [30, 26];
const day = 86_400_000;
const full = { fullEveryMs: day };

describe('a list of which not one page came', () => {
  test.each([0, 30])('keeps its %i pages, and nothing is written', async before => {
    await using scene = await setLongList(before);
    if (before > 0) await syncLong(scene);
    const rows = before * scene.size;
    scene.items.length = 0;
    await breakOff(scene, 0);
    expect(endsOf(scene).at(-1)).toMatchObject({
      status: 'failed',
      completeness: null,
      since: null,
      reason: null,
      rows,
      inserted: 0,
      removed: 0,
    });
  });
});

describe('a reading that ends early', () => {
  test('removes no row that only one answer has not shown', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene);
    scene.items.splice(100, 10);
    await breakOff(scene, answers);
    expect(endsOf(scene).at(-1)).toMatchObject({ completeness: 'unproven', removed: 0, rows: 600 });
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('updates rows whose text has changed, and the history has the old text', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene);
    Object.assign(scene.items[100] as object, { sourceDocumentTitle: 'new' });
    await breakOff(scene, answers);
    expect(endsOf(scene).at(-1)).toMatchObject({ completeness: 'unproven', inserted: 0, updated: 1 });
    expect(differenceOf(scene)).toEqual({ missing: 0, extra: 0 });
    expect(feedOf(scene.database, scene.resource, 2)).toEqual({ update: 1 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('writes nothing if it was incremental, and the next one takes all that came', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene, full);
    for (let n = 1; n <= 100; n++) scene.add(6_000 + n);
    await breakOff(scene, 2, full);
    expect(endsOf(scene)[1]).toMatchObject({
      ...{ status: 'failed', mode: 'incremental', completeness: null, since: null },
      ...{ rows: 600, inserted: 0 },
    });
    const next = await syncLong(scene, full);
    expect(next.of(scene.resource)).toMatchObject({ completeness: 'incremental', inserted: 100 });
    expectExactMirror(scene.database, scene.service);
  });

  test('is no reason for an incremental run: the next one is full', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene, full);
    await breakOff(scene, answers);
    expect((await syncLong(scene, full)).of(scene.resource)).toMatchObject({ completeness: 'proven' });
    expect((await syncLong(scene, full)).of(scene.resource)).toMatchObject({ completeness: 'incremental' });
  });

  test('whose rows do not have the sum that was read is not kept, and the next run begins from the first page', async () => {
    await using scene = await setLongList(pages);
    await breakOff(scene, answers);
    // A sum that is wrong by one content.
    const onList = (list: ListContext) =>
      Object.assign(list, { sumBefore: list.sumBefore.plus(Sum.of(Buffer.alloc(16, 7))) });
    failAfter(scene, 6);
    const { of } = await syncBriefly(scene, { onList });
    failAfter(scene);
    expect(of(scene.resource)).toMatchObject({ error: { code: 'unauthorized' }, completeness: null });
    expect(endsOf(scene).map(({ rows }) => rows)).toEqual([endsOf(scene)[0]?.rows, endsOf(scene)[0]?.rows]);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expect(takeRequests(scene).length).toBeGreaterThanOrEqual(pages);
    expectExactMirror(scene.database, scene.service);
  });

  test('is kept although the deadline is over meanwhile', async () => {
    await using scene = await setLongList(pages);
    const { service, database, resource } = scene;
    let n = 0;
    let writer: Database.Database | undefined;
    service.onRequest = async () => {
      if (++n <= answers) return;
      // Nobody else can write until a second after the deadline.
      writer ??= new Database(database).exec('BEGIN IMMEDIATE');
      await new Promise(resolve => setTimeout(resolve, 3_000));
    };
    setTimeout(() => writer?.close(), 2_500);
    const synced = await scene.sync('--resource', resource, '--deadline', '1500ms');
    service.onRequest = undefined;
    expect(synced.code).toBe(1);
    expect(synced.of(resource)).toMatchObject({ status: 'cancelled', completeness: 'unproven' });
    expect(differenceOf(scene).missing).toBeLessThan(400);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expect(takeRequests(scene).length).toBeLessThan(pages - 5);
    expectExactMirror(scene.database, scene.service);
    expectSound(scene.database);
  });
});

describe('what people see of a list that was broken off', () => {
  let scene: LongList;
  const seen: Record<string, string> = {};
  beforeAll(async () => {
    scene = await setLongList(pages);
    const { resource } = scene;
    failAfter(scene, answers);
    const ofRun = await scene.run('sync', '--resource', resource, '--give-up-after', '700ms');
    seen['the summary'] = ofRun.stdout;
    seen['the log'] = ofRun.stderr;
    seen.status = (await scene.run('status')).stdout;
    await scene.run('report', '--out', 'report.html');
    seen['the report'] = await readFile(join(scene.folder, 'report.html'), 'utf8');
    seen.runs = (await scene.run('runs')).stdout;
    failAfter(scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  test('the summary says how much is kept, and that the next run goes on from there', () => {
    expect(seen['the summary']).toMatch(
      /answered 401: .* \[unauthorized\] Kept \d{3} of 600 records: the reading ended early; the next run goes on from there\./,
    );
  });

  test('nothing says that the mirror keeps what it had', () => {
    for (const [where, text] of Object.entries(seen)) expect(text, where).not.toContain('keeps what it had');
  });

  test('the report says it, too', () => {
    expect(seen['the report']).toContain('the next run goes on from there');
  });

  test('status and its view say what ended it, and how much is kept', () => {
    expect(seen.status).toContain('failed: unauthorized');
    expect(seen.status).toMatch(
      /document-exports: Kept \d{3} of 600 records: the reading ended early; the next run goes on from there\./,
    );
    const [view] = sqlite(
      scene.database,
      `SELECT verdict FROM sync_status WHERE resource = '${scene.resource}'`,
    );
    expect(view?.verdict).toMatch(/^failed: .* \(kept \d{3} of 600 records\)$/);
  });

  test('the log says it, too', () => {
    const entry = String(seen['the log'])
      .split('\n')
      .find(line => line.includes('list failed')) as string;
    expect(JSON.parse(entry)).toMatchObject({
      completeness: 'unproven',
      reason: 'the reading ended early; the next run goes on from there',
      error: { code: 'unauthorized' },
    });
  });

  test.each(['server_error', 'deadline', 'overloaded', 'network'])('also after %s', async code => {
    await using other = await setLongList(pages);
    const fault = { server_error: 500, overloaded: 503 }[code];
    failAfter(other, answers, fault ? { kind: 'status', status: fault } : { kind: 'reset' });
    const isLate = code === 'deadline';
    const patience = isLate ? ['--deadline', '2s'] : ['--give-up-after', '700ms'];
    const args = ['sync', '--resource', other.resource, ...patience];
    const { stdout } = await other.run(...args);
    expect(stdout).toContain(`[${code}] Kept `);
    expect(stdout).not.toContain('keeps what it had');
  });
});
