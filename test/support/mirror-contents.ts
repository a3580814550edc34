import { createHash, randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { exportTables } from '../../src/store/read/export-tables.ts';
import { MirrorReader } from '../../src/store/read/mirror-reader.ts';

/**
 * Gives a mirror what it has as soon as its rows carry their contents and its runs their receipts: the columns `_content` and
 * `checksum`, and the table of receipts. To be dropped when they do.
 */
export function addContents(path: string): void {
  const sqlite = new Database(path);
  const has = (table: string, column: string) =>
    sqlite.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column) !== undefined;
  try {
    for (const table of exportTables) {
      if (!has(table.name, '_content')) sqlite.exec(`ALTER TABLE ${table.name} ADD COLUMN _content BLOB`);
      const reader = MirrorReader.open(path);
      const state = reader.state(null);
      const ids = [...table.rows(state)].map(([id]) => id);
      const texts = [...table.wire(state)];
      reader.close();
      const set = sqlite.prepare(`UPDATE ${table.name} SET _content = ? WHERE id = ?`);
      for (const [at, text] of texts.entries()) set.run(contentOfWire(table.resource, text), ids[at]);
    }
    if (!has('sync_run_resources', 'checksum'))
      sqlite.exec('ALTER TABLE sync_run_resources ADD COLUMN checksum TEXT');
    if (has('sync_receipts', 'receipt')) return;
    sqlite.exec(
      'CREATE TABLE sync_receipts (leaf_index INTEGER PRIMARY KEY, run_id, receipt TEXT, leaf_hash TEXT)',
    );
    sqlite
      .prepare('INSERT INTO sync_receipts VALUES (0, 1, ?, ?)')
      .run(JSON.stringify({ mirrorId: randomUUID() }), '');
  } finally {
    sqlite.close();
  }
}

/** The content by its definition: canonical JSON without names of connections and without fields that are null. */
export function contentOfWire(resource: string, text: string): Buffer {
  const record: Record<string, unknown> = JSON.parse(text);
  for (const name of ['sourceConnection', 'destinationConnection']) record[name] = idAlone(record[name]);
  if (resource === 'webhooks' && Array.isArray(record.connections))
    record.connections = record.connections.map(idAlone);
  const names = Object.keys(record)
    .filter(name => record[name] !== null && record[name] !== undefined)
    .sort();
  const canonical = JSON.stringify(Object.fromEntries(names.map(name => [name, record[name]])));
  return createHash('sha256').update(canonical).digest().subarray(0, 16);
}

function idAlone(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? { id: value.id } : value;
}
