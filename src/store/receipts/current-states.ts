import type Database from 'better-sqlite3';
import { ne, sql } from 'drizzle-orm';
import type { ListSum } from '../../audit/receipt.ts';
import { keptResources } from '../../contract/lists.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { rowsTable } from '../tables/rows-table.ts';
import { prepareValue, select } from '../tables/statement.ts';

/**
 * The sum of the content hashes beside the rows of a list, or of the connections. It does not read the rows themselves.
 *
 * @param exceptRunId rows that this run wrote are left out; 0 for all rows.
 */
export function sumOfContents(
  sqlite: Database.Database,
  resource: ListSum['resource'],
  exceptRunId = 0,
): Sum {
  const sum = new Sum();
  const table = rowsTable(resource);
  const contents = prepareValue(sqlite, (runId: number) =>
    select({ content: sql<Buffer | null>`${table.content}` })
      .from(table)
      .where(ne(table.changedRunId, runId)),
  );
  for (const content of contents.iterate(exceptRunId)) if (content?.length === contentBytes) sum.add(content);
  return sum;
}

/** The sums of all lists and the connections, in the form of a receipt. */
export function currentStates(sqlite: Database.Database, exceptRunId = 0): ListSum[] {
  return keptResources.map(resource => {
    const sum = sumOfContents(sqlite, resource, exceptRunId);
    return { resource, recordCount: sum.count, checksum: sum.toString() };
  });
}
