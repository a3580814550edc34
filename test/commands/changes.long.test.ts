import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { makeBigMirror } from '../support/big-mirror.ts';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, connection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

interface ChangeLine {
  runId: number;
  changedAt: string;
  resource: string;
  recordId: number;
  operation: string;
  record: SampleItem;
  before: SampleItem | null;
}

function linesOf(stdout: string): ChangeLine[] {
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as ChangeLine);
}

/** Two runs: in the second a connection is renamed, and of each kind of change there is one. */
async function twoRuns(): Promise<Scene> {
  const scene = await setScene({}, { exports: 12, collections: 4, webhooks: 2 });
  const { lists } = scene.service;
  await scene.sync();
  for (const item of [
    ...lists['document-exports'],
    ...lists.collections,
    ...lists.webhooks,
  ] as SampleItem[]) {
    const refs = [
      item.sourceConnection,
      item.destinationConnection,
      ...((item.connections as object[]) ?? []),
    ];
    for (const ref of refs as ({ id: number; name: string } | undefined)[])
      if (ref?.id === 2) ref.name = 'Renamed';
  }
  (lists['document-exports'][0] as SampleItem).sourceDocumentTitle = 'Another title';
  lists.collections.push(collection(90));
  lists.webhooks.splice(0, 1);
  (lists.webhooks[0] as SampleItem).endpoint = 'https://me:pw@hooks.example.com/2?key=another-secret';
  await scene.sync('--resource', 'document-exports', '--resource', 'collections', '--resource', 'webhooks');
  return scene;
}

describe.concurrent('changes', () => {
  test('shows the changes of the last run, with the record before and after', async () => {
    await using scene = await twoRuns();
    const { code, stdout } = await scene.run('changes', '--format', 'ndjson');
    expect(code).toBe(0);
    const lines = linesOf(stdout);
    expect(
      lines.map(({ resource, operation, recordId }) => `${operation} ${resource} ${recordId}`).sort(),
    ).toEqual([
      'insert collections 90',
      'removal webhooks 1',
      'update connections 2',
      'update document-exports 1',
      'update webhooks 2',
    ]);
    const update = lines.find(({ resource }) => resource === 'document-exports');
    // The connection was renamed by a list that went before: the old record has the old name all the same.
    const old = documentExport(1);
    expect(update?.before).toEqual({ ...old, sourceConnection: connection(2) });
    expect(update?.record).toEqual({
      ...old,
      sourceDocumentTitle: 'Another title',
      sourceConnection: { id: 2, name: 'Renamed' },
    });
    expect(lines.every(({ runId, changedAt }) => runId === 2 && Date.parse(changedAt) > 0)).toBe(true);
    expect(lines.find(({ operation }) => operation === 'removal')).toMatchObject({
      record: webhook(1),
      before: null,
    });
  });

  test('a record that comes back is inserted again, and unchanged lists add nothing', async () => {
    await using scene = await twoRuns();
    const { lists } = scene.service;
    const gone = lists.collections.pop() as SampleItem;
    await scene.sync();
    lists.collections.push(gone);
    await scene.sync();
    await scene.sync();
    const all = linesOf((await scene.run('changes', '--since-run', '1', '--format', 'ndjson')).stdout);
    const of90 = all.filter(({ resource, recordId }) => resource === 'collections' && recordId === 90);
    expect(of90.map(({ runId, operation }) => [runId, operation])).toEqual([
      [2, 'insert'],
      [3, 'removal'],
      [4, 'insert'],
    ]);
    expect(all.filter(({ runId }) => runId === 5)).toEqual([]);
    expect((await scene.run('changes')).stdout).toBe('Run 5 changed nothing.\n');
    expect((await scene.run('changes', '--since-run', '4')).stdout).toBe('Run 5 changed nothing.\n');
    expect((await scene.run('changes', '--since-run', '5')).stdout).toBe('No run has ended since run 5.\n');
  });

  test('fields that no contract names and digits beyond 2^53 arrive in the feed as they were sent', async () => {
    await using scene = await setScene({}, { exports: 2, collections: 1, webhooks: 1 });
    scene.service.lists.collections.push(
      '{"id":70,"name":"n","sourceConnection":{"id":5,"name":"five","since":1.00000000000000000001},"destinationConnection":{"name":"no id"},"big":12345678901234567890,"none":null}',
    );
    await scene.sync();
    const { stdout } = await scene.run('changes', '--format', 'ndjson', '--resource', 'collections');
    const line = stdout.split('\n').find(each => each.includes('"recordId":70'));
    expect(line).toContain(
      '"record":{"id":70,"name":"n","sourceConnection":{"id":5,"name":"five","since":1.00000000000000000001},"destinationConnection":{"name":"no id"},"big":12345678901234567890,"none":null}',
    );
  });

  test('the table fits a narrow terminal and shows no secret of an endpoint; the data formats are whole', async () => {
    await using scene = await twoRuns();
    const table = await scene.run('changes', '--since-run', '0');
    expect(table.stdout).toMatch(/^Run 1, 20\d\d-.*Z\n\+ /);
    expect(table.stdout).toMatch(/\n\nRun 2, /);
    expect(table.stdout).not.toMatch(/secret|pw@/);
    const characters = table.stdout.split('\n').map(line => [...line].length);
    expect(Math.max(...characters)).toBeLessThanOrEqual(120);
    const csv = await scene.run(
      'changes',
      '--format',
      'csv',
      '--resource',
      'webhooks',
      '--resource',
      'connections',
    );
    const rows = parse(csv.stdout, { columns: true }) as Record<string, string>[];
    expect(rows.map(row => row.operation).sort()).toEqual(['removal', 'update', 'update']);
    expect(
      rows.find(row => row.resource === 'webhooks' && row.operation === 'update')?.after_endpoint,
    ).toContain('another-secret');
  });

  test('since a time: runs that ended after it', async () => {
    await using scene = await twoRuns();
    const [first] = sqlite(scene.database, 'SELECT completed_at FROM sync_runs WHERE id = 1');
    const since = async (time: string) =>
      new Set(
        linesOf((await scene.run('changes', '--format', 'ndjson', '--since', time)).stdout).map(
          ({ runId }) => runId,
        ),
      );
    expect(await since(String(first?.completed_at))).toEqual(new Set([2]));
    expect(await since('2020-01-01')).toEqual(new Set([1, 2]));
    expect(await since('2020-01-01T00:00:00+02:00')).toEqual(new Set([1, 2]));
    expect(await since('2100-01-01 10:00')).toEqual(new Set());
  });

  test('since a time at which a run had died that the next one found: its changes were not shown until then', async () => {
    await using scene = await twoRuns();
    const [first] = sqlite(scene.database, 'SELECT completed_at FROM sync_runs WHERE id = 1');
    tamper(scene.database, "UPDATE sync_runs SET status = 'interrupted', completed_at = NULL WHERE id = 1");
    const { stdout } = await scene.run(
      'changes',
      '--format',
      'ndjson',
      '--since',
      String(first?.completed_at),
    );
    expect(new Set(linesOf(stdout).map(({ runId }) => runId))).toEqual(new Set([1, 2]));
  });

  test('says in one line what it can not do', async () => {
    await using scene = await setScene();
    expect(await scene.run('changes')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^docmirror: There is no mirror.*\n$/),
    });
    scene.service.options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
    await scene.sync('--give-up-after', '0');
    expect((await scene.run('changes')).stdout).toBe('Run 1 changed nothing.\n');
    for (const [flags, words] of [
      [['--since-run', '7'], 'there is no run 7; the newest that has ended is 1'],
      [['--since-run', 'x'], 'expected a whole number'],
      [['--since', 'yesterday'], 'expected a date or time'],
      [['--since', '2026-02-31T25:00'], 'expected a date or time'],
      [['--since', '2026-01-01', '--since-run', '1'], 'cannot be used with'],
      [['--resource', 'files'], 'Expected one of document-exports, collections, webhooks, connections'],
      [['--format', 'xml'], 'Expected one of table, ndjson, csv'],
    ] as const) {
      expect(await scene.run('changes', ...flags)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(words),
      });
    }
  });
});

