import { getTableName, is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, test } from 'vitest';
import { lists, timeColumnOf } from '../../../src/contract/lists.ts';
import * as schema from '../../../src/store/tables/schema.ts';
import { connections } from '../../../src/store/tables/schema.ts';

const schemaTable = (name: string) =>
  Object.values(schema).find(table => is(table, SQLiteTable) && getTableName(table) === name) as SQLiteTable;

describe('the registry of lists and the schema', () => {
  const typeOf = {
    text: 'text',
    integer: 'integer',
    connection: 'integer',
    texts: 'text',
    connections: 'integer',
  };
  const described = (table: string) => {
    const { columns } = getTableConfig(schemaTable(table));
    return columns
      .map(column => `${column.name} ${column.getSQLType()}${column.notNull ? ' not null' : ''}`)
      .sort();
  };
  const ofEachRow = [
    'id integer not null',
    '_first_seen_run_id integer not null',
    '_changed_run_id integer not null',
    '_extra text',
    '_content blob not null',
  ];

  test.each(lists)('name the same columns for $resource, of the same types', list => {
    const own = list.fields.filter(field => !('table' in field));
    const columns = own.map(({ column, kind }) => `${column} ${typeOf[kind]}`);
    const time = timeColumnOf(list);
    const ofTime = time === null ? [] : [`${time} integer`];
    expect(described(list.table)).toEqual([...ofEachRow, ...columns, ...ofTime].sort());
    for (const field of list.fields) {
      if (!('table' in field)) continue;
      // A list of texts has no null among them; a connection can be without an id.
      const value = `${field.column} ${typeOf[field.kind]}${field.kind === 'texts' ? ' not null' : ''}`;
      const owner = [`${list.ownerColumn} integer not null`, 'position integer not null'];
      expect(described(field.table)).toEqual([...owner, value].sort());
    }
  });

  test('refer to connections in the same columns', () => {
    for (const list of lists) {
      for (const field of list.fields) {
        const table = schemaTable('table' in field ? field.table : list.table);
        const references = getTableConfig(table).foreignKeys.map(key => key.reference());
        const toConnections = references.filter(({ foreignTable }) => foreignTable === connections);
        const names = toConnections.flatMap(({ columns }) => columns.map(({ name }) => name));
        const isReference = field.kind === 'connection' || field.kind === 'connections';
        expect([field.name, names.includes(field.column)]).toEqual([field.name, isReference]);
      }
    }
  });
});
