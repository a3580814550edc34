import type Database from 'better-sqlite3';
import type { RecordValues } from '../../contract/content.ts';
import { type ListDefinition, type Scalar, scalarFields } from '../../contract/lists.ts';
import type { MirrorRecord } from '../../contract/record.ts';
import type { RecordNo, VersionNo } from '../../proof/record-no.ts';
import { type ListSql, rowsPerInsert } from './list-sql.ts';
import type { ListContext } from './mirror.ts';

/** The versions that the mirror lacks, in a temporary table, each under its number. */
export class Staging {
  readonly #list: ListDefinition;
  readonly #width: number;
  readonly #hasArrays: boolean;
  /** The values of versions that are not written yet. */
  readonly #values: (Scalar | Buffer)[] = [];
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #read: Database.Statement<[number], Record<string, Scalar>>;

  constructor({ list, sqlite }: ListContext, sql: ListSql) {
    [this.#list, this.#width, this.#hasArrays] = [list, sql.width, sql.hasArrays];
    this.#insert = sqlite.prepare(sql.insert);
    this.#insertMany = sqlite.prepare(sql.insertMany);
    this.#read = sqlite.prepare(sql.staged);
  }

  /** Adds a version, which `write` writes. */
  add(record: RecordNo, version: VersionNo, values: Omit<MirrorRecord, 'position' | 'mentions'>): void {
    const { scalars, key, extra, content, arrays } = values;
    const time = this.#list.identity.by === 'id' ? [] : [key];
    this.#values.push(version, record, ...time, ...scalars, extra, content);
    if (this.#hasArrays) this.#values.push(JSON.stringify(arrays));
  }

  /** Writes what was added. */
  write(): void {
    const [values, many] = [this.#values, this.#width * rowsPerInsert];
    let at = 0;
    for (; at + many <= values.length; at += many) this.#insertMany.run(values.slice(at, at + many));
    for (; at < values.length; at += this.#width) this.#insert.run(values.slice(at, at + this.#width));
    values.length = 0;
  }

  valuesOf(record: RecordNo, version: VersionNo): RecordValues {
    const staged = this.#read.get(version) ?? {};
    return {
      id: this.#list.identity.by === 'id' ? record : null,
      scalars: scalarFields(this.#list).map(({ column }) => staged[column] ?? null),
      arrays: JSON.parse(String(staged.arrays ?? '[]')),
      extra: (staged._extra ?? null) as string | null,
    };
  }
}
