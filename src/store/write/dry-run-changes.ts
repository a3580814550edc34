import type Database from 'better-sqlite3';
import { and, eq, sql } from 'drizzle-orm';
import type { ListDefinition } from '../../contract/lists.ts';
import { wireConnection, wireWriter } from '../../contract/wire.ts';
import type { ConnectionTable } from '../tables/connection-table.ts';
import type { ListTable } from '../tables/list-table.ts';
import { recordHistory } from '../tables/schema.ts';
import { prepare, select } from '../tables/statement.ts';

/** One change that a dry run would make; `record` and `before` are JSON in the service's shape. */
export interface RecordChange {
  readonly resource: string;
  readonly operation: 'insert' | 'update' | 'removal';
  readonly recordId: number;
  readonly record: string;
  readonly before: string | null;
}

/** Receives each change. */
export type ChangeObserver = (change: RecordChange) => void;

interface EndedVersion {
  readonly recordId: number;
  readonly endedBy: string;
  readonly record: string;
}

/** Reports what a run has changed in a list, and which connections it has changed, before that is rolled back. */
export function tellChanges(
  sqlite: Database.Database,
  table: ListTable,
  connections: ConnectionTable,
  runId: number,
  tell: ChangeObserver,
): void {
  const { resource } = table.list;
  const ended = endedBy(sqlite, resource, runId);
  const before = new Map(ended.filter(isUpdate).map(({ recordId, record }) => [recordId, record]));
  const write = writerOf(table.list, connections);
  for (const row of table.writtenBy(runId)) {
    const isInsert = row.firstSeenRunId === runId;
    const change = isInsert
      ? { operation: 'insert' as const, before: null }
      : { operation: 'update' as const, before: before.get(row.id) ?? null };
    tell({ resource, recordId: row.id, record: write(row.record), ...change });
  }
  for (const { recordId, record, endedBy: by } of ended)
    if (by === 'removal') tell({ resource, operation: 'removal', recordId, record, before: null });
  for (const { recordId, record } of endedBy(sqlite, 'connections', runId).filter(isUpdate)) {
    const now = connections.read(recordId);
    if (now === undefined) continue;
    tell({
      resource: 'connections',
      operation: 'update',
      recordId,
      record: wireConnection(now),
      before: record,
    });
  }
}

function writerOf(list: ListDefinition, connections: ConnectionTable) {
  return wireWriter(list, id => connections.read(id));
}

function isUpdate({ endedBy: by }: EndedVersion): boolean {
  return by === 'update';
}

function endedBy(sqlite: Database.Database, resource: string, runId: number): EndedVersion[] {
  const { recordId, endedBy: by, record, validToRunId } = recordHistory;
  return prepare(sqlite, (run: number, of: string) =>
    select({ recordId, endedBy: by, record: sql<string>`${record}` })
      .from(recordHistory)
      .where(and(eq(validToRunId, run), sql`+${recordHistory.resource} = ${of}`))
      .orderBy(recordId),
  ).all(runId, resource);
}
