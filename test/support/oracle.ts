import { expect } from 'vitest';
import { type Row, sqlite, sqliteEach } from './run-cli.ts';
import type { StandIn } from './stand-in.ts';

type Item = Record<string, unknown>;
type Ref = { id: number; name: string | null } | null;

/** A list as the mirror's tables have it, put together by plain SQL that does not use docmirror's code. */
const queries: Record<string, string> = {
  'document-exports': `
    SELECT json_object(
      'sourceConnection', source_connection_id, 'sourceDocumentTitle', source_document_title,
      'sourceDocumentReference', source_document_reference, 'sourceDocumentVersion', source_document_version,
      'sourceDocumentKind', source_document_kind, 'destinationConnection', destination_connection_id,
      'destinationReference', destination_reference, 'exportedAt', exported_at) AS record
    FROM document_exports`,
  collections: `
    SELECT json_object('id', id, 'name', name, 'sourceConnection', source_connection_id,
      'destinationConnection', destination_connection_id) AS record
    FROM collections`,
  webhooks: `
    SELECT json_object('id', id, 'endpoint', endpoint, 'description', description,
      'events', json((SELECT json_group_array(event) FROM
         (SELECT event FROM webhook_events e WHERE e.webhook_id = w.id ORDER BY position))),
      'connections', json((SELECT json_group_array(connection_id) FROM
         (SELECT connection_id FROM webhook_connections c WHERE c.webhook_id = w.id ORDER BY position)))) AS record
    FROM webhooks w`,
};

const fields: Record<string, readonly string[]> = {
  'document-exports': [
    ...['sourceConnection', 'sourceDocumentTitle', 'sourceDocumentReference', 'sourceDocumentVersion'],
    ...['sourceDocumentKind', 'destinationConnection', 'destinationReference', 'exportedAt'],
  ],
  collections: ['id', 'name', 'sourceConnection', 'destinationConnection'],
  webhooks: ['id', 'endpoint', 'description', 'events', 'connections'],
};

/** An item without what the normal tables don't have: connection names and unknown fields. */
function normalize(item: Item, names: readonly string[]): string {
  const id = (ref: Ref) => ref?.id ?? null;
  const values = names.map(name => {
    const value = item[name];
    if (name === 'events') return value ?? [];
    if (name === 'connections') return ((value as Ref[] | null) ?? []).map(id);
    return name.endsWith('Connection') ? id(value as Ref) : (value ?? null);
  });
  return JSON.stringify(values);
}

/** The records of one list of the mirror, each as JSON text, sorted. */
export function mirrored(path: string, resource: string): string[] {
  return recordsIn(sqlite(path, queries[resource] as string), resource);
}

function recordsIn(rows: readonly Row[], resource: string): string[] {
  const names = fields[resource] as readonly string[];
  return rows
    .map(row => JSON.parse(row.record as string) as Item)
    .map(record => JSON.stringify(names.map(name => record[name])))
    .sort();
}

/** The items of one list of the service, each as JSON text, sorted. */
export function listed(items: readonly unknown[], resource: string): string[] {
  return (items as Item[]).map(item => normalize(item, fields[resource] as readonly string[])).sort();
}

/** Expects the mirror to be exactly what the service lists, and sound as a database. */
export function expectExactMirror(path: string, service: StandIn, resources = Object.keys(queries)): void {
  const rows = sqliteEach(
    path,
    resources.map(resource => queries[resource] as string),
  );
  for (const [at, resource] of resources.entries()) {
    const items = service.lists[resource as keyof StandIn['lists']];
    expect(recordsIn(rows[at] ?? [], resource), resource).toEqual(listed(items, resource));
  }
  expectSound(path);
}

/** Expects a database without damage, dangling references, or names and connections that nothing refers to. */
export function expectSound(path: string): void {
  const [integrity, dangling, unreferenced] = sqliteEach(path, [
    'PRAGMA integrity_check',
    'PRAGMA foreign_key_check',
    `SELECT id FROM connections
     WHERE id NOT IN (SELECT source_connection_id FROM document_exports WHERE source_connection_id IS NOT NULL
       UNION SELECT destination_connection_id FROM document_exports WHERE destination_connection_id IS NOT NULL
       UNION SELECT source_connection_id FROM collections WHERE source_connection_id IS NOT NULL
       UNION SELECT destination_connection_id FROM collections WHERE destination_connection_id IS NOT NULL
       UNION SELECT connection_id FROM webhook_connections WHERE connection_id IS NOT NULL)`,
  ]);
  expect(integrity).toEqual([{ integrity_check: 'ok' }]);
  expect(dangling).toEqual([]);
  expect(unreferenced).toEqual([]);
}
