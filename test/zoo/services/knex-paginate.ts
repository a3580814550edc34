import knexOf, { type Knex } from 'knex';
import { attachPaginate } from 'knex-paginate';
import { type Asked, type Found, serve, settings } from '../service.ts';
import { listsOf } from './tables.ts';

// knex with knex-paginate: `paginate` with isLengthAware.

const { socketFolder, database, isOrderedByTimeAlone, variant } = settings();

attachPaginate();
const knex = knexOf({ client: 'pg', connection: { host: socketFolder, user: 'zoo', database } });

/** Up to here the service counts, if it does so wrongly. */
const countedAtMost = 1_000;

serve(
  listsOf(knex, isOrderedByTimeAlone, (table, order, asked) => {
    const query = knex(table);
    for (const column of order)
      query.orderBy(column.replace('-', ''), column.startsWith('-') ? 'desc' : 'asc');
    return page(query, asked);
  }),
);

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
