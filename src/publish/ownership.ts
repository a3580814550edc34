import { UsageError } from '../errors.ts';
import type { ClickHouse } from './clickhouse.ts';
import type { EndedRun, PublishSource } from './source.ts';
import { targetTables } from './tables.ts';

/** The newest run that a mirror has published for a tenant. */
interface PublishedRun {
  readonly mirrorId: string;
  readonly runId: number;
  readonly startedAtMs: number;
}

const newestRuns = `
  SELECT mirror_id, toString(max(run_id)), toString(toUnixTimestamp64Milli(argMax(run_started_at, run_id)))
  FROM published_runs WHERE tenant = {tenant:String} GROUP BY mirror_id`;

/**
 * The last run of this mirror that is complete in ClickHouse; 0 if there is none.
 *
 * @throws UsageError if the tenant's rows are from another mirror, or from runs that this mirror no longer knows.
 */
export async function lastPublishedRun(
  target: ClickHouse,
  tenant: string,
  source: PublishSource,
): Promise<number> {
  const published = (await target.ask(newestRuns, { tenant })).map(
    ([mirrorId = '', runId, startedAtMs]): PublishedRun => ({
      mirrorId,
      runId: Number(runId),
      startedAtMs: Number(startedAtMs),
    }),
  );
  const other = published.find(({ mirrorId }) => mirrorId !== source.mirrorId);
  if (other !== undefined)
    throw refusal(
      tenant,
      `was published by another mirror, ${other.mirrorId}. This one is ${source.mirrorId}`,
    );
  const own = published[0];
  if (own === undefined) return 0;
  const isSame = (run: EndedRun) => run.runId === own.runId && Date.parse(run.startedAt) === own.startedAtMs;
  if (!source.runs().some(isSame))
    throw refusal(
      tenant,
      `was published up to a run ${own.runId} of ${new Date(own.startedAtMs).toISOString()}, which this mirror does not know: it was restored to an earlier run`,
    );
  if (own.runId <= source.lastRunBeforeRebuild)
    throw refusal(
      tenant,
      `was published up to run ${own.runId}, and the mirror was rebuilt since ("sync --rebuild" after run ${source.lastRunBeforeRebuild})`,
    );
  return own.runId;
}

/** Deletes all rows of the tenant. The rows about published runs go last: if the deletion is interrupted, the tenant is still refused. */
export async function deleteTenant(target: ClickHouse, tenant: string): Promise<void> {
  for (const { name } of targetTables)
    await target.command(`ALTER TABLE ${name} DELETE WHERE tenant = {tenant:String}`, { tenant });
}

function refusal(tenant: string, why: string): UsageError {
  return new UsageError(
    `The tenant ${tenant} ${why}. Give another --tenant, or replace all its rows with --again --replace-tenant.`,
  );
}
