import type Database from 'better-sqlite3';
import { eq, isNotNull } from 'drizzle-orm';
import { connectionContent, contentOf, normalExtra } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import { contentOfJson } from '../../contract/record-content.ts';
import { ConnectionTable } from './connection-table.ts';
import { ListTable } from './list-table.ts';
import { selectVersions } from './record-lives.ts';
import { connections, recordHistory } from './schema.ts';
import { prepare, words } from './statement.ts';

/**
 * Computes all contents again, inside the transaction that upgrades a mirror: a reference that is new to the contract takes its
 * connection's name out of a record's content.
 */
export function recomputeAll(sqlite: Database.Database): void {
  for (const list of lists) recomputeRows(new ListTable(sqlite, list));
  recomputeConnections(sqlite);
  recomputeHistory(sqlite);
}

function recomputeRows(table: ListTable): void {
  for (const id of [...table.ids()]) {
    const { record, content } = table.read(id);
    const right = contentOf(table.list, record);
    const extra = normalExtra(record.extra);
    if (right !== content || extra !== record.extra) table.setContent(id, right, extra);
  }
}

function recomputeConnections(sqlite: Database.Database): void {
  const setContent = prepare(sqlite, (extra: string | null, content: Buffer, id: number) =>
    words.update(connections).set({ extra, content }).where(eq(connections.id, id)),
  );
  for (const row of [...new ConnectionTable(sqlite).rows()])
    setContent.run(normalExtra(row.extra), connectionContent(row), row.id);
}

function recomputeHistory(sqlite: Database.Database): void {
  const versions = prepare(sqlite, () => selectVersions().where(isNotNull(recordHistory.record))).all();
  const setContent = prepare(sqlite, (content: Buffer, id: number) =>
    words.update(recordHistory).set({ content }).where(eq(recordHistory.id, id)),
  );
  for (const { id, resource, record, content } of versions) {
    const right = contentOfJson(resource, record as string);
    if (right !== content) setContent.run(Buffer.from(right, 'hex'), id);
  }
}
