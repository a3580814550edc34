import type Database from 'better-sqlite3';
import { and, eq, getTableName, isNotNull, notExists, notInArray, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { connectionContent, normalExtra, type StoredConnection } from '../../contract/content.ts';
import { lists, type ResourceName } from '../../contract/lists.ts';
import type { ConnectionClaims } from './connection-claims.ts';
import { columnsOf, orAsBefore, saidIn } from './connection-columns.ts';
import { ConnectionNames, type Given } from './connection-names.ts';
import { tryToRead } from './readable.ts';
import { columnOf, schemaTable } from './rows-table.ts';
import { connections } from './schema.ts';
import type { StandingConnection } from './standing-record.ts';
import { prepare, prepareInsert, prepareValue, select, words } from './statement.ts';

/** A connection's row. */
export interface ConnectionRow extends StandingConnection {
  /** 16 bytes, as they are in the row; null if another program removed them. */
  readonly content: Buffer | null;
}

/** A version of a connection that ended. */
export interface EndedConnection {
  readonly row: ConnectionRow;
  readonly endedBy: 'update' | 'removal';
}

/** The changes that a list makes to connections, with the names that it gives then. */
export interface ConnectionChanges {
  readonly resource: ResourceName;
  readonly names: ReadonlyMap<number, Given | null>;
  /** Each with its row before; undefined if it is new. */
  readonly rows: readonly { readonly row: ConnectionRow | undefined; readonly after: StoredConnection }[];
}

function selectRows() {
  const { id, name, extra, firstSeenRunId, changedRunId, content } = connections;
  return select({ id, name, extra, firstSeenRunId, changedRunId, content }).from(connections);
}

const readRow = (id: number) => selectRows().where(eq(connections.id, id));
const removeRow = (id: number) => words.delete(connections).where(eq(connections.id, id));
const unreferenced = () => selectRows().where(isUnreferenced).orderBy(connections.id);
const updateRow = (
  name: string | null,
  changedRunId: number,
  extra: string | null,
  content: Buffer,
  id: number,
) => words.update(connections).set({ name, changedRunId, extra, content }).where(eq(connections.id, id));

/** Prepares the insertion of a connection's row. */
function prepareConnectionInsert(sqlite: Database.Database) {
  return prepareInsert(
    sqlite,
    connections,
    'id',
    'name',
    'firstSeenRunId',
    'changedRunId',
    'extra',
    'content',
  );
}

/** A condition: no record refers to the connection. */
const isUnreferenced = and(
  ...referencingColumns().map(([table, column]) =>
    notExists(words.select({ column }).from(table).where(eq(column, connections.id))),
  ),
);

/** The table of connections, by prepared statements. */
export class ConnectionTable {
  readonly #sqlite: Database.Database;
  #ownNames: ConnectionNames | undefined;
  readonly #read: Database.Statement<[number], ConnectionRow>;
  readonly #insert: ReturnType<typeof prepareConnectionInsert>;
  readonly #update: Database.Statement<
    [name: string | null, runId: number, extra: string | null, content: Buffer, id: number]
  >;
  readonly #remove: Database.Statement<[id: number]>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#read = prepare(sqlite, readRow);
    this.#insert = prepareConnectionInsert(sqlite);
    this.#update = prepare(sqlite, updateRow);
    this.#remove = prepare(sqlite, removeRow);
  }

  read(id: number): ConnectionRow | undefined {
    return this.#read.get(id);
  }

  /** Every row in the order of its id. */
  *rows(): Generator<ConnectionRow> {
    yield* prepare(this.#sqlite, () => selectRows().orderBy(connections.id)).iterate();
  }

  /** The rows that a run wrote, in the order of their ids. */
  *writtenBy(runId: number): Generator<ConnectionRow> {
    yield* prepare(this.#sqlite, (run: number) =>
      selectRows().where(eq(connections.changedRunId, run)).orderBy(connections.id),
    ).iterate(runId);
  }

  /**
   * What the claims of a list change; nothing is written. If no list gives a name any more, the row keeps it.
   *
   * @param isWhole whether the claims are all of the list's, because it was proven.
   */
  changes(resource: ResourceName, claims: ConnectionClaims, isWhole: boolean): ConnectionChanges {
    const names = this.#names.after(resource, claims, isWhole);
    const rows = [...names].flatMap(([id, own]) => {
      const believed = this.#names.believedOf(id, resource, own);
      const row = this.read(id);
      const after = { id, ...columnsOf(row === undefined ? believed : orAsBefore(believed, row)) };
      return row === undefined || isOther(row, after) ? [{ row, after }] : [];
    });
    return { resource, names, rows };
  }

  /**
   * Writes such changes: inserts missing rows, and updates the others.
   *
   * @returns the versions that ended.
   */
  apply({ resource, names, rows }: ConnectionChanges, runId: number): EndedConnection[] {
    this.#names.note(resource, names);
    const ended: EndedConnection[] = [];
    for (const { row, after } of rows) {
      const { id, name, extra } = after;
      if (row === undefined) this.#insertRow(after, runId);
      else {
        this.#update.run(name, runId, extra, connectionContent(after), id);
        ended.push({ row, endedBy: 'update' });
      }
    }
    return ended;
  }

  /**
   * Removes the connections that no record refers to, and their claims; to be called at the end of a run.
   *
   * @returns the versions that ended.
   */
  removeUnreferenced(): EndedConnection[] {
    const rows = this.#unreferenced();
    for (const { id } of rows) this.#remove.run(id);
    this.#names.removeOfGone();
    return rows.map(row => ({ row, endedBy: 'removal' }));
  }

  /** The id of a connection that a record refers to and that has no row; undefined if there is none. */
  missing(): number | undefined {
    for (const reference of referencingColumns()) {
      const id = this.#sqlite.prepare<[], number>(missingFrom(reference)).pluck().get();
      if (id !== undefined) return id;
    }
    return undefined;
  }

  /**
   * Prepares the rows for a run that reads all lists again after another program altered them. A row whose columns do not match its
   * content is removed, as is a row that no record refers to. Missing rows that records refer to are made again, without a name.
   *
   * @returns how many rows were removed or made.
   */
  dropAltered(runId: number): number {
    this.#names.removeAll();
    const unreferenced = this.#unreferenced().map(({ id }) => id);
    const altered = [...this.rows()].filter(row => !isAsWritten(row)).map(({ id }) => id);
    const dropped = new Set([...unreferenced, ...altered]);
    for (const id of dropped) this.#remove.run(id);
    const missing = referencingColumns().flatMap(([table, column]) =>
      prepareValue(this.#sqlite, () =>
        words
          .selectDistinct({ id: sql<number>`${column}` })
          .from(table)
          .where(
            and(
              isNotNull(column),
              notInArray(column, words.select({ id: connections.id }).from(connections)),
            ),
          ),
      ).all(),
    );
    const ids = [...new Set(missing)].sort((a, b) => a - b);
    for (const id of ids) {
      this.#insertRow({ id, name: null, extra: null }, runId);
      dropped.add(id);
    }
    return dropped.size;
  }

  /** Made only when a writer asks, because a share does not have that table. */
  get #names(): ConnectionNames {
    this.#ownNames ??= new ConnectionNames(this.#sqlite);
    return this.#ownNames;
  }

  #unreferenced(): ConnectionRow[] {
    return prepare(this.#sqlite, unreferenced).all();
  }

  #insertRow({ id, name, extra }: StoredConnection, runId: number): void {
    this.#insert.run(id, name, runId, runId, extra, connectionContent({ id, name, extra }));
  }
}

