import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouse } from './clickhouse.ts';
import type { EndedRun, PublishSource } from './source.ts';
import type { PublishedTable, TargetTable } from './tables.ts';

/** Rows of one insert. Larger batches were slower: 20,000 rows take 0.2 s there, and as long to be read here. */
const batchRows = 20_000;
/** Rows that are read before the batch that is being sent gets its turn. */
const turnRows = 1_000;

type Row = readonly unknown[];

interface SendOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of rows of each batch that has arrived. */
  readonly onSent?: (rowCount: number) => void;
}

/**
 * Inserts rows as they are read. Only one batch is sent while the next one is gathered, so memory does not grow with the rows.
 *
 * @returns how many rows there were.
 */
export async function insertAll(
  target: ClickHouse,
  table: TargetTable,
  rows: Iterable<Row>,
  { signal, onSent }: SendOptions = {},
): Promise<number> {
  let underWay: Promise<void> = Promise.resolve();
  let rowCount = 0;
  const send = async (batch: readonly Row[]): Promise<void> => {
    await underWay;
    underWay = target.insert(table, batch).then(() => onSent?.(batch.length));
    // This awaits it before the next batch. Until then, an unhandled rejection would end docmirror.
    underWay.catch(() => undefined);
  };
  let batch: Row[] = [];
  for (const row of rows) {
    batch.push(row);
    rowCount++;
    if (rowCount % turnRows === 0) await nextTurn();
    if (batch.length < batchRows) continue;
    signal?.throwIfAborted();
    await send(batch);
    batch = [];
  }
  if (batch.length > 0) await send(batch);
  await underWay;
  return rowCount;
}

/** The rows that runs wrote and removed in a list, in the order of the runs: an older version must not arrive last. */
export function* listRows(
  tenant: string,
  { resource }: PublishedTable,
  runs: readonly EndedRun[],
  source: PublishSource,
): Generator<Row> {
  for (const { runId } of runs) {
    for (const row of source.rows(resource, runId)) {
      const { id, values, firstSeenRunId, changedRunId, extra, content, isRemoved } = row;
      const provenance = [firstSeenRunId, changedRunId, extra, BigInt(`0x${content}`).toString()];
      // If a run removed a record and brought it back, the record exists: so a removal has the lower version.
      const version = runId * 2 + (isRemoved ? 0 : 1);
      yield [tenant, id, ...values, ...provenance, version, isRemoved ? 1 : 0];
    }
  }
}

/** The changes of runs, in their order. */
export function* changeRows(
  tenant: string,
  runs: readonly EndedRun[],
  source: PublishSource,
): Generator<Row> {
  for (const { runId } of runs) {
    for (const { changedAt, resource, recordId, operation, record } of source.changes(runId)) {
      // An erased record is null in JSON.
      yield [tenant, runId, changedAt, resource, recordId, operation, record ?? 'null'];
    }
  }
}

/** Rows that record that runs are complete. */
export function* runRows(
  runs: readonly EndedRun[],
  { mirrorId }: PublishSource,
  { tenant, clock }: { readonly tenant: string; readonly clock: () => Date },
): Generator<Row> {
  const publishedAt = clock().toISOString();
  for (const { runId, startedAt } of runs) yield [tenant, mirrorId, runId, startedAt, publishedAt];
}
