import type { RepeatedRecord } from '../../proof/windows/plain-reading.ts';
import type { ListTable } from '../tables/list-table.ts';
import type { ListReading } from './list-reading.ts';
import type { ListRows } from './list-rows.ts';

/**
 * Settles identical records that are on several pages, each of which shows only some of them. Shows as many rows as the list has,
 * and inserts the missing ones.
 */
export function settleRepeats(
  table: ListTable,
  rows: ListRows,
  reading: ListReading,
  repeated: readonly RepeatedRecord[],
): void {
  const wanted = new Map<string, { readonly count: number; readonly rows: number[] }>();
  for (const { content, count } of repeated)
    wanted.set(Buffer.from(content).toString('hex'), { count, rows: [] });
  for (const { id, content } of table.keysAndContents()) wanted.get(content)?.rows.push(id);
  for (const { count, rows: known } of wanted.values()) {
    const [first] = known;
    // A rejected record has no row.
    if (first === undefined) continue;
    const record = table.recordOf(first);
    for (const row of known.slice(0, count)) reading.showAgain(row, record.content);
    const missing = Math.max(0, count - known.length);
    for (const row of rows.insertCopies(record, missing)) reading.show(row, record.content);
  }
}
