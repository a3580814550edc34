import { Application } from '@adonisjs/core/app';
import { Emitter } from '@adonisjs/core/events';
import { Logger } from '@adonisjs/core/logger';
import { Database } from '@adonisjs/lucid/database';
import knexOf from 'knex';
import { serve, settings } from '../service.ts';
import { listsOf } from './tables.ts';

// AdonisJS with Lucid: `paginate` of its query builder.

const { socketFolder, database, isOrderedByTimeAlone } = settings();

const connection = { host: socketFolder, user: 'zoo', database };
const app = new Application(new URL('.', import.meta.url), { environment: 'web', importer: () => undefined });
const lucid = new Database(
  { connection: 'pg', connections: { pg: { client: 'pg', connection } } },
  new Logger({ enabled: false }),
  new Emitter(app),
);

serve(
  listsOf(
    knexOf({ client: 'pg', connection }),
    isOrderedByTimeAlone,
    async (table, order, { pageNo = 1, pageSize }) => {
      const query = lucid.from(table);
      for (const column of order)
        query.orderBy(column.replace('-', ''), column.startsWith('-') ? 'desc' : 'asc');
      const page = await query.paginate(pageNo, pageSize);
      return { rows: page.all(), total: page.total, pageNo: page.currentPage };
    },
  ),
);
