import type { ClickHouse } from './clickhouse.ts';
import type { PublishSource } from './source.ts';
import { changesTable, publishedTables } from './tables.ts';

/** Changes of runs, as they were sent. */
interface SentChanges {
  readonly afterRunId: number;
  readonly count: number;
}

/** One query, so that all results are from one moment. Values of other types are turned into texts. */
const comparison = [
  ...publishedTables.map(
    ({ resource, name }) =>
      `SELECT '${resource}', toString(count()), toString(sumWithOverflow(content)) FROM ${name} FINAL WHERE tenant = {tenant:String}`,
  ),
  `SELECT '${changesTable.name}', toString(count()), '0' FROM ${changesTable.name} FINAL WHERE tenant = {tenant:String} AND run_id > {after:Int64} AND run_id <= {through:Int64}`,
].join('\nUNION ALL\n');

/**
 * Compares the rows of a tenant in ClickHouse with the mirror after a run: for each list the number of rows and the sum of their
 * contents. There must be at least as many changes as were sent. There can be more, because a mirror forgets old versions.
 *
 * @returns a sentence for each difference.
 */
export async function differences(
  target: ClickHouse,
  tenant: string,
  source: PublishSource,
  throughRunId: number,
  sent: SentChanges,
): Promise<string[]> {
  const parameters = { tenant, after: sent.afterRunId, through: throughRunId };
  const rows = await target.ask(comparison, parameters);
  const held = new Map(rows.map(([name, count, sum]) => [name, { count: Number(count), sum: sum ?? '' }]));
  const lists = publishedTables.flatMap(({ resource, view }) => {
    const { recordCount, contentSum } = source.sumAfter(resource, throughRunId);
    const { count, sum } = held.get(resource) ?? { count: 0, sum: '0' };
    if (count !== recordCount) return [`${view}: ${count} rows there, ${recordCount} in the mirror`];
    if (BigInt(sum) !== BigInt(`0x${contentSum}`))
      return [`${view}: as many rows as in the mirror, ${count}, but other contents`];
    return [];
  });
  const changeCount = held.get(changesTable.name)?.count ?? 0;
  return changeCount < sent.count
    ? [...lists, `${changesTable.name}: ${changeCount} there, ${sent.count} sent`]
    : lists;
}
