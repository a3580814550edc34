import type Database from 'better-sqlite3';
import { count, eq, max, min, notInArray, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { ArrayField, ListDefinition, Scalar } from '../../contract/lists.ts';
import { columnOf, keyOf, rowsTable, schemaTable } from './rows-table.ts';
import { marks, prepare, prepareValue, select, textOf, words } from './statement.ts';

/** The table that holds one array of a list's records, an element a row. */
export class ChildTable {
  readonly table: string;
  readonly #insert: Database.Statement<[ownerId: number, position: number, value: Scalar]>;
  readonly #clear: Database.Statement<[ownerId: number]>;
  readonly #read: Database.Statement<[ownerId: number], Scalar>;
  readonly #strays: Database.Statement<[], number>;
  readonly #ownersWithGaps: Database.Statement<[], number>;
  readonly #dropStrays: Database.Statement<[]>;

  constructor(sqlite: Database.Database, list: ListDefinition, field: ArrayField) {
    this.table = field.table;
    const table = schemaTable(field.table);
    const [owner, position, value] = [list.ownerColumn, 'position', field.column].map(name =>
      columnOf(table, name),
    ) as [SQLiteColumn, SQLiteColumn, SQLiteColumn];
    const owners = rowsTable(list.resource);
    const ofNone = notInArray(owner, words.select({ id: owners.id }).from(owners));
    const [ownerId, at, item] = marks(3);
    const values = {
      [keyOf(table, list.ownerColumn)]: ownerId,
      [keyOf(table, 'position')]: at,
      [keyOf(table, field.column)]: item,
    };
    this.#insert = sqlite.prepare(textOf(words.insert(table).values(values)));
    this.#clear = prepare(sqlite, (id: number) => words.delete(table).where(eq(owner, id)));
    this.#read = prepareValue(sqlite, (id: number) =>
      select({ value: sql<Scalar>`${value}` })
        .from(table)
        .where(eq(owner, id))
        .orderBy(position),
    );
    const ownerOf: SQL<number> = sql`${owner}`;
    this.#strays = prepareValue(sqlite, () => select({ id: ownerOf }).from(table).where(ofNone).limit(1));
    this.#ownersWithGaps = prepareValue(sqlite, () =>
      select({ id: ownerOf })
        .from(table)
        .groupBy(owner)
        .having(or(sql`${min(position)} <> 0`, sql`${max(position)} <> ${count()} - 1`)),
    );
    this.#dropStrays = prepare(sqlite, () => words.delete(table).where(ofNone));
  }

  insert(ownerId: number, values: readonly Scalar[]): void {
    for (const [position, value] of values.entries()) this.#insert.run(ownerId, position, value);
  }

  remove(ownerId: number): void {
    this.#clear.run(ownerId);
  }

  replace(ownerId: number, values: readonly Scalar[]): void {
    this.remove(ownerId);
    this.insert(ownerId, values);
  }

  read(ownerId: number): Scalar[] {
    return this.#read.all(ownerId);
  }

  hasItemsOfNone(): boolean {
    return this.#strays.get() !== undefined;
  }

  ownersWithGaps(): number[] {
    return this.#ownersWithGaps.all();
  }

  dropStrayItems(): void {
    this.#dropStrays.run();
  }
}
