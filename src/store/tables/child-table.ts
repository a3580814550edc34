import type Database from 'better-sqlite3';
import type { Scalar } from '../../contract/lists.ts';
import type { ChildWords } from './list-words.ts';
import { prepare, prepareValue } from './statement.ts';

/** The table of one array field of a list's records, one row for each element. */
export class ChildTable {
  readonly table: string;
  readonly #sqlite: Database.Database;
  readonly #words: ChildWords;
  readonly #insert: Database.Statement<[ownerId: number, position: number, value: Scalar]>;
  readonly #clear: Database.Statement<[ownerId: number]>;
  readonly #read: Database.Statement<[ownerId: number], Scalar>;

  constructor(sqlite: Database.Database, childWords: ChildWords) {
    this.table = childWords.table;
    this.#sqlite = sqlite;
    this.#words = childWords;
    this.#insert = prepare(sqlite, childWords.insert);
    this.#clear = prepare(sqlite, childWords.clear);
    this.#read = prepareValue(sqlite, childWords.read);
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
    return prepareValue(this.#sqlite, this.#words.strays).get() !== undefined;
  }

  ownersWithGaps(): number[] {
    return prepareValue(this.#sqlite, this.#words.ownersWithGaps).all();
  }

  dropStrayItems(): void {
    prepare(this.#sqlite, this.#words.dropStrays).run();
  }
}
