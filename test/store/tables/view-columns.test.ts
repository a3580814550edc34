import { is } from 'drizzle-orm';
import { getTableConfig, getViewConfig, SQLiteTable, SQLiteView } from 'drizzle-orm/sqlite-core';
import { expect, test } from 'vitest';
import * as schema from '../../../src/schema.ts';
import { openInMemory } from '../../../src/store/file/open-to-write.ts';

interface Declared {
  readonly name: string;
  readonly columns: readonly string[];
}

function declaredIn(relation: unknown): Declared {
  if (is(relation, SQLiteTable)) {
    const { name, columns } = getTableConfig(relation);
    return {
      name,
      columns: columns.map(column => `${column.name} ${column.getSQLType()} ${column.notNull}`),
    };
  }
  if (!is(relation, SQLiteView)) throw new TypeError('It is neither a table nor a view.');
  const { name, selectedFields } = getViewConfig(relation);
  const columns = Object.values(selectedFields as Record<string, { name: string; getSQLType(): string }>);
  return { name, columns: columns.map(column => `${column.name} ${column.getSQLType()}`) };
}

test('docmirror/schema declares the tables and views of a mirror as they are, without those of book-keeping', () => {
  using mirror = openInMemory();
  const found = mirror.sqlite
    .prepare<[], { name: string; type: string }>(
      `SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')
       AND substr(name, 1, 1) <> '_' AND name <> 'sqlite_sequence'`,
    )
    .all();
  const columnsOf = mirror.sqlite.prepare<[string, string], string>(
    `SELECT name || ' ' || iif(type LIKE 'INT%', 'integer', lower(type))
       || iif(? = 'table', iif("notnull", ' true', ' false'), '')
     FROM pragma_table_xinfo(?)`,
  );
  const actual = found.map(({ name, type }) => ({ name, columns: columnsOf.pluck().all(type, name) }));
  const sorted = (relations: readonly Declared[]) =>
    relations
      .map(({ name, columns }) => ({ name, columns: columns.toSorted() }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  expect(sorted(Object.values(schema).map(declaredIn))).toEqual(sorted(actual));
});
