import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { type SQLiteColumn, SQLiteTable, type SQLiteTableWithColumns } from 'drizzle-orm/sqlite-core';
import { tableOf } from '../../contract/lists.ts';
import * as schema from './schema.ts';

type Common = 'id' | 'firstSeenRunId' | 'changedRunId' | 'extra' | 'content';

/** The columns that the tables of the lists and of the connections have in common. */
export type RowsTable = SQLiteTableWithColumns<{
  name: string;
  schema: undefined;
  dialect: 'sqlite';
  columns: Pick<(typeof schema.connections)['_']['columns'], Common>;
}>;

const tables = new Map<string, SQLiteTable>(
  Object.values(schema).flatMap(table => (is(table, SQLiteTable) ? [[getTableName(table), table]] : [])),
);

/** The table of the schema with that name. Throws if there is none: names are those of the registry of lists. */
export function schemaTable(name: string): SQLiteTable {
  const table = tables.get(name);
  if (table === undefined) throw new TypeError(`The schema has no table ${name}.`);
  return table;
}

/** The table of a list's rows; the table of connections for any other name. */
export function rowsTable(resource: string): RowsTable {
  return schemaTable(tableOf(resource)) as RowsTable;
}

/** A column of a table by its name in the file. */
export function columnOf(table: SQLiteTable, name: string): SQLiteColumn {
  const column = Object.values(getTableColumns(table)).find(each => each.name === name);
  if (column === undefined) throw new TypeError(`The schema has no column ${getTableName(table)}.${name}.`);
  return column;
}

/** Drizzle's name for a column of the file. */
export function keyOf(table: SQLiteTable, name: string): string {
  const columns = Object.entries(getTableColumns(table));
  return columns.find(([, column]) => column.name === name)?.[0] ?? name;
}
