import { kept } from '../contract/lists.ts';

type Columns = Readonly<Record<string, string>>;

/** A table in ClickHouse. */
export interface TargetTable {
  readonly name: string;
  readonly columns: Columns;
  /** The arguments of ReplacingMergeTree: which one of several rows with the same sort key replaces the others. */
  readonly replacement: readonly string[];
  /** No nullable column can be in it. */
  readonly sortKey: readonly string[];
}

const word = 'LowCardinality(String)';
const tenant = { tenant: word };
const instant = "DateTime64(3, 'UTC')";

/** The tables that contain the versions of the rows of the lists and of the connections, and for each the view of the current ones. */
export const publishedTables = kept.map(({ resource, table: view, fields }) => {
  // A later contract can add to them.
  const typed = fields.map(({ kind, name, column }) => {
    if (kind === 'texts') return [name, 'Array(String)'];
    if (kind === 'connections') return [`${column}s`, 'Array(Nullable(Int64))'];
    return [column, kind === 'text' ? 'Nullable(String)' : 'Nullable(Int64)'];
  });
  const own: Columns = Object.fromEntries(typed);
  const shown: Columns = {
    ...tenant,
    id: 'Int64',
    ...own,
    _first_seen_run_id: 'Int64',
    _changed_run_id: 'Int64',
    _extra: 'Nullable(String)',
    content: 'UInt128',
  };
  return {
    resource,
    view,
    name: `${view}_rows`,
    fields: own,
    shown,
    columns: { ...shown, version: 'UInt64', removed: 'UInt8' },
    replacement: ['version', 'removed'],
    sortKey: ['tenant', 'id'],
  };
});

/** The change feed. A run does one thing to a record, or removes it and inserts another one with its id. */
export const changesTable: TargetTable = {
  name: 'changes',
  columns: {
    ...tenant,
    run_id: 'Int64',
    changed_at: `Nullable(${instant})`,
    resource: word,
    record_id: 'Int64',
    operation: word,
    record: 'String',
  },
  replacement: [],
  sortKey: ['tenant', 'run_id', 'resource', 'record_id', 'operation'],
};

/** The runs that are complete. */
export const publishedRunsTable: TargetTable = {
  name: 'published_runs',
  columns: {
    ...tenant,
    mirror_id: 'String',
    run_id: 'Int64',
    run_started_at: instant,
    published_at: instant,
  },
  replacement: ['published_at'],
  sortKey: ['tenant', 'run_id'],
};

/** All tables. The last one says which runs the others contain. */
export const targetTables: readonly TargetTable[] = [...publishedTables, changesTable, publishedRunsTable];

/** The statements for database, tables and views, in order. Again, they add new columns. `cluster` names servers that share them. */
export function ddlStatements(database: string, cluster: string | null = null): string[] {
  const onCluster = cluster === null ? '' : ` ON CLUSTER ${quoted(cluster)}`;
  const of = (name: string) => `${quoted(database)}.${quoted(name)}${onCluster}`;
  // On a cluster, each server has a table of its own, and one that sends a tenant's rows to the server where they belong.
  const local = (name: string) => (cluster === null ? name : `${name}_local`);
  const replica = cluster === null ? [] : ["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'"];
  const tables = targetTables.map(
    ({ name, columns, replacement, sortKey }) =>
      `CREATE TABLE IF NOT EXISTS ${of(local(name))} (
  ${columnTexts(columns).join(',\n  ')}
)
ENGINE = ${cluster === null ? '' : 'Replicated'}ReplacingMergeTree(${[...replica, ...replacement].join(', ')})
ORDER BY (${sortKey.join(', ')})`,
  );
  const distributed = targetTables.map(({ name }) => {
    const shards = [cluster ?? '', database, local(name)].map(quoted).join(', ');
    return `CREATE TABLE IF NOT EXISTS ${of(name)}
AS ${quoted(database)}.${quoted(local(name))}
ENGINE = Distributed(${shards}, cityHash64(tenant))`;
  });
  const additions = publishedTables.flatMap(({ name, fields }) => {
    const columns = columnTexts(fields).map(column => `ADD COLUMN IF NOT EXISTS ${column}`);
    return [...new Set([local(name), name])].map(
      each => `ALTER TABLE ${of(each)}\n  ${columns.join(',\n  ')}`,
    );
  });
  const views = publishedTables.map(
    ({ name, view, shown }) =>
      `CREATE OR REPLACE VIEW ${of(view)} AS
SELECT ${Object.keys(shown).join(', ')}
FROM ${quoted(database)}.${quoted(name)} FINAL`,
  );
  const begin = `CREATE DATABASE IF NOT EXISTS ${quoted(database)}${onCluster}`;
  return [begin, ...tables, ...(cluster === null ? [] : distributed), ...additions, ...views];
}

function columnTexts(columns: Columns): string[] {
  return Object.entries(columns).map(([name, type]) => `${name} ${type}`);
}

function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}
