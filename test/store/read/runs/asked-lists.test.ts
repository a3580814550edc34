import { expect, test } from 'vitest';
import { resourceNames } from '../../../../src/contract/lists.ts';
import { figuresBeforeFirstRun, readFigures } from '../../../../src/store/read/runs/figures.ts';
import { askedLists, neverCompleted, readFreshness } from '../../../../src/store/read/runs/freshness.ts';
import { RunReader } from '../../../../src/store/read/runs/runs.ts';
import { MadeMirror } from '../../../support/made-mirror.ts';
import { setScene } from '../../../support/scene.ts';
import { serveScene } from '../../../support/served.ts';
import { tamper } from '../../verify/tamper.ts';

const few = { exports: 3, collections: 2, webhooks: 1 };
const listed = (lists: readonly { readonly resource: string }[]) => lists.map(({ resource }) => resource);

test('a list that no run asked for is not missing: status, health and metrics leave it out', async () => {
  await using scene = await setScene({}, few);
  scene.service.options.status = { webhooks: 403 };
  await scene.sync('--resource', 'document-exports', '--resource', 'collections');
  const wanted = ['document-exports', 'collections'];
  for (const args of [[], ['--strict'], ['--strict', scene.database]])
    expect([args, (await scene.run('status', '--max-age', '26h', ...args)).code]).toEqual([args, 0]);
  using reader = new RunReader(scene.database);
  const { lists } = readFigures(scene.database);
  for (const found of [reader.status(), readFreshness(scene.database), lists])
    expect(listed(found)).toEqual(wanted);
  {
    await using served = await serveScene(scene, '--max-age', '26h');
    const health = await served.get('/healthz');
    expect([health.status, listed(JSON.parse(await health.text()).lists)]).toEqual([200, wanted]);
  }
  // From the first run on that asks for it, it counts.
  await scene.sync('--give-up-after', '0');
  expect(listed(readFreshness(scene.database))).toEqual([...wanted, 'webhooks']);
  const { code, stdout } = await scene.run('status', '--max-age', '26h');
  expect([code, stdout]).toEqual([4, expect.stringContaining('failed, webhooks: forbidden')]);
  await using served = await serveScene(scene, '--max-age', '26h');
  expect((await served.get('/healthz')).status).toBe(503);
});

test('until a run has ended, all lists are expected', () => {
  using mirror = new MadeMirror();
  const { sqlite } = mirror;
  expect(askedLists(sqlite)).toEqual(resourceNames);
  mirror.begin([]);
  sqlite.exec("DELETE FROM sync_run_resources WHERE resource <> 'collections'");
  expect(askedLists(sqlite)).toEqual(resourceNames);
  mirror.end();
  expect(askedLists(sqlite)).toEqual(['collections']);
  // A run that died before its first list asked for some.
  sqlite.exec('DELETE FROM sync_run_resources');
  expect(askedLists(sqlite)).toEqual(resourceNames);
  expect(listed(neverCompleted)).toEqual(resourceNames);
  expect(listed(figuresBeforeFirstRun.lists)).toEqual(resourceNames);
});

test('a list is as fresh as its last completed run, from the moment that this run began to read', async () => {
  await using scene = await setScene({}, few);
  await scene.sync();
  const [before] = readFreshness(scene.database);
  scene.service.options.status = { 'document-exports': 500 };
  await scene.sync('--give-up-after', '0');
  expect(readFreshness(scene.database)[0]).toEqual(before);
  tamper(scene.database, "UPDATE sync_run_resources SET read_since = '2026-01-02T03:04:05.000Z'");
  expect(readFreshness(scene.database)[0]?.readSince).toBe('2026-01-02T03:04:05.000Z');
  // A run of 0.4 did not record it.
  tamper(scene.database, 'UPDATE sync_run_resources SET read_since = NULL');
  expect(readFreshness(scene.database)[0]?.readSince).toBe(before?.lastCompletedAt);
});

test('a run with a word that docmirror never wrote is reported as that, and no other run is', async () => {
  await using scene = await setScene({}, few);
  await scene.sync();
  using reader = new RunReader(scene.database);
  expect(reader.runs(5)[0]?.resources.map(({ mode, completeness }) => [mode, completeness])).toEqual(
    resourceNames.map(() => ['full', 'proven']),
  );
  tamper(scene.database, "UPDATE sync_run_resources SET completeness = 'sure' WHERE resource = 'webhooks'");
  expect(() => reader.runs(5)).toThrow('has the word "sure", which docmirror never wrote there');
});
