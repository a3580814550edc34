import type Database from 'better-sqlite3';
import { connectionContent, normalExtra, type StoredConnection } from '../../contract/content.ts';
import { lists, type ResourceName } from '../../contract/lists.ts';
import type { ConnectionClaims } from './connection-claims.ts';
import { columnsOf, type NameAndExtra, orAsBefore, saidIn } from './connection-columns.ts';
import { ConnectionNames, type ReleasedMention } from './connection-names.ts';
import { tryToRead } from './readable.ts';
import type { StandingConnection } from './standing-record.ts';

/** A connection's row. */
export interface ConnectionRow extends StandingConnection {
  /** 16 bytes, as they are in the row; null if another program took them away. */
  readonly content: Buffer | null;
}

/** A version of a connection that ended. */
export interface EndedConnection {
  readonly row: ConnectionRow;
  readonly endedBy: 'update' | 'removal';
}

const rowColumns = `id, name, _extra AS extra, _first_seen_run_id AS firstSeenRunId,
  _changed_run_id AS changedRunId, _content AS content`;

/** A condition: no record refers to the connection. */
const isUnreferenced = referencingColumns()
  .map(([table, column]) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${column} = connections.id)`)
  .join(' AND ');

/** The connections by prepared statements. */
export class ConnectionTable {
  readonly #sqlite: Database.Database;
  #ownNames: ConnectionNames | undefined;
  readonly #read: Database.Statement<[number], ConnectionRow>;
  readonly #insert: Database.Statement;
  readonly #update: Database.Statement;
  readonly #remove: Database.Statement;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#read = sqlite.prepare(`SELECT ${rowColumns} FROM connections WHERE id = ?`);
    this.#insert = sqlite.prepare(
      `INSERT INTO connections (id, name, _extra, _first_seen_run_id, _changed_run_id, _content)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#update = sqlite.prepare(
      'UPDATE connections SET name = ?, _extra = ?, _changed_run_id = ?, _content = ? WHERE id = ?',
    );
    this.#remove = sqlite.prepare('DELETE FROM connections WHERE id = ?');
  }

  read(id: number): ConnectionRow | undefined {
    return this.#read.get(id);
  }

  /** Every row in the order of its id. */
  *rows(): Generator<ConnectionRow> {
    yield* this.#sqlite
      .prepare<[], ConnectionRow>(`SELECT ${rowColumns} FROM connections ORDER BY id`)
      .iterate();
  }

  /** The rows that a run wrote, in the order of their ids. */
  *writtenBy(runId: number): Generator<ConnectionRow> {
    yield* this.#sqlite
      .prepare<[number], ConnectionRow>(
        `SELECT ${rowColumns} FROM connections WHERE _changed_run_id = ? ORDER BY id`,
      )
      .iterate(runId);
  }

  /**
   * Takes in what a list says of connections; to be called once a list, with all that was read of it. It inserts the rows that are
   * missing, and updates those whose name or further fields are others now. What no list gives any more stays as it was.
   *
   * @param isWhole whether the claims are all that the list says, because every page was parsed in a proven reading.
   * @returns the versions that ended.
   */
  hear(resource: ResourceName, claims: ConnectionClaims, isWhole: boolean, runId: number): EndedConnection[] {
    const ended: EndedConnection[] = [];
    for (const id of this.#names.note(resource, claims, isWhole)) {
      const believed = this.#names.believedOf(id);
      const row = this.read(id);
      if (row === undefined) this.#insertRow({ id, ...columnsOf(believed) }, runId);
      else if (this.#change(row, orAsBefore(believed, row), runId)) ended.push({ row, endedBy: 'update' });
    }
    return ended;
  }

  /**
   * Whether a list of which some pages were not parsed must be read whole before `hear` is called. It must if a record that is gone,
   * is another one, or speaks otherwise of a connection may have given what is noted for the list: the name that is left may be on
   * any other page. A record may have given a name if it is not older than the name.
   *
   * @param claims what the pages that were parsed say.
   * @param released what rows mentioned that were removed or updated.
   */
  needsWhole(
    resource: ResourceName,
    claims: ConnectionClaims,
    released: Iterable<ReleasedMention> = [],
  ): boolean {
    return this.#names.needsWhole(resource, claims, released);
  }

  /**
   * Removes the connections that no record refers to, and what is noted of them; to be called at the end of a run.
   *
   * @returns the versions that ended.
   */
  removeUnreferenced(): EndedConnection[] {
    const rows = this.#unreferenced();
    for (const { id } of rows) this.#remove.run(id);
    this.#names.removeOfGone();
    return rows.map(row => ({ row, endedBy: 'removal' }));
  }

  /** A connection to which a record refers, and that has no row; undefined if there is none. */
  missing(): number | undefined {
    for (const reference of referencingColumns()) {
      const id = this.#sqlite.prepare<[], number>(missingFrom(reference)).pluck().get();
      if (id !== undefined) return id;
    }
    return undefined;
  }

  /**
   * Prepares the rows for a run that reads all lists again after another program altered them: a row whose columns do not come to
   * its content loses its name, as if the run had made it, and one that a record refers to and that is gone is made again. One that
   * no record refers to goes: it may have belonged to a row that was dropped.
   *
   * @returns how many rows that were.
   */
  dropAltered(runId: number): number {
    this.#names.removeAll();
    const unreferenced = this.#unreferenced().map(({ id }) => id);
    const altered = [...this.rows()].filter(row => !isAsWritten(row)).map(({ id }) => id);
    const dropped = new Set([...unreferenced, ...altered]);
    for (const id of dropped) this.#remove.run(id);
    const missing = referencingColumns().map(([table, column]) => `SELECT ${column} AS id FROM ${table}`);
    const ids = this.#sqlite
      .prepare<[], number>(
        `SELECT id FROM (${missing.join(' UNION ')}) WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM connections)`,
      )
      .pluck()
      .all();
    for (const id of ids) {
      this.#insertRow({ id, name: null, extra: null }, runId);
      dropped.add(id);
    }
    return dropped.size;
  }

  /** Made when a writer asks: a share can be read, and does not have that table. */
  get #names(): ConnectionNames {
    this.#ownNames ??= new ConnectionNames(this.#sqlite);
    return this.#ownNames;
  }

  #unreferenced(): ConnectionRow[] {
    return this.#sqlite
      .prepare<[], ConnectionRow>(`SELECT ${rowColumns} FROM connections WHERE ${isUnreferenced} ORDER BY id`)
      .all();
  }

  #insertRow({ id, name, extra }: StoredConnection, runId: number): void {
    this.#insert.run(id, name, extra, runId, runId, connectionContent({ id, name, extra }));
  }

  /** Lets a row say something; true if it said something else before. */
  #change(row: ConnectionRow, said: NameAndExtra, runId: number): boolean {
    const { name, extra } = columnsOf(said);
    const content = connectionContent({ id: row.id, name, extra });
    // Nulls among the further fields, and their order, say nothing.
    if ((name === row.name && extra === row.extra) || connectionContent(row).equals(content)) return false;
    this.#update.run(name, extra, runId, content, row.id);
    return true;
  }
}

