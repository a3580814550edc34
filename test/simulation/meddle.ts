import Database from 'better-sqlite3';
import type { ListName, Meddle } from './scenario.ts';

const tables: Readonly<Record<ListName, { readonly name: string; readonly text: string }>> = {
  'document-exports': { name: 'document_exports', text: 'source_document_title' },
  collections: { name: 'collections', text: 'name' },
  webhooks: { name: 'webhooks', text: 'endpoint' },
};

/**
 * Alters a mirror's records as another program might that does not know docmirror and ignores foreign keys.
 *
 * @returns false if there was nothing to alter, or a run has the lock.
 */
export function meddleWith(path: string, meddle: Meddle): boolean {
  const database = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    database.pragma('foreign_keys = OFF');
    return statementsOf(database, meddle).reduce(
      (isDone, sql) => database.prepare(sql).run().changes > 0 || isDone,
      false,
    );
  } catch (error) {
    if (!(error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY')) throw error;
    return false;
  } finally {
    database.close();
  }
}

function statementsOf(database: Database.Database, { list, kind, row, to }: Meddle): string[] {
  const { name, text } = tables[list];
  const idIn = (table: string, at: number): number | null => {
    const ids = database.prepare<[], number>(`SELECT id FROM "${table}" ORDER BY id`).pluck().all();
    return ids.at(ids.length === 0 ? 0 : at % ids.length) ?? null;
  };
  if (kind === 'rename' || kind === 'orphan') {
    const id = idIn('connections', row);
    return kind === 'rename'
      ? [`UPDATE connections SET name = ifnull(name, '') || '!' WHERE id = ${id}`]
      : [`DELETE FROM connections WHERE id = ${id}`];
  }
  const id = idIn(name, row);
  if (kind === 'reword') return [`UPDATE ${name} SET ${text} = ifnull(${text}, '') || '!' WHERE id = ${id}`];
  if (kind === 'copy') return [copyOf(database, name, id)];
  const other = idIn(name, to);
  if (kind === 'forge') {
    const content = `(SELECT _content FROM ${name} WHERE id = ${other})`;
    return [`UPDATE ${name} SET _content = ${content} WHERE id = ${id} AND _content <> ${content}`];
  }
  const isHook = list === 'webhooks';
  if (kind === 'relink' && isHook)
    return [`UPDATE webhook_connections SET connection_id = connection_id + 1 WHERE webhook_id = ${id}`];
  if (kind === 'relink')
    return [`UPDATE ${name} SET source_connection_id = ifnull(source_connection_id, 0) + 1 WHERE id = ${id}`];
  const items = isHook ? ['webhook_events', 'webhook_connections'] : [];
  if (kind === 'curtail')
    return items.map(
      item =>
        `DELETE FROM ${item} WHERE webhook_id = ${id} AND position = (SELECT max(position) FROM ${item} WHERE webhook_id = ${id})`,
    );
  return [...items, name].map(
    table => `DELETE FROM ${table} WHERE ${table === name ? 'id' : 'webhook_id'} = ${id}`,
  );
}

/** In a list with ids, the copy has one that the service does not know. */
function copyOf(database: Database.Database, table: string, id: number | null): string {
  const columns = database
    .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'")
    .pluck()
    .all(table)
    .join(', ');
  return `INSERT INTO ${table} (id, ${columns}) SELECT (SELECT max(id) + 1000 FROM ${table}), ${columns} FROM ${table} WHERE id = ${id}`;
}