describe('many changes', () => {
  test('one run of a hundred is found by indexes, in no time', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'big.sqlite');
    makeBigMirror(path, 100_000);
    for (const query of ['run_id = 50', "run_id = 50 AND resource = 'document-exports'"]) {
      const plan = sqlite(path, `EXPLAIN QUERY PLAN SELECT * FROM changes WHERE ${query}`).map(row =>
        String(row.detail),
      );
      // The names that the view gives to lists, history and connections; an array of one record is no table.
      const scans = plan.filter(line => /^SCAN [abchlnt]\b(?! VIRTUAL TABLE)/.test(line));
      expect(scans).toEqual([]);
      for (const table of ['document_exports', 'collections', 'webhooks', 'connections']) {
        expect(plan.join('\n')).toContain(`USING INDEX ${table}_changed_run_id (_changed_run_id=?)`);
      }
      expect(plan.join('\n')).toContain('USING INDEX record_history_valid_from_run_id');
      expect(plan.join('\n')).toContain('USING INDEX record_history_valid_to_run_id');
    }
    const start = performance.now();
    expect(sqlite(path, 'SELECT * FROM changes WHERE run_id = 50')).toHaveLength(56);
    expect(performance.now() - start).toBeLessThan(100);
  });

  test('a feed that is read slowly takes little memory, and one that is not read on ends quietly', async () => {
    await using folder = temporaryFolder();
    const path = join(folder.path, 'big.sqlite');
    makeBigMirror(path, 150_000);
    const flags = ['changes', '--since-run', '0', '--format', 'ndjson', '--database', path];
    const child = spawn(process.execPath, ['src/cli.ts', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    await once(child.stdout, 'readable');
    await wait(1_000);
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    expect(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(300_000);
    child.stdout.destroy();
    expect(await ended).toEqual([0, null]);
    const whole = await runCli([...flags, '--resource', 'connections']);
    expect(whole.stdout.split('\n')).toHaveLength(201);
    expect(whole.stderr).toBe('');
    expect(sqlite(path, 'PRAGMA quick_check')).toEqual([{ quick_check: 'ok' }]);
  });
});
