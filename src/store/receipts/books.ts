import type Database from 'better-sqlite3';
import { type ColumnValue, canonicalRow, LinesHash } from '../../audit/lines-hash.ts';

/** The tables with rows of a run's own: which rows these are, and which of their columns no receipt covers. */
const ownRows = [
  { table: 'sync_runs', where: 'id = ?', left: [] },
  { table: 'sync_run_resources', where: 'run_id = ? ORDER BY resource', left: [] },
  // Later runs change last_run_id, and the text can be erased. Its content hash covers it.
  { table: 'rejected_records', where: 'run_id = ? ORDER BY id', left: ['last_run_id', 'record'] },
] as const;

/** Hashes the rows that runs wrote about themselves. The hash is `books` in their receipts. */
export class Books {
  readonly #statements: readonly {
    readonly table: string;
    readonly rows: Database.Statement<[number], Record<string, ColumnValue>>;
  }[];

  constructor(sqlite: Database.Database) {
    this.#statements = ownRows.map(({ table, where, left }) => {
      // By hand: the columns that a table has in the file. A generated one adds no information.
      const columns = 'SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0';
      const names = sqlite.prepare<[string], string>(columns).pluck().all(table);
      const said = names.filter(name => !(left as readonly string[]).includes(name));
      // By hand: the columns that were found.
      const select = `SELECT ${said.map(name => `"${name}"`).join(', ')} FROM ${table} WHERE ${where}`;
      return { table, rows: sqlite.prepare(select) };
    });
  }

  /** The hash over a run's own rows, in 64 hexadecimal digits. */
  of(runId: number): string {
    const hash = new LinesHash();
    for (const { table, rows } of this.#statements)
      for (const row of rows.iterate(runId)) hash.add(`${table}\t${canonicalRow(row)}\n`);
    return hash.digest();
  }
}
