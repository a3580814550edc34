import { defineEntity, MikroORM, p } from '@mikro-orm/postgresql';
import { type Asked, type Found, serve, settings } from '../service.ts';

// MikroORM: findAndCount with `populate`.

const { socketFolder, database, isOrderedByTimeAlone, variant } = settings();

const Connection = defineEntity({
  name: 'Connection',
  tableName: 'connections',
  properties: { id: p.integer().primary(), name: p.string().nullable() },
});

const bothConnections = {
  sourceConnection: () => p.manyToOne(Connection).joinColumn('source_connection_id').nullable(),
  destinationConnection: () => p.manyToOne(Connection).joinColumn('destination_connection_id').nullable(),
};

const Export = defineEntity({
  name: 'Export',
  tableName: 'exports',
  properties: {
    id: p.integer().primary(),
    sourceDocumentTitle: p.string().nullable(),
    sourceDocumentReference: p.string().nullable(),
    sourceDocumentVersion: p.string().nullable(),
    sourceDocumentKind: p.string().nullable(),
    destinationReference: p.string().nullable(),
    exportedAt: p.datetime(),
    ...bothConnections,
  },
});

const Collection = defineEntity({
  name: 'Collection',
  tableName: 'collections',
  properties: { id: p.integer().primary(), name: p.string().nullable(), ...bothConnections },
});

const Event = defineEntity({
  name: 'Event',
  tableName: 'webhook_events',
  properties: {
    id: p.integer().primary(),
    name: p.string().nullable(),
    webhook: () => p.manyToOne(Webhook).joinColumn('webhook_id'),
  },
});

const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    id: p.integer().primary(),
    endpoint: p.string().nullable(),
    description: p.string().nullable(),
    events: () => p.oneToMany(Event).mappedBy('webhook'),
    connections: () =>
      p
        .manyToMany(Connection)
        .pivotTable('webhook_connections')
        .joinColumn('webhook_id')
        .inverseJoinColumn('connection_id'),
  },
});

const orm = await MikroORM.init({
  host: socketFolder,
  user: 'zoo',
  dbName: database,
  entities: [Connection, Export, Collection, Event, Webhook],
});

const pageOf = ({ pageNo = 1, pageSize }: Asked) => ({ limit: pageSize, offset: (pageNo - 1) * pageSize });

serve({
  async exports(asked) {
    const [rows, total] = await orm.em.fork().findAndCount(
      Export,
      {},
      {
        populate: ['sourceConnection', 'destinationConnection'],
        orderBy: isOrderedByTimeAlone ? { exportedAt: 'desc' } : { exportedAt: 'desc', id: 'desc' },
        ...pageOf(asked),
      },
    );
    return found(rows, total, asked);
  },
  async collections(asked) {
    const [rows, total] = await orm.em
      .fork()
      .findAndCount(
        Collection,
        {},
        { populate: ['sourceConnection', 'destinationConnection'], orderBy: { id: 'asc' }, ...pageOf(asked) },
      );
    return found(rows, total, asked);
  },
  async webhooks(asked) {
    const [rows, total] = await orm.em.fork().findAndCount(
      Webhook,
      {},
      {
        populate: ['events', 'connections'],
        orderBy: variant === 'order by an event' ? { events: { name: 'asc' } } : { id: 'asc' },
        ...pageOf(asked),
      },
    );
    const plain = rows.map(({ id, endpoint, description, events, connections }) => ({
      id,
      endpoint: endpoint ?? null,
      description: description ?? null,
      events: events.getItems(),
      connections: connections.getItems(),
    }));
    return found(plain, total, asked);
  },
});

function found<Row>(rows: readonly Row[], total: number, { pageNo = 1 }: Asked): Found<Row> {
  return { rows, total, pageNo };
}
