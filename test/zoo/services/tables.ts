import type { Knex } from 'knex';
import type { Asked, ConnectionRow, Found, Lists } from '../service.ts';

// Lists of a query builder without models: a page has the columns of one table, and what belongs to its rows is asked for afterwards.

/** A table with a list, and the columns that order it; a minus begins a descending one. */
export type Tables = Readonly<Record<'exports' | 'collections' | 'webhooks', readonly string[]>>;

/** How a page of a table is found. */
export type FindRows = <Row extends object>(
  table: keyof Tables,
  order: readonly string[],
  asked: Asked,
) => Promise<Found<Row>>;

interface ExportColumns {
  id: number;
  source_connection_id: number;
  source_document_title: string | null;
  source_document_reference: string;
  source_document_version: string | null;
  source_document_kind: string | null;
  destination_connection_id: number;
  destination_reference: string | null;
  exported_at: Date;
}

interface CollectionColumns {
  id: number;
  name: string;
  source_connection_id: number | null;
  destination_connection_id: number | null;
}

interface WebhookColumns {
  id: number;
  endpoint: string;
  description: string | null;
}

/** The lists, newest exports first. */
export function listsOf(knex: Knex, isOrderedByTimeAlone: boolean, find: FindRows): Lists {
  const order: Tables = {
    exports: isOrderedByTimeAlone ? ['-exported_at'] : ['-exported_at', '-id'],
    collections: ['id'],
    webhooks: ['id'],
  };
  const allConnections = async () =>
    new Map((await knex<ConnectionRow>('connections')).map(row => [row.id, row]));
  return {
    async exports(asked) {
      const found = await find<ExportColumns>('exports', order.exports, asked);
      const connections = await allConnections();
      const rows = found.rows.map(row => ({
        sourceConnection: connections.get(row.source_connection_id) ?? null,
        sourceDocumentTitle: row.source_document_title,
        sourceDocumentReference: row.source_document_reference,
        sourceDocumentVersion: row.source_document_version,
        sourceDocumentKind: row.source_document_kind,
        destinationConnection: connections.get(row.destination_connection_id) ?? null,
        destinationReference: row.destination_reference,
        exportedAt: row.exported_at,
      }));
      return { ...found, rows };
    },
    async collections(asked) {
      const found = await find<CollectionColumns>('collections', order.collections, asked);
      const connections = await allConnections();
      const rows = found.rows.map(({ id, name, source_connection_id, destination_connection_id }) => ({
        id,
        name,
        sourceConnection: connections.get(source_connection_id ?? 0) ?? null,
        destinationConnection: connections.get(destination_connection_id ?? 0) ?? null,
      }));
      return { ...found, rows };
    },
    async webhooks(asked) {
      const found = await find<WebhookColumns>('webhooks', order.webhooks, asked);
      const ids = found.rows.map(({ id }) => id);
      const events = await knex<{ webhook_id: number; name: string }>('webhook_events').whereIn(
        'webhook_id',
        ids,
      );
      const links = await knex('webhook_connections')
        .join('connections', 'connections.id', 'connection_id')
        .whereIn('webhook_id', ids)
        .select<(ConnectionRow & { webhook_id: number })[]>('webhook_id', 'connections.id', 'name');
      const rows = found.rows.map(row => ({
        ...row,
        events: events.filter(event => event.webhook_id === row.id),
        connections: links.filter(link => link.webhook_id === row.id),
      }));
      return { ...found, rows };
    },
  };
}
