import {
  type Column,
  type PublishedTable,
  publishedTables,
  type TargetTable,
  targetTables,
} from './tables.ts';

interface DdlOptions {
  readonly database: string;
  /** The name of a cluster whose servers share the tables, replicated and distributed by tenant; null for one server. */
  readonly cluster: string | null;
}

/**
 * The statements that make database, tables and views, in order, without semicolons. They can be run again: then they add the
 * columns of a later docmirror, and change nothing else.
 */
export function ddlStatements({ database, cluster }: DdlOptions): string[] {
  const onCluster = cluster === null ? '' : ` ON CLUSTER ${quoted(cluster)}`;
  const place = { database: quoted(database), onCluster };
  return [
    `CREATE DATABASE IF NOT EXISTS ${place.database}${onCluster}`,
    ...targetTables.flatMap(table =>
      cluster === null ? tableStatements(place, table) : clusterStatements(place, table, cluster),
    ),
    ...publishedTables.map(table => viewStatement(place, table)),
  ];
}

interface Place {
  readonly database: string;
  readonly onCluster: string;
}

function tableStatements(place: Place, table: TargetTable): string[] {
  const engine = `ReplacingMergeTree(${table.replacement.join(', ')})`;
  return [createTable(place, table.name, table, engine), ...addColumns(place, [table.name], table)];
}

/** Makes two tables on each server: its own, and one that sends a tenant's rows to the server where they belong. */
function clusterStatements(place: Place, table: TargetTable, cluster: string): string[] {
  const local = `${table.name}_local`;
  const replica = ["'/clickhouse/tables/{shard}/{database}/{table}'", "'{replica}'", ...table.replacement];
  const shards = [quoted(cluster), place.database, quoted(local), 'cityHash64(tenant)'];
  return [
    createTable(place, local, table, `ReplicatedReplacingMergeTree(${replica.join(', ')})`),
    `CREATE TABLE IF NOT EXISTS ${place.database}.${quoted(table.name)}${place.onCluster}\n` +
      `AS ${place.database}.${quoted(local)}\nENGINE = Distributed(${shards.join(', ')})`,
    ...addColumns(place, [local, table.name], table),
  ];
}

function createTable(place: Place, name: string, { columns, sortKey }: TargetTable, engine: string): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${place.database}.${quoted(name)}${place.onCluster} (\n` +
    `  ${columns.map(columnText).join(',\n  ')}\n` +
    `)\nENGINE = ${engine}\nORDER BY (${sortKey.join(', ')})`
  );
}

function addColumns(place: Place, names: readonly string[], table: TargetTable): string[] {
  const fields = publishedTables.find(({ name }) => name === table.name)?.fields ?? [];
  const additions = fields.map(column => `ADD COLUMN IF NOT EXISTS ${columnText(column)}`);
  if (additions.length === 0) return [];
  return names.map(
    name => `ALTER TABLE ${place.database}.${quoted(name)}${place.onCluster}\n  ${additions.join(',\n  ')}`,
  );
}

function viewStatement(place: Place, { name, view, shown }: PublishedTable): string {
  return (
    `CREATE OR REPLACE VIEW ${place.database}.${quoted(view)}${place.onCluster} AS\n` +
    `SELECT ${shown.map(column => column.name).join(', ')}\nFROM ${place.database}.${quoted(name)} FINAL`
  );
}

function columnText({ name, type }: Column): string {
  return `${name} ${type}`;
}

function quoted(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}
