import Database from 'better-sqlite3';
import { and, desc, eq, sql } from 'drizzle-orm';
import { getTableConfig } from 'drizzle-orm/sqlite-core';
import { describe, expect, test } from 'vitest';
import { lists, timeColumnOf } from '../../../src/contract/lists.ts';
import { columnOf, rowsTable, schemaTable } from '../../../src/store/tables/rows-table.ts';
import { connections, syncReceipts, unknownFields } from '../../../src/store/tables/schema.ts';
import {
  prepare,
  prepareArrays,
  prepareInsert,
  prepareReplace,
  prepareValue,
  select,
  words,
} from '../../../src/store/tables/statement.ts';

function database(): Database.Database {
  const sqlite = new Database(':memory:');
  sqlite.exec(`CREATE TABLE unknown_fields (resource, field, json_type, first_seen_run_id, last_seen_run_id, record_count,
    PRIMARY KEY (resource, field, json_type))`);
  return sqlite;
}

const names = ['resource', 'field', 'jsonType', 'firstSeenRunId', 'lastSeenRunId', 'recordCount'] as const;

describe('a statement that Drizzle words', () => {
  test('gives rows under the names of the selection, with their types', () => {
    const sqlite = database();
    const insert = prepareInsert(sqlite, unknownFields, ...names);
    insert.run('webhooks', "it's", 'string', 1, 2, null);
    insert.run('webhooks', 'b', 'string', 3, 4, 5);
    const { field, firstSeenRunId, resource } = unknownFields;
    const rows = prepare(sqlite, (of: string, run: number) =>
      select({ field, seen: firstSeenRunId })
        .from(unknownFields)
        .where(and(eq(resource, of), sql`${firstSeenRunId} >= ${run}`))
        .orderBy(desc(field)),
    );
    const found: { readonly field: string; readonly seen: number }[] = rows.all('webhooks', 1);
    expect(found).toEqual([
      { field: "it's", seen: 1 },
      { field: 'b', seen: 3 },
    ]);
    expect(rows.all('webhooks', 2)).toEqual([{ field: 'b', seen: 3 }]);
    const values: (number | null)[] = prepareValue(sqlite, () =>
      select({ count: unknownFields.recordCount }).from(unknownFields).where(eq(field, "it's")),
    ).all();
    expect(values).toEqual([null]);
    const arrays = prepareArrays<[], [string, number]>(sqlite, () =>
      select({ field, firstSeenRunId }).from(unknownFields).orderBy(field),
    );
    expect(arrays.all()).toEqual([
      ['b', 3],
      ["it's", 1],
    ]);
  });

  test('replaces a row with the same key if it is to', () => {
    const sqlite = database();
    const write = prepareReplace(sqlite, unknownFields, ...names);
    for (const count of [1, 2]) write.run('webhooks', 'a', 'string', 1, count, count);
    const counts = prepareValue(sqlite, () => select({ n: unknownFields.recordCount }).from(unknownFields));
    expect(counts.all()).toEqual([2]);
    expect(() =>
      prepareInsert(sqlite, unknownFields, ...names).run('webhooks', 'a', 'string', 1, 1, 1),
    ).toThrow(/UNIQUE/);
  });

  test('is refused if its values would be bound in another order than they are given', () => {
    const { leafIndex, runId } = syncReceipts;
    const turned = (a: number, b: number) =>
      select({ runId })
        .from(syncReceipts)
        .where(and(eq(leafIndex, b), eq(runId, a)));
    const twice = (a: number) => words.delete(syncReceipts).where(and(eq(leafIndex, a), eq(runId, a)));
    const sqlite = database();
    for (const prepared of [() => prepare(sqlite, turned), () => prepare(sqlite, twice)])
      expect(prepared).toThrow(/not in the order/);
  });
});

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
    if (time !== null) columns.push(`${time} integer`);
    expect(described(list.table)).toEqual([...ofEachRow, ...columns].sort());
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

  test('a table or a column that is not in the schema is an error', () => {
    expect(() => schemaTable('none')).toThrow(/no table none/);
    expect(() => columnOf(rowsTable('webhooks'), 'none')).toThrow(/no column webhooks.none/);
  });
});