/** Whether the columns of a row come to its content, as docmirror writes them. */
export function isAsWritten(row: ConnectionRow): boolean {
  const read = tryToRead(() => row.content?.equals(connectionContent(row)) === true);
  return 'value' in read && read.value && isExtraAsWritten(row);
}

/**
 * Whether the further fields of a row are as docmirror writes them. A content is the same whether its name is in the column or among
 * the further fields.
 */
export function isExtraAsWritten(row: StoredConnection): boolean {
  const read = tryToRead(
    () => normalExtra(row.extra) === row.extra && columnsOf(saidIn(row)).name === row.name,
  );
  return 'value' in read && read.value;
}

/**
 * Steps from id to id through the column's index: 0.1 ms for a million records of 50 connections, when SQLite's own check takes 60. It
 * takes a CTE, which the query builder has no words for.
 */
function missingFrom([table, column]: readonly [string, string]): string {
  return `WITH RECURSIVE referred (id) AS (
      SELECT min(${column}) FROM ${table}
      UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > referred.id) FROM referred WHERE id IS NOT NULL)
    SELECT id FROM referred WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM connections WHERE id = referred.id) LIMIT 1`;
}

function referencingColumns(): [table: string, column: string][] {
  return lists.flatMap(list =>
    list.fields.flatMap((field): [string, string][] => {
      if (field.kind === 'connection') return [[list.table, field.column]];
      return field.kind === 'connections' ? [[field.table, field.column]] : [];
    }),
  );
}
