import knexOf from 'knex';
import { Model, type Page, type QueryBuilder, snakeCaseMappers } from 'objection';
import {
  type Asked,
  type CollectionRow,
  type ConnectionRow,
  type ExportRow,
  type Found,
  serve,
  settings,
  type WebhookRow,
} from '../service.ts';

// Objection: `page`, which counts pages from 0, and relations by withGraphFetched.

const { socketFolder, database, isOrderedByTimeAlone, variant } = settings();

Model.knex(knexOf({ client: 'pg', connection: { host: socketFolder, user: 'zoo', database } }));
Model.columnNameMappers = snakeCaseMappers();

class Connection extends Model implements ConnectionRow {
  static override tableName = 'connections';
  declare id: number;
  declare name: string | null;
}

class Export extends Model implements ExportRow {
  static override tableName = 'exports';
  static override relationMappings = bothConnections('exports');
  declare sourceConnection: Connection | null;
  declare sourceDocumentTitle: string | null;
  declare sourceDocumentReference: string | null;
  declare sourceDocumentVersion: string | null;
  declare sourceDocumentKind: string | null;
  declare destinationConnection: Connection | null;
  declare destinationReference: string | null;
  declare exportedAt: Date;
}

class Collection extends Model implements CollectionRow {
  static override tableName = 'collections';
  static override relationMappings = bothConnections('collections');
  declare id: number;
  declare name: string | null;
  declare sourceConnection: Connection | null;
  declare destinationConnection: Connection | null;
}

class Event extends Model {
  static override tableName = 'webhook_events';
  declare name: string | null;
}

class Webhook extends Model implements WebhookRow {
  static override tableName = 'webhooks';
  static override relationMappings = {
    events: {
      relation: Model.HasManyRelation,
      modelClass: Event,
      join: { from: 'webhooks.id', to: 'webhook_events.webhook_id' },
    },
    connections: {
      relation: Model.ManyToManyRelation,
      modelClass: Connection,
      join: {
        from: 'webhooks.id',
        through: { from: 'webhook_connections.webhook_id', to: 'webhook_connections.connection_id' },
        to: 'connections.id',
      },
    },
  };
  declare id: number;
  declare endpoint: string | null;
  declare description: string | null;
  declare events: Event[];
  declare connections: Connection[];
}

function bothConnections(table: string) {
  const connection = (column: string) => ({
    relation: Model.BelongsToOneRelation,
    modelClass: Connection,
    join: { from: `${table}.${column}`, to: 'connections.id' },
  });
  return {
    sourceConnection: connection('source_connection_id'),
    destinationConnection: connection('destination_connection_id'),
  };
}

const graph = '[sourceConnection, destinationConnection]';

serve({
  exports: paged(() => {
    const query = Export.query().withGraphFetched(graph).orderBy('exported_at', 'desc');
    return isOrderedByTimeAlone ? query : query.orderBy('id', 'desc');
  }),
  collections: paged(() => Collection.query().withGraphFetched(graph).orderBy('id')),
  webhooks: paged(() =>
    variant === 'withGraphJoined'
      ? Webhook.query().withGraphJoined('[events, connections]').orderBy('webhooks.id')
      : Webhook.query().withGraphFetched('[events, connections]').orderBy('id'),
  ),
});

function paged<Row extends Model>(query: () => QueryBuilder<Row, Row[]>) {
  return async ({ pageNo = 0, pageSize }: Asked): Promise<Found<Row>> => {
    const { results, total }: Page<Row> = await query().page(pageNo, pageSize);
    return { rows: results, total, pageNo };
  };
}
