import type Database from 'better-sqlite3';
import { and, eq, ne, sql } from 'drizzle-orm';
import {
  type ColumnValue,
  canonicalRow,
  contentInLine,
  LinesHash,
  type Operation,
  operations,
} from '../../audit/lines-hash.ts';
import { tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { recordHistory } from '../tables/schema.ts';
import { prepare, prepareValue, select } from '../tables/statement.ts';

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

/**
 * Reads the changes of runs in a list, or in the connections, from the rows that they wrote and the versions that they ended. Runs
 * and audits share this. Rows are found by their run, so a run without changes costs a few look-ups. Nothing is kept in memory.
 */
export class ChangesOfRuns {
  readonly #resource: string;
  readonly #lines: Readonly<
    Record<Operation, Database.Statement<[{ run: number; resource: string }], string>>
  >;
  readonly #ended: Database.Statement<[run: number, resource: string], Record<string, ColumnValue>>;
  readonly #updatedAway: Database.Statement<[run: number, resource: string], Buffer>;

  constructor(sqlite: Database.Database, resource: string) {
    this.#resource = resource;
    const table = tableOf(resource);
    // SQLite writes the lines, because joining an id and a content for each row here would take twice as long.
    const line = (operation: Operation) =>
      `'${operation}' || char(9) || id || char(9) || lower(hex(content)) || char(10)`;
    // The plus keeps SQLite from reading all versions of the list.
    const ofHistory = 'FROM record_history WHERE +resource = @resource AND';
    // By hand: a sorted union in which each value is bound once and is used in several places.
    const begun = (operation: Operation, isFirst: 0 | 1) =>
      `SELECT ${line(operation)} FROM (
         SELECT id, _content AS content FROM ${table}
         WHERE _changed_run_id = @run AND (_first_seen_run_id = _changed_run_id) = ${isFirst}
         UNION ALL
         SELECT record_id, content ${ofHistory} valid_from_run_id = @run AND (first_seen_run_id = valid_from_run_id) = ${isFirst}
       ) ORDER BY id`;
    const lines = (text: string) => sqlite.prepare<[{ run: number; resource: string }], string>(text).pluck();
    this.#lines = {
      insert: lines(begun('insert', 1)),
      update: lines(begun('update', 0)),
      // By hand: the line uses the columns of a subquery.
      removal: lines(
        `SELECT ${line('removal')} FROM (SELECT record_id AS id, content ${ofHistory} valid_to_run_id = @run AND ended_by = 'removal')
         ORDER BY id`,
      ),
    };
    const endedIn = (run: number, list: string) =>
      and(eq(recordHistory.validToRunId, run), sql`+${recordHistory.resource} = ${list}`);
    const { endedBy, firstSeenRunId, record, recordId, validFromRunId, id, content } = recordHistory;
    this.#ended = prepare(sqlite, (run, list) =>
      select({
        ended_by: endedBy,
        first_seen_run_id: firstSeenRunId,
        record,
        record_id: recordId,
        valid_from_run_id: validFromRunId,
      })
        .from(recordHistory)
        .where(endedIn(run, list))
        .orderBy(recordId, id),
    );
    this.#updatedAway = prepareValue(sqlite, (run, list) =>
      select({ content })
        .from(recordHistory)
        .where(and(endedIn(run, list), ne(endedBy, 'removal'))),
    );
  }

  of(run: number): RunChanges {
    const of = { run, resource: this.#resource };
    const changes = new LinesHash();
    const [began, gone] = [new Sum(), new Sum()];
    for (const operation of operations) {
      const sum = operation === 'removal' ? gone : began;
      for (const line of this.#lines[operation].iterate(of)) {
        changes.add(line);
        sum.addHex(contentInLine(line));
      }
    }
    for (const content of this.#updatedAway.iterate(run, this.#resource)) gone.add(content);
    return { count: changes.count, changes: changes.digest(), ended: this.ended(run), began, gone };
  }

  /** The hash over the versions that a run ended, 64 hexadecimal digits. */
  ended(run: number): string {
    const hash = new LinesHash();
    for (const row of this.#ended.iterate(run, this.#resource)) hash.add(`${canonicalRow(row)}\n`);
    return hash.digest();
  }
}
