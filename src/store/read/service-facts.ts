import { resourceNames } from '../../contract/lists.ts';
import { tryToRead } from '../../errors.ts';
import { allRows, firstRow, type Sqlite } from '../tables/ask.ts';
import { isCompleteSql, wroteListSql } from '../tables/ended-runs.ts';
import type { serviceFacts } from '../tables/schema.ts';
import { factKindOf, factKinds } from '../tables/service-facts.ts';

/** What the runs of a mirror have seen of its service. */
export type KnownService = ReturnType<typeof readService>;

/** Reads what is known of the service that the mirror was read from last. `runId` is 0 if no run has ended. */
export function readService(sqlite: Sqlite) {
  const newest =
    "SELECT id AS runId, base_url AS baseUrl, query FROM sync_runs WHERE status <> 'running' ORDER BY id DESC";
  const none = { runId: 0, baseUrl: '', query: null };
  const run = firstRow<{ runId: number; baseUrl: string; query: string | null }>(sqlite, newest) ?? none;
  const known = `SELECT f.resource, f.fact, value, previous_value AS previousValue, changed_run_id AS changedRunId,
      first_seen_run_id AS firstSeenRunId, last_seen_run_id AS lastSeenRunId, evidence, started_at AS since
    FROM service_facts f LEFT JOIN sync_runs ON id = coalesce(changed_run_id, first_seen_run_id) ORDER BY f.fact, f.resource`;
  const rows = allRows<typeof serviceFacts.$inferSelect & { since: string | null }>(sqlite, known);
  const facts = Object.values(factKinds).flatMap(kind =>
    rows.flatMap(row => {
      const [value, previousValue, evidence] = [row.value, row.previousValue, row.evidence].map(jsonIn);
      const isOfKind = factKindOf(row.fact) === kind;
      return isOfKind ? [{ section: kind.section, ...row, value, previousValue, evidence }] : [];
    }),
  );
  return { ...run, facts, rates: resourceNames.map(resource => ratesOf(sqlite, { resource, ...run })) };
}

const jsonIn = (text: string | null): unknown => tryToRead(() => JSON.parse(text ?? 'null'));

/** Rates are of so many days before the newest run that wrote the list, at most. */
const daysMax = 30;

/** Records a day, as medians. What a run brings came evenly since the run before, and what a first copy brings is not new. */
function ratesOf(sqlite: Sqlite, list: { resource: string; baseUrl: string; query: string | null }) {
  // A run that begins up to an hour earlier than the day before ends a day, too.
  const ofDays = `WITH RECURSIVE written AS MATERIALIZED (
      SELECT julianday(l.completed_at) AS stop, lag(julianday(l.completed_at)) OVER (ORDER BY run_id) AS start, inserted, updated, removed
      FROM sync_run_resources l JOIN sync_runs r ON r.id = run_id
      WHERE resource = @resource AND ${wroteListSql} AND base_url = @baseUrl AND query IS @query AND run_id >=
        (SELECT min(run_id) FROM sync_run_resources WHERE resource = @resource AND ${isCompleteSql})),
    days(last) AS (SELECT max(stop) FROM written UNION ALL SELECT last - 1 FROM days LIMIT (SELECT
      CAST(min(${daysMax}, coalesce(max(stop) - min(stop), 0) + 1 / 24.0) AS INTEGER) FROM written))
    SELECT sum(inserted * part) AS new, sum(updated * part) AS changed, sum(removed * part) AS removed
    FROM (SELECT *, (min(stop, last) - max(start, last - 1)) / (stop - start) AS part
      FROM days JOIN written ON start < last AND stop > last - 1)
    GROUP BY last`;
  const days = allRows<Record<'new' | 'changed' | 'removed', number>>(sqlite, ofDays, list);
  const median = (what: 'new' | 'changed' | 'removed') => {
    const sorted = days.map(day => day[what]).sort((one, other) => one - other);
    const [low, high = 0] = [sorted[(days.length - 1) >> 1], sorted[days.length >> 1]];
    return low === undefined ? null : Math.round(5 * (low + high)) / 10;
  };
  const rates = { new: median('new'), changed: median('changed'), removed: median('removed') };
  return { resource: list.resource, ...rates, days: days.length };
}
