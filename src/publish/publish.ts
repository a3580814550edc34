import { setImmediate as nextTurn } from 'node:timers/promises';
import { DocmirrorError, UsageError } from '../errors.ts';
import type { EndedRun, PublishSource } from '../store/read/history/publish-source.ts';
import type { ClickHouse } from './clickhouse.ts';
import { changesTable, publishedRunsTable, publishedTables, targetTables } from './tables.ts';

/** How to publish, and for whom. */
export interface PublishOptions {
  readonly tenant: string;
  readonly again: boolean;
  /** First delete all rows of the tenant, whichever mirror published them. */
  readonly replaceTenant: boolean;
  readonly onProgress: (rowsDone: number, rowsExpected: number) => void;
}

/** How often another publisher with a later state of the mirror can get ahead before this one gives up. */
const overtakenMax = 5;

/**
 * Sends the runs that ClickHouse does not have yet, in order, compares it with the mirror, and records which runs are complete. The version
 * of a row follows from its run, so this can be interrupted anywhere, or run twice at once. `open` opens the mirror in its present state,
 * again if another publisher, with later runs, might be ahead. Throws a UsageError, or a DocmirrorError if ClickHouse differs.
 */
export async function publish(open: () => PublishSource, target: ClickHouse, options: PublishOptions) {
  const { tenant, again, replaceTenant, onProgress } = options;
  for (let overtaken = 0; ; overtaken++) {
    using source = open();
    // The rows about published runs go last: if the deletion is interrupted, the tenant is still refused.
    for (const { name } of replaceTenant && overtaken === 0 ? targetTables : [])
      await target.command(`ALTER TABLE ${name} DELETE WHERE tenant = {tenant:String}`, { tenant });
    const { mirrorId } = source;
    const published = await lastPublishedRun(target, tenant, source);
    const after = again ? 0 : published;
    const runs = source.runs().filter(({ runId }) => runId > after);
    const through = runs.at(-1)?.runId ?? after;
    const expected = 2 * source.rowCountSince(after);
    let done = 0;
    const onSent = (count: number) => {
      done += count;
      onProgress(Math.min(done, expected), expected);
    };
    let rows = 0;
    for (const table of publishedTables)
      rows += await insertAll(target, table, rowsOf(tenant, table.resource, runs, source), onSent);
    const changes = await insertAll(target, changesTable, changesOf(tenant, runs, source), onSent);
    const differences = await compare(target, source, { tenant, after, through, changes });
    if (differences.length === 0) {
      const at = new Date().toISOString();
      const recorded = runs.map(({ runId, startedAt }) => [tenant, mirrorId, runId, startedAt, at]);
      await insertAll(target, publishedRunsTable, recorded);
      const fromRunId = runs[0]?.runId ?? null;
      return { tenant, mirrorId, fromRunId, throughRunId: through, runs: runs.length, rows, changes };
    }
    using now = open();
    const differs = `ClickHouse at ${target.options.url} does not have what the mirror of ${tenant} has. ${differences.join('; ')}. "docmirror verify" says whether the mirror is sound; then publish with --again, and if that is not enough with --again --replace-tenant.`;
    if (overtaken === overtakenMax || (now.runs().at(-1)?.runId ?? 0) <= through)
      throw new DocmirrorError('publication_differs', differs);
  }
}

type Row = readonly unknown[];

/** The rows that runs wrote and removed in a list, in the order of the runs: an older version must not arrive last. */
function* rowsOf(tenant: string, resource: string, runs: readonly EndedRun[], source: PublishSource) {
  for (const { runId } of runs)
    for (const row of source.rows(resource, runId)) {
      const { id, values, firstSeenRunId, changedRunId, extra, content, isRemoved } = row;
      const provenance = [firstSeenRunId, changedRunId, extra, BigInt(`0x${content}`).toString()];
      // If a run removed a record and brought it back, the record exists: so a removal has the lower version.
      const version = runId * 2 + (isRemoved ? 0 : 1);
      yield [tenant, id, ...values, ...provenance, version, isRemoved ? 1 : 0];
    }
}

function* changesOf(tenant: string, runs: readonly EndedRun[], source: PublishSource): Generator<Row> {
  // An erased record is null in JSON.
  for (const { runId } of runs)
    for (const { changedAt, resource, recordId, operation, record } of source.changes(runId))
      yield [tenant, runId, changedAt, resource, recordId, operation, record ?? 'null'];
}

