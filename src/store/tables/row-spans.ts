import type Database from 'better-sqlite3';

/** The numbers of rows from one to another, both among them. */
export type RowSpan = [from: bigint, to: bigint];

const leastId = -(2n ** 63n);
const greatestId = 2n ** 63n - 1n;

/**
 * Spans that together cover a table's rows, with `rowsPerSpan` rows each. One statement per span is faster than one step per row.
 */
export function* rowSpans(sqlite: Database.Database, table: string, rowsPerSpan: number): Generator<RowSpan> {
  // Another program can have written a number that JavaScript can't represent exactly.
  const next = sqlite
    .prepare<[bigint], bigint>(
      `SELECT id FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ${rowsPerSpan}`,
    )
    .pluck()
    .safeIntegers();
  for (let from: bigint | undefined = leastId; from !== undefined; ) {
    const after = next.get(from);
    yield [from, after === undefined ? greatestId : after - 1n];
    from = after;
  }
}
