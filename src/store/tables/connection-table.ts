import type Database from 'better-sqlite3';
import {
  connectionContent,
  type NameAndExtra,
  readWireConnection,
  type StoredConnection,
  wireConnection,
} from '../../contract/content.ts';
import { parseExact } from '../../contract/json.ts';
import { lists } from '../../contract/lists.ts';
import { tryToRead } from './readable.ts';

/** A connection's row. */
export interface ConnectionRow extends StoredConnection {
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
  /** 16 bytes, as they are in the row; null if another program removed them. */
  readonly content: Buffer | null;
}

const selectRows = `SELECT id, name, _extra AS extra, _first_seen_run_id AS firstSeenRunId,
  _changed_run_id AS changedRunId, _content AS content FROM connections`;

/** The table of connections, by prepared statements. */
export class ConnectionTable {
  readonly #sqlite: Database.Database;
  readonly #read: Database.Statement<[id: number], ConnectionRow>;

  constructor(sqlite: Database.Database) {
    this.#sqlite = sqlite;
    this.#read = sqlite.prepare(`${selectRows} WHERE id = ?`);
  }

  read(id: number): ConnectionRow | undefined {
    return this.#read.get(id);
  }

  /** Every row in the order of its id. */
  *rows(): Generator<ConnectionRow> {
    yield* this.#sqlite.prepare<[], ConnectionRow>(`${selectRows} ORDER BY id`).iterate();
  }
}

/** The name and further fields that the columns of a connection's row say. */
export function saidIn({ name, extra }: NameAndExtra): NameAndExtra {
  if (name !== null || extra === null || !extra.includes('"name"')) return { name, extra };
  const read = tryToRead(() => parseExact(extra) as Record<string, unknown>);
  // Another program can have written any text.
  if (!('value' in read) || typeof read.value.name !== 'string') return { name, extra };
  const { name: said, ...others } = read.value;
  return { name: said as string, extra: Object.keys(others).length === 0 ? null : JSON.stringify(others) };
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
  const read = tryToRead(() => readWireConnection(wireConnection(row)));
  return 'value' in read && read.value.name === row.name && read.value.extra?.length === row.extra?.length;
}

/** The columns that refer to connections. */
const referring = lists.flatMap(list =>
  list.fields.flatMap(field => {
    if (field.kind !== 'connection' && field.kind !== 'connections') return [];
    return [{ table: 'table' in field ? field.table : list.table, column: field.column }];
  }),
);

/** A condition: no record refers to the connection `c`. */
export const isUnreferenced = referring
  .map(({ table, column }) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${column} = c.id)`)
  .join(' AND ');

/** The ids of connections that records refer to and that have no row. */
export function missingConnections(sqlite: Database.Database): number[] {
  // It steps from id to id through a column's index. For a million records of 50 connections this takes 0.1 ms, and SQLite's own check
  // 60 ms.
  const missing = referring.flatMap(({ table, column }) =>
    sqlite
      .prepare<[], number>(
        `WITH RECURSIVE referred (id) AS (
           SELECT min(${column}) FROM ${table}
           UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > referred.id) FROM referred WHERE id IS NOT NULL)
         SELECT id FROM referred WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM connections WHERE id = referred.id)`,
      )
      .pluck()
      .all(),
  );
  return [...new Set(missing)].sort((a, b) => a - b);
}
