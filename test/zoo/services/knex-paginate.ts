import knexOf, { type Knex } from 'knex';
import { attachPaginate } from 'knex-paginate';
import { type Asked, type ConnectionRow, type Found, serve, settings } from '../service.ts';

// knex with knex-paginate: `paginate` with isLengthAware. What belongs to a page's rows is asked for afterwards.

const { socketFolder, database, isOrderedByTimeAlone, variant } = settings();

attachPaginate();
const knex = knexOf({ client: 'pg', connection: { host: socketFolder, user: 'zoo', database } });

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

/** Up to here the service counts, if it does so wrongly. */
const countedAtMost = 1_000;

serve({
  async exports(asked) {
    const query = knex<ExportColumns>('exports').orderBy('exported_at', 'desc');
    const found = await page<ExportColumns>(
      isOrderedByTimeAlone ? query : query.orderBy('id', 'desc'),
      asked,
    );
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
    const found = await page<CollectionColumns>(knex('collections').orderBy('id'), asked);
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
    const found = await page<WebhookColumns>(knex('webhooks').orderBy('id'), asked);
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
});

async function page<Row>(query: Knex.QueryBuilder, { pageNo = 1, pageSize }: Asked): Promise<Found<Row>> {
  const counted = query.clone().limit(countedAtMost).as('counted');
  const asked = { perPage: pageSize, currentPage: pageNo };
  if (variant === 'no isLengthAware') {
    // Then only page 1 has a total.
    const { data, pagination } = await query.paginate(asked);
    const isFull = data.length === pageSize;
    return { rows: data, total: pagination.to + (isFull ? 1 : 0), pageNo };
  }
  const { data, pagination } = await query.paginate({ ...asked, isLengthAware: true });
  if (variant !== 'limit in the count') return { rows: data, total: pagination.total, pageNo };
  const [{ total = 0 } = {}] = await knex.from(counted).count<{ total: string }[]>({ total: '*' });
  return { rows: data, total: Number(total), pageNo };
}

async function allConnections(): Promise<ReadonlyMap<number, ConnectionRow>> {
  return new Map((await knex<ConnectionRow>('connections')).map(row => [row.id, row]));
}
