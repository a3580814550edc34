import 'reflect-metadata';
import {
  DataSource,
  EntitySchema,
  type FindManyOptions,
  type ObjectLiteral,
  type Repository,
} from 'typeorm-1';
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

// TypeORM: find options with relations, `skip` and `take`, and findAndCount.

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

serve({
  exports: paged(source.getRepository(exportSchema), {
    relations,
    order: isOrderedByTimeAlone ? { exportedAt: 'DESC' } : { exportedAt: 'DESC', id: 'DESC' },
  }),
  collections: paged(source.getRepository(collectionSchema), { relations, order: { id: 'ASC' } }),
  webhooks: paged(source.getRepository(webhookSchema), {
    relations: { events: true, connections: true },
    // A webhook has several events, so it comes at several places of this order.
    order: variant === 'order by an event' ? { events: { name: 'ASC' } } : { id: 'ASC' },
  }),
});

function paged<Row extends ObjectLiteral>(repository: Repository<Row>, options: FindManyOptions<Row>) {
  return async ({ pageNo = 1, pageSize }: Asked): Promise<Found<Row>> => {
    const [rows, total] = await repository.findAndCount({
      ...options,
      skip: (pageNo - 1) * pageSize,
      take: pageSize,
    });
    return { rows, total, pageNo };
  };
}
