-- The lists with the names of their connections beside the ids.
CREATE VIEW document_exports_named AS
SELECT
  e.id,
  e.source_connection_id,
  s.name AS source_connection_name,
  e.source_document_title,
  e.source_document_reference,
  e.source_document_version,
  e.source_document_kind,
  e.destination_connection_id,
  d.name AS destination_connection_name,
  e.destination_reference,
  e.exported_at,
  e._first_seen_run_id,
  e._changed_run_id,
  e._extra
FROM document_exports e
LEFT JOIN connections s ON s.id = e.source_connection_id
LEFT JOIN connections d ON d.id = e.destination_connection_id;
--> statement-breakpoint
CREATE VIEW collections_named AS
SELECT
  c.id,
  c.name,
  c.source_connection_id,
  s.name AS source_connection_name,
  c.destination_connection_id,
  d.name AS destination_connection_name,
  c._first_seen_run_id,
  c._changed_run_id,
  c._extra
FROM collections c
LEFT JOIN connections s ON s.id = c.source_connection_id
LEFT JOIN connections d ON d.id = c.destination_connection_id;
--> statement-breakpoint
CREATE VIEW webhooks_named AS
SELECT
  w.id,
  w.endpoint,
  w.description,
  (SELECT json_group_array(event) FROM
    (SELECT event FROM webhook_events WHERE webhook_id = w.id ORDER BY position)) AS events,
  (SELECT json_group_array(connection_id) FROM
    (SELECT connection_id FROM webhook_connections WHERE webhook_id = w.id ORDER BY position)) AS connection_ids,
  (SELECT json_group_array(name) FROM
    (SELECT c.name FROM webhook_connections wc LEFT JOIN connections c ON c.id = wc.connection_id
     WHERE wc.webhook_id = w.id ORDER BY wc.position)) AS connection_names,
  w._first_seen_run_id,
  w._changed_run_id,
  w._extra
FROM webhooks w;
--> statement-breakpoint
-- A connection as the service writes it where it refers to one.
CREATE VIEW _connection_refs AS
SELECT id,
  iif(_extra IS NULL, json_object('id', id, 'name', name),
    '{"id":' || id || ',"name":' || json_quote(name) || ',' || substr(_extra, 2)) AS ref
FROM connections;
--> statement-breakpoint
-- What was inserted, updated and removed, by run. A version that still stands is its row; one that ended is in record_history.
CREATE VIEW changes AS
SELECT v.run_id, coalesce(r.completed_at, s.completed_at) AS changed_at, v.resource, v.record_id, v.operation,
  -- A field that its columns could not hold stands whole among the extra ones, so it is left out of the others.
  iif(v.extra IS NULL, v.record,
    (SELECT substr(known, 1, length(known) - 1) FROM
      (SELECT json_group_object(f.key, v.record -> ('$.' || f.key)) AS known FROM json_each(v.record) f
       WHERE f.key NOT IN (SELECT key FROM json_each(v.extra)))) || ',' || substr(v.extra, 2)) AS record
