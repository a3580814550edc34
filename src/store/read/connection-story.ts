import type Database from 'better-sqlite3';
import { count, countDistinct, desc, eq } from 'drizzle-orm';
import { firstValue } from '../tables/query.ts';
import { documentExports, webhookConnections } from '../tables/schema.ts';
import { prepareValue, select, words } from '../tables/statement.ts';
import { type RecordStory, readStory } from './record-story.ts';

/** Exports of a connection in one month. */
export interface MonthOfConnection {
  /** `2026-11` */
  readonly month: string;
  readonly exported: number;
  readonly received: number;
}

/** Everything that the mirror knows about a connection. */
export interface ConnectionStory {
  /** Its names, version by version. */
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
/** At most so many of its names are returned, and so many of its webhooks. */
const namesMax = 50;
const webhooksMax = 20;

// By hand: with the pluses, SQLite reads the index by time, which has all columns of the query.
const monthsOf = `
  SELECT strftime('%Y-%m', exported_at_ms / 1000, 'unixepoch') AS month, sum(+source_connection_id IS @id) AS exported,
    sum(+destination_connection_id IS @id) AS received
  FROM document_exports
  WHERE (+source_connection_id = @id OR +destination_connection_id = @id)
    AND exported_at_ms IS NOT NULL
  GROUP BY 1 ORDER BY 1 DESC LIMIT ${monthsMax}`;

function webhooksOf(id: number) {
  return words
    .selectDistinct({ id: webhookConnections.webhookId })
    .from(webhookConnections)
    .where(eq(webhookConnections.connectionId, id))
    .orderBy(desc(webhookConnections.webhookId))
    .limit(webhooksMax);
}

function countWebhooks(id: number) {
  return select({ count: countDistinct(webhookConnections.webhookId) })
    .from(webhookConnections)
    .where(eq(webhookConnections.connectionId, id));
}

function countFrom(id: number) {
  return select({ count: count() }).from(documentExports).where(eq(documentExports.sourceConnectionId, id));
}

function countTo(id: number) {
  return select({ count: count() })
    .from(documentExports)
    .where(eq(documentExports.destinationConnectionId, id));
}

/** How many exports a connection is the source of, and the destination of. */
export function exportCounts(
  sqlite: Database.Database,
  id: number,
): { readonly exported: number; readonly received: number } {
  return { exported: firstValue(sqlite, countFrom, id) ?? 0, received: firstValue(sqlite, countTo, id) ?? 0 };
}

/** Everything that the mirror knows about a connection; null if it never had it. */
export function readConnection(sqlite: Database.Database, id: number): ConnectionStory | null {
  const story = readStory(sqlite, 'connections', id, namesMax);
  if (story === null) return null;
  return {
    story,
    ...exportCounts(sqlite, id),
    months: sqlite.prepare<{ id: number }, MonthOfConnection>(monthsOf).all({ id }),
    webhookIds: prepareValue(sqlite, webhooksOf).all(id),
    webhookCount: firstValue(sqlite, countWebhooks, id) ?? 0,
  };
}
