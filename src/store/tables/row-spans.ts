import type Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import type { RowsTable } from './rows-table.ts';
import { prepareValue, select } from './statement.ts';

/** The numbers of rows from one to another, both among them. */
export type RowSpan = [from: bigint, to: bigint];

const leastId = -(2n ** 63n);
const greatestId = 2n ** 63n - 1n;

/**
 * Spans that together cover a table's rows, with `rowsPerSpan` rows each. One statement per span is faster than one step per row.
 */
export function* rowSpans(
  sqlite: Database.Database,
  table: RowsTable,
  rowsPerSpan: number,
): Generator<RowSpan> {
  // Another program can have written a number that JavaScript can't represent exactly.
  const next = prepareValue(sqlite, (from: bigint) =>
    select({ id: sql<bigint>`${table.id}` })
      .from(table)
      .where(sql`${table.id} >= ${from}`)
      .orderBy(table.id)
      .limit(1)
      .offset(rowsPerSpan),
  ).safeIntegers();
  for (let from: bigint | undefined = leastId; from !== undefined; ) {
    const after = next.get(from);
    yield [from, after === undefined ? greatestId : after - 1n];
    from = after;
  }
}
