import type Database from 'better-sqlite3';
import { connectionContent, contentOf, normalExtra } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import { contentOfJson } from '../../contract/record-content.ts';
import { ConnectionTable } from './connection-table.ts';
import { ListTable } from './list-table.ts';

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
  const setContent = sqlite.prepare('UPDATE connections SET _content = ?, _extra = ? WHERE id = ?');
  for (const row of [...new ConnectionTable(sqlite).rows()])
    setContent.run(connectionContent(row), normalExtra(row.extra), row.id);
}

function recomputeHistory(sqlite: Database.Database): void {
  const versions = sqlite
    .prepare<[], { id: number; resource: string; record: string; content: string }>(
      'SELECT id, resource, record, lower(hex(content)) AS content FROM record_history WHERE record IS NOT NULL',
    )
    .all();
  const setContent = sqlite.prepare('UPDATE record_history SET content = unhex(?) WHERE id = ?');
  for (const { id, resource, record, content } of versions) {
    const right = contentOfJson(resource, record);
    if (right !== content) setContent.run(right, id);
  }
}
