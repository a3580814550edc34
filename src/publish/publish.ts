import { DocmirrorError } from '../errors.ts';
import { checkTables } from './check-tables.ts';
import type { ClickHouse } from './clickhouse.ts';
import { differences } from './compare.ts';
import { deleteTenant, lastPublishedRun } from './ownership.ts';
import { changeRows, insertAll, listRows, runRows } from './send.ts';
import type { EndedRun, PublishSource } from './source.ts';
import { changesTable, publishedRunsTable, publishedTables } from './tables.ts';

/** How to publish, and for whom. */
export interface PublishOptions {
  readonly tenant: string;
  /** Also send again what was already sent. */
  readonly again: boolean;
  /** First delete all rows of the tenant, whichever mirror published them. */
  readonly replaceTenant: boolean;
  readonly clock: () => Date;
  readonly signal: AbortSignal;
  readonly onProgress: (rowsDone: number, rowsExpected: number) => void;
}

/** The result of a publication. It exists only if ClickHouse was compared with the mirror and no difference was found. */
export interface Publication {
  readonly tenant: string;
  readonly mirrorId: string;
  /** The first run that was sent; null if all were already there. */
  readonly fromRunId: number | null;
  /** The newest run that is now complete in ClickHouse. */
  readonly throughRunId: number;
  /** How many runs, rows and changes were sent. */
  readonly runs: number;
  readonly rows: number;
  readonly changes: number;
}

/** How often another publisher with a later state of the mirror can get ahead before this one gives up. */
const overtakenMax = 5;

/**
 * Brings a mirror into ClickHouse: sends the runs that are not there yet, in their order, and compares the result with the mirror.
 * Then it records which runs are complete. The version of every row follows from its run, so sending one twice changes nothing. A
 * publication can be interrupted anywhere, or run twice at once.
 *
 * @param open opens the mirror in its present state. It is called again if another publisher, with later runs, got ahead.
 * @throws UsageError if the server lacks the tables or refuses the password, or the tenant is not this mirror's.
 * @throws DocmirrorError if ClickHouse does not have what the mirror has.
 */
export async function publish(
  open: () => PublishSource,
  target: ClickHouse,
  options: PublishOptions,
): Promise<Publication> {
  const sent: Sent = { runs: [], rows: 0, changes: 0 };
  for (let overtaken = 0; ; overtaken++) {
    using source = open();
    const isFirst = overtaken === 0;
    if (isFirst) await checkTables(target);
    const found = await sendNewRuns(source, target, { ...options, again: options.again && isFirst }, sent);
    if (found.differences.length === 0) {
      await insertAll(target, publishedRunsTable, runRows(sent.runs, source, options));
      return {
        tenant: options.tenant,
        mirrorId: source.mirrorId,
        fromRunId: sent.runs[0]?.runId ?? null,
        throughRunId: found.throughRunId,
        runs: sent.runs.length,
        rows: sent.rows,
        changes: sent.changes,
      };
    }
    const isOvertaken =
      overtaken < overtakenMax && (await hasLaterRows(target, options.tenant, found.throughRunId));
    if (!isOvertaken || !hasNewerRun(open, found.throughRunId))
      throw differs(target, options.tenant, found.differences);
  }
}

/** The rows that all attempts sent. */
interface Sent {
  readonly runs: EndedRun[];
  rows: number;
  changes: number;
}

async function sendNewRuns(
  source: PublishSource,
  target: ClickHouse,
  options: PublishOptions,
  sent: Sent,
): Promise<{ throughRunId: number; differences: string[] }> {
  const { tenant, signal } = options;
  if (options.again && options.replaceTenant) await deleteTenant(target, tenant);
  const published = await lastPublishedRun(target, tenant, source);
  const sentUpTo = sent.runs.at(-1)?.runId ?? 0;
  const afterRunId = options.again ? 0 : Math.max(published, sentUpTo);
  const runs = source.runs().filter(({ runId }) => runId > afterRunId);
  const expected = 2 * source.rowCountSince(afterRunId);
  let done = 0;
  const onSent = (count: number) => {
    done += count;
    options.onProgress(Math.min(done, expected), expected);
  };
  for (const table of publishedTables) {
    sent.rows += await insertAll(target, table, listRows(tenant, table, runs, source), {
      signal,
      onSent,
    });
  }
  const changes = await insertAll(target, changesTable, changeRows(tenant, runs, source), { signal, onSent });
  sent.changes += changes;
  sent.runs.push(...runs);
  const throughRunId = runs.at(-1)?.runId ?? afterRunId;
  const feed = { afterRunId, count: changes };
  return { throughRunId, differences: await differences(target, tenant, source, throughRunId, feed) };
}

/** True if there are rows of later runs than this publication has: another one is ahead of it, or was interrupted. */
async function hasLaterRows(target: ClickHouse, tenant: string, runId: number): Promise<boolean> {
  const newest = publishedTables
    .map(({ name }) => `SELECT max(version) AS newest FROM ${name} WHERE tenant = {tenant:String}`)
    .join(' UNION ALL ');
  const [row] = await target.ask(`SELECT toString(max(newest)) FROM (${newest})`, { tenant });
  return Number(row?.[0] ?? 0) > runId * 2 + 1;
}

function hasNewerRun(open: () => PublishSource, runId: number): boolean {
  using source = open();
  return (source.runs().at(-1)?.runId ?? 0) > runId;
}

function differs({ url }: ClickHouse, tenant: string, found: readonly string[]): DocmirrorError {
  return new DocmirrorError(
    'publication_differs',
    `ClickHouse at ${url} does not have what the mirror of ${tenant} has. ${found.join('; ')}. "docmirror verify" says whether the mirror is sound; then publish with --again, and if that is not enough with --again --replace-tenant.`,
  );
}
