import { UsageError } from '../errors.ts';
import type { ClickHouse } from './clickhouse.ts';
import { howToMake } from './faults.ts';
import { targetTables } from './tables.ts';

const namedMax = 3;
const columnsQuery =
  'SELECT table, name, type FROM system.columns WHERE database = {database:String} ORDER BY table, position';

/**
 * Makes sure that the tables are those that this docmirror fills. They can have additional columns.
 *
 * @throws UsageError that names what is missing and how to make it.
 */
export async function checkTables(target: ClickHouse): Promise<void> {
  const rows = await target.ask(columnsQuery, { database: target.database });
  const found = new Map(rows.map(([table, name, type]) => [`${table}.${name}`, type]));
  const wrong = targetTables.flatMap(({ name: table, columns }) =>
    columns.flatMap(({ name, type }) => {
      const actual = found.get(`${table}.${name}`);
      if (actual === type) return [];
      return [actual === undefined ? `no ${table}.${name}` : `${table}.${name} is ${actual}, not ${type}`];
    }),
  );
  if (wrong.length === 0) return;
  const where = `The database ${target.database} of ClickHouse at ${target.url}`;
  const named = wrong.slice(0, namedMax).join(', ');
  const more = wrong.length > namedMax ? ` and ${wrong.length - namedMax} more` : '';
  throw new UsageError(
    `${where} does not have the tables of this docmirror (${named}${more}); ${howToMake(target.database)}`,
  );
}