/** Nulls among the further fields, and their order, do not count. */
function isOther(row: ConnectionRow, after: StoredConnection): boolean {
  if (after.name === row.name && after.extra === row.extra) return false;
  return !connectionContent(row).equals(connectionContent(after));
}

/** Whether the columns of a row match its content, and are as docmirror writes them. */
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
 * Steps from id to id through the column's index. For a million records of 50 connections this takes 0.1 ms, and SQLite's own check
 * 60 ms.
 */
function missingFrom([of, by]: readonly [SQLiteTable, SQLiteColumn]): string {
  const [table, column] = [getTableName(of), by.name];
  // By hand: a recursive CTE.
  return `WITH RECURSIVE referred (id) AS (
      SELECT min(${column}) FROM ${table}
      UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > referred.id) FROM referred WHERE id IS NOT NULL)
    SELECT id FROM referred WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM connections WHERE id = referred.id) LIMIT 1`;
}

function referencingColumns(): [SQLiteTable, SQLiteColumn][] {
  return lists.flatMap(list =>
    list.fields.flatMap((field): [SQLiteTable, SQLiteColumn][] => {
      if (field.kind !== 'connection' && field.kind !== 'connections') return [];
      const table = schemaTable(field.kind === 'connection' ? list.table : field.table);
      return [[table, columnOf(table, field.column)]];
    }),
  );
}