FROM (
  -- Removals first: a connection may go with one list and come back with the next of the same run.
  SELECT
    h.valid_to_run_id AS run_id,
    h.resource AS resource,
    h.record_id AS record_id,
    'removal' AS operation,
    h.record AS record,
    NULL AS extra
  FROM record_history h
  WHERE h.ended_by = 'removal'
  UNION ALL
  SELECT
    e._changed_run_id,
    'document-exports',
    e.id,
    iif(e._first_seen_run_id = e._changed_run_id, 'insert', 'update'),
    json_object(
      'sourceConnection', json((SELECT ref FROM _connection_refs WHERE id = e.source_connection_id)),
      'sourceDocumentTitle', e.source_document_title,
      'sourceDocumentReference', e.source_document_reference,
      'sourceDocumentVersion', e.source_document_version,
      'sourceDocumentKind', e.source_document_kind,
      'destinationConnection', json((SELECT ref FROM _connection_refs WHERE id = e.destination_connection_id)),
      'destinationReference', e.destination_reference,
      'exportedAt', e.exported_at
    ),
    e._extra
  FROM document_exports e
  UNION ALL
  SELECT
    c._changed_run_id,
    'collections',
    c.id,
    iif(c._first_seen_run_id = c._changed_run_id, 'insert', 'update'),
    json_object(
      'id', c.id,
      'name', c.name,
      'sourceConnection', json((SELECT ref FROM _connection_refs WHERE id = c.source_connection_id)),
      'destinationConnection', json((SELECT ref FROM _connection_refs WHERE id = c.destination_connection_id))
    ),
    c._extra
  FROM collections c
  UNION ALL
  SELECT
    w._changed_run_id,
    'webhooks',
    w.id,
    iif(w._first_seen_run_id = w._changed_run_id, 'insert', 'update'),
    json_object(
      'id', w.id,
      'endpoint', w.endpoint,
      'description', w.description,
      'events', json((SELECT json_group_array(event) FROM
        (SELECT event FROM webhook_events WHERE webhook_id = w.id ORDER BY position))),
      'connections', json((SELECT json_group_array(json(ref)) FROM
        (SELECT coalesce((SELECT ref FROM _connection_refs WHERE id = wc.connection_id), 'null') AS ref
         FROM webhook_connections wc
         WHERE wc.webhook_id = w.id ORDER BY wc.position)))
    ),
    w._extra
  FROM webhooks w
  UNION ALL
  SELECT
    n._changed_run_id,
    'connections',
    n.id,
    iif(n._first_seen_run_id = n._changed_run_id, 'insert', 'update'),
    json_object('id', n.id, 'name', n.name),
    n._extra
  FROM connections n
  UNION ALL
  SELECT
    h.valid_from_run_id,
    h.resource,
    h.record_id,
    iif(h.first_seen_run_id = h.valid_from_run_id, 'insert', 'update'),
    h.record,
    NULL
  FROM record_history h
) v
LEFT JOIN sync_runs s ON s.id = v.run_id
LEFT JOIN sync_run_resources r ON r.run_id = v.run_id AND r.resource = v.resource;
--> statement-breakpoint
-- How each list stands: its last completed run, its age, how many records it has, and the verdict of its last run.
CREATE VIEW sync_status AS
SELECT
  l.resource,
  l.record_count,
  done.run_id AS last_completed_run_id,
  done.completed_at AS last_completed_at,
  CAST(round((julianday('now') - julianday(done.completed_at)) * 86400) AS INTEGER) AS age_seconds,
  whole.completed_at AS last_full_at,
  last.run_id AS last_run_id,
  last.status AS last_run_status,
  last.completeness,
  CASE
    WHEN last.run_id IS NULL THEN 'never synced'
    WHEN last.status = 'running' THEN 'a run is under way'
    WHEN last.status = 'completed' THEN 'complete: ' || last.completeness
    WHEN last.removals_withheld > 0 THEN 'removals withheld: ' || last.removals_withheld
    WHEN last.rejected > 0 THEN 'records rejected: ' || last.rejected
    WHEN last.completeness = 'unproven' THEN 'unproven: ' || last.reason
    ELSE last.status || coalesce(': ' || last.error_message, '')
  END AS verdict
FROM (
  SELECT 'document-exports' AS resource, (SELECT count(*) FROM document_exports) AS record_count
  UNION ALL SELECT 'collections', (SELECT count(*) FROM collections)
  UNION ALL SELECT 'webhooks', (SELECT count(*) FROM webhooks)
) l
LEFT JOIN sync_run_resources last ON last.resource = l.resource AND last.run_id =
  (SELECT max(run_id) FROM sync_run_resources WHERE resource = l.resource)
LEFT JOIN sync_run_resources done ON done.resource = l.resource AND done.run_id =
  (SELECT max(run_id) FROM sync_run_resources WHERE resource = l.resource AND status = 'completed')
LEFT JOIN sync_run_resources whole ON whole.resource = l.resource AND whole.run_id =
  (SELECT max(run_id) FROM sync_run_resources WHERE resource = l.resource AND status = 'completed' AND mode = 'full');
