import type Database from 'better-sqlite3';
import type { ListSum } from '../../audit/receipt.ts';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';

/**
 * What the contents beside the rows of a list, or of the connections, come to; the rows themselves are not read.
 *
 * @param exceptRunId rows that this run wrote are left out; 0 for all rows.
 */
export function sumOfContents(
  sqlite: Database.Database,
  resource: ListSum['resource'],
  exceptRunId = 0,
): Sum {
  const sum = new Sum();
  const contents = sqlite
    .prepare<[number], Buffer | null>(`SELECT _content FROM ${tableOf(resource)} WHERE _changed_run_id <> ?`)
    .pluck();
  for (const content of contents.iterate(exceptRunId)) if (content?.length === contentBytes) sum.add(content);
  return sum;
}

/** The same of each list and the connections, as a receipt says it. */
export function currentStates(sqlite: Database.Database, exceptRunId = 0): ListSum[] {
  return keptResources.map(resource => {
    const sum = sumOfContents(sqlite, resource, exceptRunId);
    return { resource, recordCount: sum.count, checksum: sum.toString() };
  });
}
