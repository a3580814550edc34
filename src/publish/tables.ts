import { arrayFields, type ListDefinition, lists, scalarFields } from '../contract/lists.ts';

/** A column and its type as ClickHouse itself writes it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** How to make the tables, as the end of a sentence. */
export const howToMake = (database: string): string =>
  `make them with: docmirror publish clickhouse --print-ddl --target-database ${database} | clickhouse-client --multiquery`;

/** A table in ClickHouse. */
export interface TargetTable {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The arguments of ReplacingMergeTree: which one of several rows with the same sort key replaces the others. */
  readonly replacement: readonly string[];
  /** No nullable column can be in it. */
  readonly sortKey: readonly string[];
}

/** A table that contains the versions of a list's rows, and the view of the current ones. */
export interface PublishedTable extends TargetTable {
  /** The service's own word for the list, or `connections`. */
  readonly resource: string;
  readonly view: string;
  /** The list's own columns. A later contract can add to them. */
  readonly fields: readonly Column[];
  /** The columns of the view. */
  readonly shown: readonly Column[];
}

const tenant: Column = { name: 'tenant', type: 'LowCardinality(String)' };
const word = 'LowCardinality(String)';
const instant = "DateTime64(3, 'UTC')";

const provenance: readonly Column[] = [
  { name: '_first_seen_run_id', type: 'Int64' },
  { name: '_changed_run_id', type: 'Int64' },
  { name: '_extra', type: 'Nullable(String)' },
  { name: 'content', type: 'UInt128' },
];

/** The lists in the order of the contract, then the connections. A new field of the contract is a new column. */
export const publishedTables: readonly PublishedTable[] = [
  ...lists.map(list => rowsTable(list.resource, list.table, fieldColumns(list))),
  rowsTable('connections', 'connections', [{ name: 'name', type: 'Nullable(String)' }]),
];

/** The change feed. A run does one thing to a record, or removes it and inserts another one with its id. */
export const changesTable: TargetTable = {
  name: 'changes',
  columns: [
    tenant,
    { name: 'run_id', type: 'Int64' },
    { name: 'changed_at', type: `Nullable(${instant})` },
    { name: 'resource', type: word },
    { name: 'record_id', type: 'Int64' },
    { name: 'operation', type: word },
    { name: 'record', type: 'String' },
  ],
  replacement: [],
  sortKey: ['tenant', 'run_id', 'resource', 'record_id', 'operation'],
};

/** The runs that are complete. */
export const publishedRunsTable: TargetTable = {
  name: 'published_runs',
  columns: [
    tenant,
    { name: 'mirror_id', type: 'String' },
    { name: 'run_id', type: 'Int64' },
    { name: 'run_started_at', type: instant },
    { name: 'published_at', type: instant },
  ],
  replacement: ['published_at'],
  sortKey: ['tenant', 'run_id'],
};

/** All tables. The last one says which runs the others contain. */
export const targetTables: readonly TargetTable[] = [...publishedTables, changesTable, publishedRunsTable];

function rowsTable(resource: string, view: string, fields: readonly Column[]): PublishedTable {
  const shown = [tenant, { name: 'id', type: 'Int64' }, ...fields, ...provenance];
  return {
    resource,
    view,
    name: `${view}_rows`,
    fields,
    shown,
    columns: [...shown, { name: 'version', type: 'UInt64' }, { name: 'removed', type: 'UInt8' }],
    replacement: ['version', 'removed'],
    sortKey: ['tenant', 'id'],
  };
}

function fieldColumns(list: ListDefinition): Column[] {
  const scalars = scalarFields(list).map(({ kind, column }) => ({
    name: column,
    type: kind === 'text' ? 'Nullable(String)' : 'Nullable(Int64)',
  }));
  const arrays = arrayFields(list).map(({ kind, name, column }) =>
    kind === 'texts'
      ? { name, type: 'Array(String)' }
      : { name: `${column}s`, type: 'Array(Nullable(Int64))' },
  );
  return [...scalars, ...arrays];
}

/**
 * The statements that make database, tables and views, in order, without semicolons. They can be run again: then they add the columns of a
 * later docmirror, and change nothing else.
 *
 * @param cluster servers that share the tables, replicated and distributed by tenant; null for one server.
 */
export function ddlStatements(database: string, cluster: string | null = null): string[] {
  const onCluster = cluster === null ? '' : ` ON CLUSTER ${quoted(cluster)}`;
  const inDatabase = (name: string) => `${quoted(database)}.${quoted(name)}`;
  const create = (name: string, { columns, sortKey }: TargetTable, engine: string) =>
    `CREATE TABLE IF NOT EXISTS ${inDatabase(name)}${onCluster} (\n  ${columns.map(columnText).join(',\n  ')}\n)\n` +
    `ENGINE = ${engine}\nORDER BY (${sortKey.join(', ')})`;
  const tables = targetTables.flatMap(table => {
    if (cluster === null)
      return [create(table.name, table, `ReplacingMergeTree(${table.replacement.join(', ')})`)];
    // Each server has a table of its own, and one that sends a tenant's rows to the server where they belong.
    const local = `${table.name}_local`;
    const replica = ["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'", ...table.replacement];
    const shards = `${quoted(cluster)}, ${quoted(database)}, ${quoted(local)}, cityHash64(tenant)`;
    return [
      create(local, table, `ReplicatedReplacingMergeTree(${replica.join(', ')})`),
      `CREATE TABLE IF NOT EXISTS ${inDatabase(table.name)}${onCluster}\nAS ${inDatabase(local)}\nENGINE = Distributed(${shards})`,
    ];
  });
  const additions = publishedTables.flatMap(({ name, fields }) => {
    const columns = fields.map(column => `ADD COLUMN IF NOT EXISTS ${columnText(column)}`).join(',\n  ');
    const names = cluster === null ? [name] : [`${name}_local`, name];
    return names.map(each => `ALTER TABLE ${inDatabase(each)}${onCluster}\n  ${columns}`);
  });
  const views = publishedTables.map(
    ({ name, view, shown }) =>
      `CREATE OR REPLACE VIEW ${inDatabase(view)}${onCluster} AS\n` +
      `SELECT ${shown.map(column => column.name).join(', ')}\nFROM ${inDatabase(name)} FINAL`,
  );
  return [`CREATE DATABASE IF NOT EXISTS ${quoted(database)}${onCluster}`, ...tables, ...additions, ...views];
}

function columnText({ name, type }: Column): string {
  return `${name} ${type}`;
}

function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}
