import 'reflect-metadata';
import { paginate } from 'nestjs-typeorm-paginate';
import {
  DataSource,
  EntitySchema,
  type FindManyOptions,
  type ObjectLiteral,
  type Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import {
  type Asked,
  type CollectionRow,
  type ConnectionRow,
  type Found,
  serve,
  settings,
} from '../service.ts';
import {
  collectionEntity,
  connectionEntity,
  type Event,
  type Export,
  eventEntity,
  exportEntity,
  type Webhook,
  webhookEntity,
} from './entities.ts';

// nestjs-typeorm-paginate: `paginate` with a repository and find options, or with a query builder.

const { socketFolder, database, isOrderedByTimeAlone, variant } = settings();

const exportSchema = new EntitySchema<Export>(exportEntity);
const collectionSchema = new EntitySchema<CollectionRow>(collectionEntity);
const webhookSchema = new EntitySchema<Webhook>(webhookEntity);
const source = await new DataSource({
  type: 'postgres',
  host: socketFolder,
  username: 'zoo',
  database,
  entities: [
    new EntitySchema<ConnectionRow>(connectionEntity),
    exportSchema,
    collectionSchema,
    new EntitySchema<Event>(eventEntity),
    webhookSchema,
  ],
}).initialize();

const relations = { sourceConnection: true, destinationConnection: true };
const webhooks = source.getRepository(webhookSchema);

serve({
  exports: paged(source.getRepository(exportSchema), {
    relations,
    order: isOrderedByTimeAlone ? { exportedAt: 'DESC' } : { exportedAt: 'DESC', id: 'DESC' },
  }),
  collections: paged(source.getRepository(collectionSchema), { relations, order: { id: 'ASC' } }),
  webhooks:
    variant === 'query builder with joins'
      ? built(() =>
          webhooks
            .createQueryBuilder('webhook')
            .leftJoinAndSelect('webhook.events', 'event')
            .leftJoinAndSelect('webhook.connections', 'connection')
            .orderBy('webhook.id'),
        )
      : paged(webhooks, {
          relations: { events: true, connections: true },
          order: variant === 'order by an event' ? { events: { name: 'ASC' } } : { id: 'ASC' },
        }),
});

function paged<Row extends ObjectLiteral>(repository: Repository<Row>, options: FindManyOptions<Row>) {
  return async ({ pageNo = 1, pageSize }: Asked): Promise<Found<Row>> => {
    const { items, meta } = await paginate(repository, { page: pageNo, limit: pageSize }, options);
    return { rows: items, total: meta.totalItems ?? 0, pageNo: meta.currentPage };
  };
}

function built<Row extends ObjectLiteral>(query: () => SelectQueryBuilder<Row>) {
  return async ({ pageNo = 1, pageSize }: Asked): Promise<Found<Row>> => {
    const { items, meta } = await paginate(query(), { page: pageNo, limit: pageSize });
    return { rows: items, total: meta.totalItems ?? 0, pageNo: meta.currentPage };
  };
}
