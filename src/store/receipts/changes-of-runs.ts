import type Database from 'better-sqlite3';
import {
  ChangesHash,
  changeLine,
  contentInLine,
  type Operation,
  operations,
} from '../../audit/changes-hash.ts';
import { connectionContent, contentOf } from '../../contract/content.ts';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { readWireConnection } from '../../contract/wire.ts';
import { merged } from '../tables/merged.ts';
import { type StoredVersion, versionColumns } from '../tables/record-lives.ts';
import { restoredVersions } from '../tables/restored-versions.ts';
import { ChangedRows } from './changed-rows.ts';

/** What one run did to one list, or to the connections. */
export interface RunChanges {
  /** The rows of the view `changes`. */
  readonly count: number;
  /** The changes hash of the receipt: over exactly these rows, 64 hexadecimal digits. */
  readonly digest: string;
  /** The contents that the run put into the list. */
  readonly began: Sum;
  /** The contents that it removed; those that it updated away are not among them. */
  readonly gone: Sum;
}

type VersionIds = Database.Statement<[number, string, number | string], bigint>;

/**
 * Reads what runs changed in a list, or in the connections, from the rows that they wrote and the versions that they ended. Writer
 * and audit share it. Rows are found by their run, so a run that changed nothing costs a few look-ups; none of what a
 * run changed is held in memory.
 */
export class ChangesOfRuns {
  readonly #resource: string;
  readonly #list: ListDefinition | undefined;
  readonly #rows: ChangedRows;
  readonly #begun: VersionIds;
  readonly #ended: VersionIds;
  readonly #version: Database.Statement<[bigint], StoredVersion>;

  constructor(sqlite: Database.Database, resource: string) {
    this.#resource = resource;
    this.#list = lists.find(each => each.resource === resource);
    this.#rows = new ChangedRows(sqlite, this.#list?.table ?? 'connections');
    // Ids alone are sorted, not whole records. The plus keeps SQLite from looking through all versions of the list.
    const ids = (condition: string): VersionIds =>
      sqlite
        .prepare<[number, string, number | string], bigint>(
          `SELECT id FROM record_history WHERE ${condition} ORDER BY CAST(record_id AS TEXT)`,
        )
        .pluck()
        // What another program has written may be no number that JavaScript holds exactly.
        .safeIntegers();
    this.#begun = ids(
      'valid_from_run_id = ? AND +resource = ? AND (first_seen_run_id = valid_from_run_id) = ?',
    );
    this.#ended = ids('valid_to_run_id = ? AND +resource = ? AND ended_by = ?');
    this.#version = sqlite.prepare(`SELECT ${versionColumns} FROM record_history WHERE id = ?`);
  }

  /**
   * @throws MirrorFileError where a version in the history can't be read.
   * @throws RangeError where the history holds a version twice.
   */
  of(runId: number): RunChanges {
    const hash = new ChangesHash();
    const sums = { insert: new Sum(), removal: new Sum(), update: new Sum() };
    for (const operation of operations) {
      for (const line of this.#changed(runId, operation)) {
        hash.add(line);
        sums[operation].addHex(contentInLine(line));
      }
    }
    const began = sums.insert.plus(sums.update);
    return { count: hash.count, digest: hash.digest(), began, gone: sums.removal };
  }

  /**
   * The contents of the versions that a run ended by an update, which stand in no changes hash.
   *
   * @throws MirrorFileError where a version in the history can't be read.
   */
  updatedAway(runId: number): Sum {
    const sum = new Sum();
    const lines = this.#lines('update', this.#versionsOf(this.#ended, runId, 'update'));
    for (const line of lines) sum.addHex(contentInLine(line));
    return sum;
  }

  /** The lines of what a run changed by one operation, in their order. */
  #changed(runId: number, operation: Operation): Iterable<string> {
    if (operation === 'removal')
      return this.#lines(operation, this.#versionsOf(this.#ended, runId, operation));
    const versions = () =>
      this.#lines(operation, this.#versionsOf(this.#begun, runId, operation === 'insert' ? 1 : 0));
    return merged([...this.#rows.series(runId, operation), versions], (a, b) => a < b);
  }

  *#lines(operation: Operation, versions: Iterable<StoredVersion>): Generator<string> {
    if (this.#list === undefined) {
      for (const { recordId, record } of versions) {
        const content = connectionContent(readWireConnection(record));
        yield changeLine(operation, recordId, content.toString('hex'));
      }
      return;
    }
    for (const { id, record } of restoredVersions(this.#list, versions))
      yield changeLine(operation, id, contentOf(this.#list, record));
  }

  *#versionsOf(ids: VersionIds, runId: number, which: number | string): Generator<StoredVersion> {
    for (const id of ids.iterate(runId, this.#resource, which)) yield this.#version.get(id) as StoredVersion;
  }
}
