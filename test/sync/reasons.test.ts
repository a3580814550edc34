import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { labelledFigures, metricsText } from '../../src/serve/metrics.ts';
import { putKept } from '../support/kept.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { webhook } from '../support/stand-in.ts';

// What a run found out about a list is told everywhere by the same codes and facts.

const found = {
  'document-exports': [
    { code: 'page_failed', count: expect.any(Number), pages: expect.arrayContaining([7]), pageSize: 20 },
  ],
  collections: [{ code: 'record_rejected', count: 1 }],
  webhooks: [{ code: 'removals_withheld', count: 30, limit: 20, why: 'limit' }],
};
const codes = {
  'document-exports': 'page_failed',
  collections: 'record_rejected',
  webhooks: 'removals_withheld',
};
const names = Object.keys(found) as (keyof typeof found)[];

test('a failed page, a rejected record and withheld removals have their codes in JSON, column, view, receipt and metric', async () => {
  await using scene = await setScene({ maxPageSize: 20 }, { exports: 300 });
  const { lists, options } = scene.service;
  lists.webhooks = Array.from({ length: 40 }, (_, at) => webhook(at + 1));
  const settings = ['--full', '--max-removals', '1%', '--give-up-after', '0'];
  const before = await scene.sync(...settings);
  for (const name of names) expect(before.of(name).reasons).toEqual([]);

  options.faults = ({ resource, pageNo, pageSize }) => {
    const size = Math.min(pageSize ?? 20, 20);
    const begin = ((pageNo ?? 1) - 1) * size;
    const isBroken = begin <= 130 && 130 < begin + size;
    return resource === 'document-exports' && isBroken ? { kind: 'status', status: 500 } : undefined;
  };
  lists.collections.push('"no object"');
  lists.webhooks.splice(0, 30);
  const synced = await scene.sync(...settings);
  expect(synced.code).toBe(3);
  const [run] = JSON.parse((await scene.run('runs', '--json')).stdout);
  const status = JSON.parse((await scene.run('status', '--json')).stdout);
  const [receipt] = sqlite(scene.database, 'SELECT receipt FROM sync_receipts ORDER BY leaf_index DESC');
  const stated = JSON.parse(String(receipt?.receipt));
  const metrics = metricsText([labelledFigures(scene.database, {})]);
  for (const name of names) {
    const of = (list: { resource: string }) => list.resource === name;
    expect(synced.of(name).reasons).toEqual(found[name]);
    expect(run.resources.find(of).reasons).toEqual(found[name]);
    expect(status.resources.find(of).lastRun.reasons).toEqual(found[name]);
    expect(stated.lists.find(of).reasons).toEqual(found[name]);
    const [row] = sqlite(
      scene.database,
      `SELECT reasons, (SELECT reason_codes FROM sync_status s WHERE s.resource = l.resource) AS codes
       FROM sync_run_resources l WHERE run_id = 2 AND resource = '${name}'`,
    );
    expect(JSON.parse(String(row?.reasons))).toEqual(found[name]);
    expect(row?.codes).toBe(codes[name]);
    expect(metrics).toContain(
      `docmirror_list_finding{resource="${name}",code="${codes[name]}",accepted="false"} 1\n`,
    );
    const help = await scene.run('help', codes[name]);
    expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w{][^\n]*\. [A-Z]/) });
  }
  expect(stated.rejected.count).toBe(1);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test.each([
  ['reasons', `UPDATE sync_run_resources SET reasons = '[]' WHERE resource = 'collections'`, 'reasons'],
  ['reasons', `UPDATE sync_run_resources SET reasons = 'no JSON' WHERE resource = 'collections'`, 'reasons'],
  [
    'reasons',
    `UPDATE sync_run_resources SET reasons = '[{"code":"odd"},7]' WHERE resource = 'collections'`,
    'reasons',
  ],
  ['rejected records', `UPDATE rejected_records SET reason = 'none'`, 'rejected'],
])('verify finds altered %s: %s', async (_, statement, member) => {
  await using scene = await setScene();
  scene.service.lists.collections.push('"no object"');
  await scene.sync();
  new Database(scene.database).exec(statement).close();
  const { code, stdout } = await scene.run('verify');
  expect({ code, stdout }).toEqual({ code: 4, stdout: expect.stringContaining(member) });
  for (const words of [['status'], ['runs', '--json'], ['report', '--out', 'report.html']])
    expect(await scene.run(...words)).toMatchObject({ code: 0 });
  expect(sqlite(scene.database, 'SELECT reason_codes FROM sync_status')).toHaveLength(3);
});

test('the runs of 0.5.0 have no reasons, and their receipts hold after the first run', async () => {
  await using scene = await setScene();
  putKept('mirror-0.5.0', scene.database);
  const shape = () => sqlite(scene.database, 'PRAGMA user_version')[0]?.user_version;
  expect(shape()).toBe(8);
  const { code, stderr } = await scene.run('sync', '--accept-new-base-url', '--allow-mass-removal');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('before-0.5.0') });
  expect(shape()).toBe(9);
  expect(sqlite(`${scene.database}.before-0.5.0`, 'PRAGMA user_version')).toEqual([{ user_version: 8 }]);
  const runs: { resources: { reasons: { code: string }[] | null }[] }[] = JSON.parse(
    (await scene.run('runs', '--json')).stdout,
  );
  const [newest, ...older] = runs.map(({ resources }) => resources.map(({ reasons }) => reasons));
  // The stand-in has none of the further fields of that service.
  expect(newest?.map(reasons => [...new Set(reasons?.map(({ code }) => code))])).toEqual([
    ['field_gone'],
    ['field_gone'],
    [],
  ]);
  expect(older.flat().every(reasons => reasons === null)).toBe(true);
  expect(older.length).toBeGreaterThan(0);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('a wait that the service asks for is kept as a time, and an error of all lists is told once with what to do', async () => {
  await using scene = await setScene({
    faults: () => ({ kind: 'status', status: 429, headers: { 'retry-after': '7200' } }),
  });
  const { stdout } = await scene.run('sync', '--give-up-after', '0');
  const shared = `document-exports, collections, webhooks: GET ${scene.service.url}/v2/… answered 429: too many requests; the service`;
  expect(stdout).toContain(shared);
  expect(stdout).toContain('What to do:\n- Wait until the time that the message names');
  const { resources } = JSON.parse((await scene.run('status', '--json')).stdout);
  for (const { lastRun } of resources) {
    expect(Date.parse(lastRun.retryAfterUntil) - Date.now()).toBeGreaterThan(7_000_000);
    expect(lastRun.reasons).toEqual([]);
  }
  await scene.run('report', '--out', 'report.html');
  const report = readFileSync(join(scene.folder, 'report.html'), 'utf8');
  expect(report).toContain('Wait until the time that the message names');
});
