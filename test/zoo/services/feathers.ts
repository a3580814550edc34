import { feathers } from '@feathersjs/feathers';
import { KnexService } from '@feathersjs/knex';
import knexOf from 'knex';
import { type Asked, type Found, serve, settings } from '../service.ts';
import { listsOf, type Tables } from './tables.ts';

// Feathers with @feathersjs/knex: `find` with $limit and $skip, and `paginate` in the options of a service.

const { socketFolder, database, isOrderedByTimeAlone } = settings();

const knex = knexOf({ client: 'pg', connection: { host: socketFolder, user: 'zoo', database } });
const app = feathers();
for (const name of ['exports', 'collections', 'webhooks'])
  app.use(name, new KnexService({ Model: knex, name, paginate: { default: 50, max: 100 } }));

serve(listsOf(knex, isOrderedByTimeAlone, find));

async function find<Row>(
  table: keyof Tables,
  order: readonly string[],
  { pageNo = 1, pageSize }: Asked,
): Promise<Found<Row>> {
  const $sort = Object.fromEntries(
    order.map(column => [column.replace('-', ''), column.startsWith('-') ? -1 : 1]),
  );
  const query = { $limit: pageSize, $skip: (pageNo - 1) * pageSize, $sort };
  const { data, total }: { data: Row[]; total: number } = await app.service(table).find({ query });
  return { rows: data, total, pageNo };
}
