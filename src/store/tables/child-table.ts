import type Database from 'better-sqlite3';
import type { ArrayField, ListDefinition, Scalar } from '../../contract/lists.ts';

/** The table that holds one array of a list's records, an element a row. */
export class ChildTable {
  readonly table: string;
  readonly #sqlite: Database.Database;
  readonly #withoutOwner: string;
  readonly #ownersWithGaps: string;
  readonly #insert: Database.Statement;
  readonly #clear: Database.Statement;
  readonly #read: Database.Statement<[number], Scalar>;

  constructor(sqlite: Database.Database, list: ListDefinition, field: ArrayField) {
    const { table, column } = field;
    const owner = list.ownerColumn;
    this.table = table;
    this.#sqlite = sqlite;
    this.#withoutOwner = `FROM ${table} WHERE ${owner} NOT IN (SELECT id FROM ${list.table})`;
    this.#ownersWithGaps = `SELECT ${owner} FROM ${table} GROUP BY ${owner}
      HAVING min(position) <> 0 OR max(position) <> count(*) - 1`;
    this.#insert = sqlite.prepare(`INSERT INTO ${table} (${owner}, position, ${column}) VALUES (?, ?, ?)`);
    this.#clear = sqlite.prepare(`DELETE FROM ${table} WHERE ${owner} = ?`);
    this.#read = sqlite
      .prepare<[number], Scalar>(`SELECT ${column} FROM ${table} WHERE ${owner} = ? ORDER BY position`)
      .pluck();
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
    return this.#sqlite.prepare(`SELECT 1 ${this.#withoutOwner} LIMIT 1`).get() !== undefined;
  }

  ownersWithGaps(): number[] {
    return this.#sqlite.prepare<[], number>(this.#ownersWithGaps).pluck().all();
  }

  dropStrayItems(): void {
    this.#sqlite.exec(`DELETE ${this.#withoutOwner}`);
  }
}
