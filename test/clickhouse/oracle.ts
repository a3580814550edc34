import { expect } from 'vitest';
import type { Publication } from '../../src/contract/results.ts';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { type PublishOptions, publish } from '../../src/publish/publish.ts';
import { changesTable, type PublishedTable, publishedTables } from '../../src/publish/tables.ts';
import type { SourceRow } from '../../src/store/read/publish-rows.ts';
import type { ModelMirror } from './model.ts';

export function publishModel(
  mirror: Pick<ModelMirror, 'open'>,
  target: ClickHouse,
  options: Partial<PublishOptions> = {},
): Promise<Publication> {
  return publish(mirror.open, target, {
    tenant: 'acme',
    again: false,
    replaceTenant: false,
    clock: () => new Date(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
    ...options,
  });
}

/** ClickHouse has what the mirror has: every row by every column, every change, every run, and nothing else of the tenant. */
export async function expectPublished(
  target: ClickHouse,
  mirror: ModelMirror,
  tenant = 'acme',
): Promise<void> {
  for (const table of publishedTables) {
    const expected = mirror.rowsOf(table.resource).map(row => shown(tenant, row));
    expect(await rowsOf(target, table, tenant), table.view).toEqual(expected);
  }
  const changes = mirror.runs.flatMap(run => run.changes);
  expect((await changesOf(target, tenant)).sort()).toEqual(
    changes
      .map(({ runId, changedAt, resource, recordId, operation, record }) =>
        JSON.stringify([tenant, runId, changedAt, resource, recordId, operation, record]),
      )
      .sort(),
  );
  expect(await publishedRuns(target, tenant)).toEqual(mirror.runs.map(({ runId }) => runId));
}

function shown(tenant: string, row: SourceRow): unknown[] {
  const { id, values, firstSeenRunId, changedRunId, extra, content } = row;
  return [tenant, id, ...values, firstSeenRunId, changedRunId, extra, content];
}

async function rowsOf(
  target: ClickHouse,
  { view, shown: columns }: PublishedTable,
  tenant: string,
): Promise<unknown[]> {
  const values = columns.map(({ name }) =>
    name === 'content' ? "lower(leftPad(hex(content), 32, '0'))" : name,
  );
  const rows = await target.ask(
    `SELECT toJSONString(tuple(${values.join(', ')})) FROM ${view} WHERE tenant = {tenant:String} ORDER BY id
     SETTINGS output_format_json_quote_64bit_integers = 0`,
    { tenant },
  );
  return rows.map(([row]) => JSON.parse(row ?? ''));
}

async function changesOf(target: ClickHouse, tenant: string): Promise<string[]> {
  const columns = changesTable.columns.map(({ name }) =>
    name === 'changed_at' ? "concat(replaceOne(toString(changed_at), ' ', 'T'), 'Z')" : name,
  );
  const rows = await target.ask(
    `SELECT toJSONString(tuple(${columns.join(', ')})) FROM changes FINAL WHERE tenant = {tenant:String}
     SETTINGS output_format_json_quote_64bit_integers = 0`,
    { tenant },
  );
  return rows.map(([row]) => JSON.stringify(JSON.parse(row ?? '')));
}

/** The runs that are there whole. */
export async function publishedRuns(target: ClickHouse, tenant = 'acme'): Promise<number[]> {
  const rows = await target.ask(
    'SELECT toString(run_id) FROM published_runs FINAL WHERE tenant = {tenant:String} ORDER BY run_id',
    { tenant },
  );
  return rows.map(([runId]) => Number(runId));
}
