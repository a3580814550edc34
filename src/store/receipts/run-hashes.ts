import type Database from 'better-sqlite3';
import { type ColumnValue, canonicalRow, LinesHash } from '../../audit/hashes.ts';
import { tableOf } from '../../contract/lists.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';

/** The kinds of change, named as in the view `changes`, in the order in which they are hashed. */
const operations = ['insert', 'removal', 'update'] as const;
type Operation = (typeof operations)[number];
type Row = Record<string, ColumnValue>;
type OfRun = { readonly run: number };

/** The changes of one run in one list, or in the connections. */
export interface RunChanges {
  /** How many of these changes the view `changes` has. */
  readonly count: number;
  /** The receipt's `changes`, 64 hexadecimal digits. */
  readonly changes: string;
  /** The receipt's `ended`, 64 hexadecimal digits. */
  readonly ended: string;
  /** The contents that the run put into the list. */
  readonly began: Sum;
  /** The contents that it took out of the list: those of records that it removed, and the old ones of records that it updated. */
  readonly gone: Sum;
}

/** The rows that a run wrote about itself, and the columns that its receipt does not cover. */
const ownRows = [
  { table: 'sync_runs', where: 'id = ?', left: [] },
  { table: 'sync_run_resources', where: 'run_id = ? ORDER BY resource', left: [] },
  // Later runs change last_run_id, and the text can be erased. Its content hash covers it.
  { table: 'rejected_records', where: 'run_id = ? ORDER BY id', left: ['last_run_id', 'record'] },
] as const;

/**
 * Computes the hashes of runs' receipts from the tables, for runs and for audits. Rows are found by their run, so a run without
 * changes costs a few look-ups. Nothing is kept in memory.
 */
export class RunHashes {
  readonly #sqlite: Database.Database;
  readonly #books: readonly (readonly [table: string, rows: Database.Statement<[number], Row>])[];
  readonly #lines = new Map<string, Record<Operation, Database.Statement<[OfRun], string>>>();
  readonly #ended: Database.Statement<[run: number, resource: string], Row>;
  readonly #updatedAway: Database.Statement<[run: number, resource: string], Buffer>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#books = ownRows.map(({ table, where, left }) => {
      // A generated column, which is hidden, adds no information.
      const columns = sqlite.pragma(`table_xinfo(${table})`) as { name: string; hidden: number }[];
      const stated = columns.filter(
        ({ name, hidden }) => hidden === 0 && !(left as readonly string[]).includes(name),
      );
      const selected = stated.map(({ name }) => `"${name}"`).join(', ');
      return [table, sqlite.prepare(`SELECT ${selected} FROM ${table} WHERE ${where}`)];
    });
    // The plus keeps SQLite from reading all versions of the list.
    const endedByRun = 'FROM record_history WHERE valid_to_run_id = ? AND +resource = ?';
    this.#ended = sqlite.prepare(
      `SELECT ended_by, first_seen_run_id, record, record_id, valid_from_run_id ${endedByRun} ORDER BY record_id, id`,
    );
    this.#updatedAway = sqlite.prepare(`SELECT content ${endedByRun} AND ended_by <> 'removal'`);
    this.#updatedAway.pluck();
  }

  /** The receipt's `books`, 64 hexadecimal digits. */
  books(runId: number): string {
    const hash = new LinesHash();
    for (const [table, rows] of this.#books)
      for (const row of rows.iterate(runId)) hash.add(`${table}\t${canonicalRow(row)}\n`);
    return hash.digest();
  }

  /** What a run changed in a list, or in the connections. */
  changes(runId: number, resource: string): RunChanges {
    const changes = new LinesHash();
    const [began, gone] = [new Sum(), new Sum()];
    const lines = this.#linesOf(resource);
    for (const operation of operations) {
      const sum = operation === 'removal' ? gone : began;
      for (const line of lines[operation].iterate({ run: runId })) {
        changes.add(line);
        sum.add(line.slice(-2 * contentBytes - 1, -1));
      }
    }
    for (const content of this.#updatedAway.iterate(runId, resource)) gone.add(content);
    return {
      count: changes.count,
      changes: changes.digest(),
      ended: this.ended(runId, resource),
      began,
      gone,
    };
  }

  /** The receipt's `ended`, 64 hexadecimal digits. */
  ended(runId: number, resource: string): string {
    const hash = new LinesHash();
    for (const row of this.#ended.iterate(runId, resource)) hash.add(`${canonicalRow(row)}\n`);
    return hash.digest();
  }

  #linesOf(resource: string) {
    const known = this.#lines.get(resource);
    if (known !== undefined) return known;
    // SQLite writes the lines, because joining an id and a content for each row here would take twice as long.
    const prepare = (operation: Operation, rows: string) =>
      this.#sqlite
        .prepare<[OfRun], string>(
          `SELECT '${operation}' || char(9) || id || char(9) || lower(hex(content)) || char(10) FROM (${rows}) ORDER BY id`,
        )
        .pluck();
    const versions = `SELECT record_id AS id, content FROM record_history WHERE +resource = '${resource}' AND`;
    const begun = (isFirst: 0 | 1) =>
      `SELECT id, _content AS content FROM ${tableOf(resource)}
       WHERE _changed_run_id = @run AND (_first_seen_run_id = _changed_run_id) = ${isFirst}
       UNION ALL ${versions} valid_from_run_id = @run AND (first_seen_run_id = valid_from_run_id) = ${isFirst}`;
    const made = {
      insert: prepare('insert', begun(1)),
      update: prepare('update', begun(0)),
      removal: prepare('removal', `${versions} valid_to_run_id = @run AND ended_by = 'removal'`),
    };
    this.#lines.set(resource, made);
    return made;
  }
}
