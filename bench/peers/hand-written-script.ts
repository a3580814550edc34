// The script that a developer would write at home: node bench/peers/hand-written-script.ts URL FILE [PAGE_SIZE]
// It reads the list once, and upserts each page. It removes nothing, keeps no versions, and proves nothing.
import Database from 'better-sqlite3';
import { Pool } from 'undici';

interface Export {
  readonly sourceConnection: { readonly id: number; readonly name: string } | null;
  readonly sourceDocumentTitle: string | null;
  readonly sourceDocumentReference: string | null;
  readonly sourceDocumentVersion: string | null;
  readonly sourceDocumentKind: string | null;
  readonly destinationConnection: { readonly id: number; readonly name: string } | null;
  readonly destinationReference: string | null;
  readonly exportedAt: string;
}

const [url = '', file = '', pageSize = '500'] = process.argv.slice(2);
const pool = new Pool(url);
const db = new Database(file);
db.pragma('journal_mode = WAL');
db.exec(`CREATE TABLE IF NOT EXISTS connections (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE IF NOT EXISTS document_exports (source_id INTEGER, title TEXT, reference TEXT, version TEXT, kind TEXT,
  destination_id INTEGER, destination_reference TEXT, exported_at TEXT,
  PRIMARY KEY (source_id, reference, version, destination_id, exported_at, destination_reference))`);
const upsertConnection = db.prepare(
  'INSERT INTO connections VALUES (?, ?) ON CONFLICT DO UPDATE SET name = excluded.name',
);
const upsertExport = db.prepare(`INSERT INTO document_exports VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET title = excluded.title, kind = excluded.kind`);
const upsertPage = db.transaction((items: readonly Export[]) => {
  for (const item of items) {
    for (const ref of [item.sourceConnection, item.destinationConnection])
      if (ref) upsertConnection.run(ref.id, ref.name);
    upsertExport.run(
      item.sourceConnection?.id ?? null,
      item.sourceDocumentTitle,
      item.sourceDocumentReference,
      item.sourceDocumentVersion,
      item.sourceDocumentKind,
      item.destinationConnection?.id ?? null,
      item.destinationReference,
      item.exportedAt,
    );
  }
});

for (let pageNo = 1, pageCount = 1; pageNo <= pageCount; pageNo++) {
  const path = `/v2/document-exports?pageNo=${pageNo}&pageSize=${pageSize}`;
  const { body } = await pool.request({ path, method: 'GET', headers: { authorization: 'Bearer bench' } });
  const { items, pagination } = (await body.json()) as { items: Export[]; pagination: { pageCount: number } };
  pageCount = pagination.pageCount;
  upsertPage(items);
}
db.close();
await pool.close();
