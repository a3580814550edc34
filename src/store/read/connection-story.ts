import type Database from 'better-sqlite3';
import { firstValue } from '../tables/query.ts';
import { type RecordStory, readStory } from './record-story.ts';

/** Exports of a connection in one month. */
export interface MonthOfConnection {
  /** `2026-11` */
  readonly month: string;
  readonly exported: number;
  readonly received: number;
}

/** What is known of a connection. */
export interface ConnectionStory {
  /** What it was called, version by version. */
  readonly story: RecordStory;
  /** How many exports it is the source of, and the destination of. */
  readonly exported: number;
  readonly received: number;
  /** The last months in which it exported or received anything, the newest first. */
  readonly months: readonly MonthOfConnection[];
  /** The webhooks that name it, by their ids. */
  readonly webhookIds: readonly number[];
  readonly webhookCount: number;
}

const monthsMax = 24;
/** So many names of it are told, and so many of its webhooks. */
const namesMax = 50;
const webhooksMax = 20;

// With the pluses, SQLite reads the index by time, which has all that is asked for.
const monthsOf = `
  SELECT substr(exported_at, 1, 7) AS month, sum(+source_connection_id IS @id) AS exported,
    sum(+destination_connection_id IS @id) AS received
  FROM document_exports
  WHERE (+source_connection_id = @id OR +destination_connection_id = @id)
    AND exported_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-*'
  GROUP BY 1 ORDER BY 1 DESC LIMIT ${monthsMax}`;

const webhooksOf = `SELECT DISTINCT webhook_id FROM webhook_connections WHERE connection_id = ? ORDER BY 1 DESC LIMIT ${webhooksMax}`;

/** All that the mirror knows of a connection; null if it never had it. */
export function readConnection(sqlite: Database.Database, id: number): ConnectionStory | null {
  const story = readStory(sqlite, 'connections', id, namesMax);
  if (story === null) return null;
  const countOf = (sql: string) => firstValue<number>(sqlite, sql, id) ?? 0;
  return {
    story,
    exported: countOf('SELECT count(*) FROM document_exports WHERE source_connection_id = ?'),
    received: countOf('SELECT count(*) FROM document_exports WHERE destination_connection_id = ?'),
    months: sqlite.prepare<{ id: number }, MonthOfConnection>(monthsOf).all({ id }),
    webhookIds: sqlite.prepare<[number], number>(webhooksOf).pluck().all(id),
    webhookCount: countOf(
      'SELECT count(DISTINCT webhook_id) FROM webhook_connections WHERE connection_id = ?',
    ),
  };
}
