import { openForWriting } from '../../src/store/file/open-to-write.ts';

const runCount = 100;

/**
 * Makes a mirror of many document exports by SQL alone: quick, and good for reading. Runs 1 to 10 insert, each later one
 * updates its part of a twentieth of the rows. Its contents are random, so it is not sound.
 */
export function makeBigMirror(path: string, rowCount: number): void {
  const { sqlite, close } = openForWriting(path);
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  sqlite.exec(`
    BEGIN;
    INSERT INTO sync_runs (id, status, trigger, started_at, completed_at, docmirror_version, base_url)
      ${numbers(runCount)}
      SELECT i, 'completed', 'manual', '2026-01-01T00:00:00.000Z', '2026-01-01T00:01:00.000Z', 'test', 'https://big.example' FROM n;
    INSERT INTO sync_run_resources (run_id, resource, status, started_at, completed_at)
      SELECT id, 'document-exports', status, started_at, completed_at FROM sync_runs;
    INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _content)
      ${numbers(200)} SELECT i, 'Connection ' || i, 1, 1, randomblob(16) FROM n;
    INSERT INTO document_exports
      (id, source_connection_id, source_document_title, source_document_reference, source_document_version,
       source_document_kind, destination_connection_id, destination_reference, exported_at,
       _first_seen_run_id, _changed_run_id, _content)
      ${numbers(rowCount)}
      SELECT i, 1 + i % 200, 'A title of some length ' || i, 'REF-' || i, '1.0', 'invoice', 1 + i % 7, 'archive/' || i || '.pdf',
        '2026-01-01T00:00:00Z', 1 + i % 10, iif(i % 20 = 0, 11 + (i / 20) % 90, 1 + i % 10),
        randomblob(16) FROM n;
    INSERT INTO record_history
      (resource, record_id, first_seen_run_id, valid_from_run_id, valid_to_run_id, ended_by, record, content)
      SELECT 'document-exports', id, _first_seen_run_id, _first_seen_run_id, _changed_run_id, 'update',
        json_object('sourceDocumentReference', source_document_reference), randomblob(16)
      FROM document_exports WHERE _first_seen_run_id <> _changed_run_id;
    COMMIT`);
  close();
}
