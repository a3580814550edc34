import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resourceNames } from '../../../../src/contract/lists.ts';
import { openForWriting } from '../../../../src/store/file/open-to-write.ts';
import { readFigures } from '../../../../src/store/read/runs/figures.ts';
import { readFreshness } from '../../../../src/store/read/runs/freshness.ts';
import { RunReader } from '../../../../src/store/read/runs/runs.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/run-cli.ts';

/** Three years of a run an hour. */
const runCount = 26_000;

let folder: TemporaryFolder;
let path: string;

beforeAll(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'mirror.sqlite');
  const { sqlite, close } = openForWriting(path);
  const time = (hours: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', '2026-01-01', ${hours})`;
  const lists = resourceNames.map(name => `SELECT '${name}' AS resource`).join(' UNION ALL ');
  sqlite.exec(`BEGIN;
    INSERT INTO sync_runs (id, status, trigger, started_at, completed_at, docmirror_version, base_url)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${runCount})
      SELECT i, iif(i % 100 = 0, 'failed', 'completed'), 'schedule', ${time("i || ' hours'")}, ${time("i || ' hours', '1 minute'")}, 'test', 'https://many.example' FROM n;
    INSERT INTO sync_run_resources
      (run_id, resource, status, mode, completeness, started_at, completed_at, read_since, record_count, inserted, requests)
      SELECT id, resource, status, 'full', iif(status = 'failed', NULL, 'proven'), started_at, completed_at, started_at, 7, 1, 2
      FROM sync_runs, (${lists});
    COMMIT`);
  close();
});
afterAll(() => folder[Symbol.asyncDispose]());

/** The processor time of some work, in milliseconds. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test('how fresh the lists are takes 20 ms at most, however many runs there were', () => {
  expect(readFreshness(path).map(({ resource, readSince }) => [resource, readSince])).toEqual(
    resourceNames.map(resource => [resource, '2028-12-19T07:00:00.000Z']),
  );
  const rounds = 20;
  const taken = cpuMs(() => {
    for (let round = 0; round < rounds; round++) readFreshness(path);
  });
  expect(taken / rounds).toBeLessThan(20);
});

test('20,000 runs and their lists are read in 2 s at most', () => {
  using reader = new RunReader(path);
  let runs: ReturnType<typeof reader.runs> = [];
  const taken = cpuMs(() => {
    runs = reader.runs(20_000);
  });
  expect(taken).toBeLessThan(2_000);
  expect([runs.length, runs[0]?.runId, runs.at(-1)?.runId]).toEqual([20_000, runCount, 6_001]);
  expect(runs[0]?.resources.map(({ resource, runId }) => [resource, runId])).toEqual(
    resourceNames.map(resource => [resource, runCount]),
  );
  expect(runs[0]).toMatchObject({ status: 'failed', error: null, labels: {} });
});

test('figures count all runs, and show the last one', () => {
  const { runs, lists } = readFigures(path);
  expect(runs).toContainEqual({ status: 'failed', trigger: 'schedule', count: runCount / 100 });
  for (const list of lists)
    expect(list).toMatchObject({
      numbers: {
        inserted_total: runCount,
        requests_total: 2 * runCount,
        run_seconds_total: 60 * runCount,
        last_run_duration_seconds: 60,
        records: 7,
      },
      completeness: null,
    });
});
