import type { ConnectionRow, ExportRow, WebhookRow } from '../service.ts';

// The tables as both versions of TypeORM know them.

export interface Export extends ExportRow {
  id: number;
}

export interface Event {
  id: number;
  name: string | null;
  webhook: Webhook;
}

export interface Webhook extends WebhookRow {
  events: Event[];
  connections: ConnectionRow[];
}

const id = { type: 'int', primary: true, generated: true } as const;
const text = (name: string) => ({ type: 'varchar', name, nullable: true }) as const;
const connection = (name: string) =>
  ({ type: 'many-to-one', target: 'Connection', joinColumn: { name }, nullable: true }) as const;
const bothConnections = {
  sourceConnection: connection('source_connection_id'),
  destinationConnection: connection('destination_connection_id'),
};

export const connectionEntity = {
  name: 'Connection',
  tableName: 'connections',
  columns: { id, name: text('name') },
};

export const exportEntity = {
  name: 'Export',
  tableName: 'exports',
  columns: {
    id,
    sourceDocumentTitle: text('source_document_title'),
    sourceDocumentReference: text('source_document_reference'),
    sourceDocumentVersion: text('source_document_version'),
    sourceDocumentKind: text('source_document_kind'),
    destinationReference: text('destination_reference'),
    exportedAt: { type: 'timestamptz', name: 'exported_at' },
  },
  relations: bothConnections,
} as const;

export const collectionEntity = {
  name: 'Collection',
  tableName: 'collections',
  columns: { id, name: text('name') },
  relations: bothConnections,
};

export const eventEntity = {
  name: 'Event',
  tableName: 'webhook_events',
  columns: { id, name: text('name') },
  relations: { webhook: { type: 'many-to-one', target: 'Webhook', joinColumn: { name: 'webhook_id' } } },
} as const;

export const webhookEntity = {
  name: 'Webhook',
  tableName: 'webhooks',
  columns: { id, endpoint: text('endpoint'), description: text('description') },
  relations: {
    events: { type: 'one-to-many', target: 'Event', inverseSide: 'webhook' },
    connections: {
      type: 'many-to-many',
      target: 'Connection',
      joinTable: {
        name: 'webhook_connections',
        joinColumn: { name: 'webhook_id' },
        inverseJoinColumn: { name: 'connection_id' },
      },
    },
  },
} as const;
