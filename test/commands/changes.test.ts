import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { tamper } from '../store/verify/tamper.ts';
import { sqlite } from '../support/run-cli.ts';
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
  tamper(scene.database, "UPDATE sync_runs SET completed_at = '2026-01-01T00:00:01.000Z' WHERE id = 1");
  expect(await since('24h')).toEqual(new Set([2]));
  expect(await since('90000d')).toEqual(new Set([1, 2]));
  // A run that had died then was found by the next one: its changes were not shown until then.
  tamper(scene.database, "UPDATE sync_runs SET status = 'interrupted', completed_at = NULL WHERE id = 1");
  expect(await since(String(first?.completed_at))).toEqual(new Set([1, 2]));
});

test('says in one line what it can not do', async () => {
  await using scene = await setScene();
  expect(await scene.run('changes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^docmirror: There is no mirror.*\n$/),
  });
  scene.service.options.status = { 'document-exports': 500, collections: 500, webhooks: 500 };
  await scene.sync('--give-up-after', '0');
  expect((await scene.run('changes')).stdout).toBe('Nothing changed from run 0 to run 1.\n');
  for (const [flags, words] of [
    [['--since-run', '7'], 'there is no run 7; the newest that has ended is 1'],
    [['--since-run', 'x'], 'expected a whole number'],
    [['--since', 'yesterday'], 'expected a date or time'],
    [['--since', '2026-02-31T25:00'], 'expected a date or time'],
    [['--since', '2026-01-01', '--since-run', '1'], 'cannot be used with'],
    [['--resource', 'files'], 'Expected one of document-exports, collections, webhooks, connections'],
  ] as const) {
    expect(await scene.run('changes', ...flags)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
  }
});

test('as CSV are flat: a column a field before and after, names beside ids, and what changed', async () => {
  await using scene = await setScene({}, { exports: 4, collections: 2, webhooks: 2 });
  const { lists } = scene.service;
  await scene.sync();
  const [first, gone] = lists.webhooks as [SampleItem, SampleItem];
  const { description } = first;
  first.description = null;
  lists.webhooks.splice(1, 1);
  lists.collections.push(
    '{"id":80,"name":"=1+1","sourceConnection":{"id":1,"name":"Connection 1"},"size":12345678901234567890}',
  );
  await scene.sync();
  const { stdout } = await scene.run('changes', '--format', 'csv');
  const rows = parse(stdout, { columns: true }) as Record<string, string>[];
  const rowOf = (operation: string, resource: string) =>
    rows.find(row => row.operation === operation && row.resource === resource);
  expect(rowOf('insert', 'collections')).toMatchObject({
    run_id: '2',
    record_id: '80',
    changed_fields: '',
    is_erased: '0',
    before_name: '',
    after_name: '=1+1',
    after_source_connection_id: '1',
    after_source_connection_name: 'Connection 1',
    after_destination_connection_id: '',
    after_extra: '{"size":12345678901234567890}',
    after_endpoint: '',
  });
  const links = first.connections as { id: number; name: string }[];
  expect(rowOf('update', 'webhooks')).toMatchObject({
    changed_fields: '["description"]',
    before_description: description,
    after_description: '',
    after_connection_ids: JSON.stringify(links.map(({ id }) => id)),
    after_connection_names: JSON.stringify(links.map(({ name }) => name)),
    after_events: JSON.stringify(first.events),
  });
  const removed = { before_endpoint: gone.endpoint, after_endpoint: '', changed_fields: '' };
  expect(rowOf('removal', 'webhooks')).toMatchObject(removed);
});