/** Rows of one insert. Larger batches were slower: 20,000 rows take 0.2 s there, and as long to be read here. */
const batchRows = 20_000;
/** Rows that are read before the batch that is being sent gets its turn. */
const turnRows = 1_000;

/** Inserts rows as they are read, and counts them. One batch is sent while the next is gathered, so memory does not grow with the rows. */
async function insertAll(
  target: ClickHouse,
  table: typeof changesTable,
  rows: Iterable<Row>,
  onSent?: (rowCount: number) => void,
): Promise<number> {
  let underWay: Promise<void> = Promise.resolve();
  let rowCount = 0;
  let batch: Row[] = [];
  const send = async () => {
    const sent = batch;
    batch = [];
    await underWay;
    underWay = target.insert(table, sent).then(() => onSent?.(sent.length));
    // This awaits it before the next batch. Until then, an unhandled rejection would end docmirror.
    underWay.catch(() => undefined);
  };
  for (const row of rows) {
    batch.push(row);
    rowCount++;
    if (rowCount % turnRows === 0) await nextTurn();
    if (batch.length === batchRows) await send();
  }
  if (batch.length > 0) await send();
  await underWay;
  return rowCount;
}

const sums = publishedTables.map(({ resource, name }) => {
  return `SELECT '${resource}', toString(count()), toString(sumWithOverflow(content)) FROM ${name} FINAL WHERE tenant = {tenant:String}`;
});
const changesCount = `SELECT '${changesTable.name}', toString(count()), '0' FROM ${changesTable.name} FINAL WHERE tenant = {tenant:String} AND run_id > {after:Int64} AND run_id <= {through:Int64}`;
/** One query, so that all results are from one moment. Values of other types are turned into texts. */
const comparison = [...sums, changesCount].join('\nUNION ALL\n');

/** Says how the rows and sums of a tenant differ from the mirror after a run. There can be more changes than were sent: mirrors forget. */
async function compare(
  target: ClickHouse,
  source: PublishSource,
  { changes, ...range }: { tenant: string; after: number; through: number; changes: number },
): Promise<string[]> {
  const rows = await target.ask(comparison, range);
  const held = new Map(rows.map(([name, count, sum = '0']) => [name, { count: Number(count), sum }]));
  const of = (name: string) => held.get(name) ?? { count: 0, sum: '0' };
  const differences = publishedTables.flatMap(({ resource, view }) => {
    const { recordCount, contentSum } = source.sumAfter(resource, range.through);
    const { count, sum } = of(resource);
    if (count !== recordCount) return [`${view}: ${count} rows there, ${recordCount} in the mirror`];
    if (BigInt(sum) === BigInt(`0x${contentSum}`)) return [];
    return [`${view}: as many rows as in the mirror, ${count}, but other contents`];
  });
  const { count } = of(changesTable.name);
  if (count < changes) differences.push(`${changesTable.name}: ${count} there, ${changes} sent`);
  return differences;
}

const newestRuns = `
  SELECT mirror_id, toString(max(run_id)), toString(toUnixTimestamp64Milli(argMax(run_started_at, run_id)))
  FROM published_runs WHERE tenant = {tenant:String} GROUP BY mirror_id`;

/** The last run of this mirror that is complete in ClickHouse, or 0. Throws a UsageError if rows are of another mirror, or of lost runs. */
async function lastPublishedRun(target: ClickHouse, tenant: string, source: PublishSource): Promise<number> {
  const advice = 'Give another --tenant, or replace all its rows with --again --replace-tenant.';
  const refusal = (why: string) => new UsageError(`The tenant ${tenant} was published ${why}. ${advice}`);
  const published = await target.ask(newestRuns, { tenant });
  let newest = 0;
  for (const [mirrorId = '', ...numbers] of published) {
    const [runId = 0, startedAtMs = 0] = numbers.map(Number);
    const loss = source.lossOf({ mirrorId, runId, startedAtMs });
    if (loss?.kind === 'other mirror')
      throw refusal(`by another mirror, ${mirrorId}. This one is ${source.mirrorId}`);
    if (loss?.kind === 'rebuilt')
      throw refusal(`up to run ${runId}, and the mirror was rebuilt since ("sync --rebuild")`);
    const unknown = `up to a run ${runId} of ${new Date(startedAtMs).toISOString()}, which this mirror does not know: it was restored to an earlier run`;
    if (loss !== null) throw refusal(unknown);
    newest = runId;
  }
  return newest;
}
