import { keptResources, listOf } from '../../contract/lists.ts';
import { allRows, allValues, firstRow, firstValue, type Sqlite } from '../tables/ask.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { everStood } from '../tables/ever.ts';
import { noFilter } from './browsable.ts';
import { changesThatFit } from './history/changes.ts';
import { type ListStatus, RunReader } from './runs/runs.ts';
import { readMirror } from './sqlite.ts';

/** A part of time, in milliseconds since 1970; `toMs` is not part of it. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/** The times of a report: a period and the one before it, each in stretches without gaps, the oldest first. */
export interface ReportPeriod {
  readonly unit: 'hour' | 'day' | 'week' | 'month';
  readonly span: Span;
  readonly spanBefore: Span;
  readonly stretches: readonly Span[];
  /** The stretches of the period before: as many, or one more or less. */
  readonly stretchesBefore: readonly Span[];
}

/** All data of the report. */
export type ReportData = ReturnType<typeof readReport>;

const runsMax = 10;

/** Every export that ever stood: the service can have forgotten those of the period before. */
const ever = `(${everStood(listOf('document-exports'), ['exported_at_ms', 'source_connection_id', 'destination_connection_id', 'source_document_kind'])})`;

/** Reads all data of a report. Throws a MirrorFileError if there is no mirror, or it can't be read. */
export function readReport(path: string, period: ReportPeriod) {
  using runs = new RunReader(path);
  return readMirror(path, sqlite => {
    const exportsWhere = (condition: string, values: object = {}) =>
      firstValue<number>(sqlite, `SELECT count(*) FROM ${ever} WHERE ${condition}`, values) ?? 0;
    const inSpan = 'exported_at_ms >= @fromMs AND exported_at_ms < @toMs';
    const countIn = (span: Span) => exportsWhere(inSpan, span);
    const countGone = (span: Span) => exportsWhere(`${inSpan} AND version IS NOT NULL`, span);
    const statuses = runs.status();
    const recent = runs.runs(runsMax);
    const completedAt = statuses.find(({ resource }) => resource === 'document-exports')?.lastCompletedAt;
    const { span, spanBefore } = period;
    const nowMs = Date.now();
    const runMs = Math.min(nowMs, completedAt == null ? nowMs : Date.parse(completedAt));
    const knownMs = Math.ceil(Math.min(span.toMs, Math.max(span.fromMs, runMs)) / 1000) * 1000;
    const partMs = spanBefore.fromMs + knownMs - span.fromMs;
    const endMs = knownMs === span.toMs ? spanBefore.toMs : Math.min(spanBefore.toMs, partMs);
    const compared = { fromMs: spanBefore.fromMs, toMs: endMs };
    const rankingOf = (column: string, label = connectionName(column)) =>
      readRanking(sqlite, column, label, span, compared);
    return {
      baseUrl: recent[0]?.baseUrl ?? null,
      lists: statuses.map(list => ({ ...list, rejections: rejectionsOf(sqlite, list) })),
      runs: recent,
      period,
      nowMs,
      /** Later exports are missing, because the period is not over or the mirror is behind. In milliseconds since 1970. */
      knownMs,
      /** The part of the period before that is as long as the known part of this one. */
      compared,
      exports: { now: countIn(span), before: countIn(compared) },
      /** How many of these are no longer listed. */
      gone: { now: countGone(span), before: countGone(compared) },
      counts: period.stretches.map(countIn),
      countsBefore: period.stretchesBefore.map(countIn),
      undated: exportsWhere('exported_at_ms IS NULL AND version IS NULL'),
      // A mirror that is behind makes nothing quiet, however short the period is.
      quiet: readQuiet(sqlite, period, Math.min(span.toMs, runMs)),
      rankings: {
        destination: rankingOf('destination_connection_id'),
        source: rankingOf('source_connection_id'),
        kind: rankingOf('source_document_kind', "coalesce(source_document_kind, 'no kind')"),
      },
      newKinds: readNewKinds(sqlite, span),
      changes: readPeriodChanges(sqlite, span),
    };
  });
}

function rejectionsOf(sqlite: Sqlite, { resource, lastEnded }: ListStatus) {
  if (lastEnded === null || lastEnded.rejected === 0) return [];
  const counts = `SELECT reason, count(*) AS count FROM rejected_records
    WHERE last_run_id = ? AND resource = ? GROUP BY reason ORDER BY count DESC LIMIT 5`;
  return allRows<{ reason: string; count: number }>(sqlite, counts, lastEnded.runId, resource);
}

const connectionName = (id: string) =>
  `iif(${id} IS NULL, 'no connection', coalesce((SELECT nullif(trim(name), '') FROM connections WHERE id = ${id}), 'connection ' || ${id}))`;

const entriesMax = 10;

function readRanking(sqlite: Sqlite, by: string, label: string, span: Span, compared: Span) {
  const ranked = `SELECT ${label} AS label, sum(exported_at_ms >= @fromMs) AS now, sum(exported_at_ms < @cutMs) AS before
    FROM ${ever}
    WHERE exported_at_ms >= @beforeMs AND exported_at_ms < @toMs
    GROUP BY ${by} HAVING now > 0 OR before > 0 ORDER BY now DESC, before DESC, label`;
  const bound = { ...span, beforeMs: compared.fromMs, cutMs: compared.toMs };
  const all = allRows<{ label: string; now: number; before: number }>(sqlite, ranked, bound);
  const both = (of: (side: 'now' | 'before') => number) => ({ now: of('now'), before: of('before') });
  const count = both(side => all.filter(entry => entry[side] > 0).length);
  const rest = all.splice(entriesMax);
  const sums = both(side => rest.reduce((sum, entry) => sum + entry[side], 0));
  if (rest.length > 0) all.push({ label: 'All others together', ...sums });
  return { entries: all, count };
}

function readNewKinds(sqlite: Sqlite, { fromMs, toMs }: Span): string[] {
  const frequent = `SELECT source_document_kind FROM ${ever}
    WHERE exported_at_ms >= ? AND exported_at_ms < ? AND source_document_kind IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC`;
  const kinds = (from: number, to: number) => allValues<string>(sqlite, frequent, from, to);
  const found = kinds(fromMs, toMs);
  const earlier = new Set(found.length === 0 ? [] : kinds(Number.MIN_SAFE_INTEGER, fromMs));
  return earlier.size === 0 ? [] : found.filter(kind => !earlier.has(kind));
}

const dayMs = 86_400_000;
/** Nothing is quiet before that, in milliseconds: a long weekend. */
const silenceMsMin = 4 * dayMs;
/** A connection is also not quiet before its silence is this many times the usual gap between two exports. */
const usualGaps = 5;
/** The usual gap is computed from the exports of this time before the last one, in milliseconds. */
const usualMs = 90 * dayMs;
/** With fewer exports there is no usual gap. */
const exportsMin = 5;
/** A longer silence is not news, in milliseconds, unless the period before is longer. */
const newsMs = 90 * dayMs;

function readQuiet(sqlite: Sqlite, { span, spanBefore }: ReportPeriod, knownMs: number) {
  const fromMs = Math.min(knownMs - newsMs, spanBefore.fromMs);
  const quiet = (['source', 'destination'] as const).flatMap(role => {
    const column = `${role}_connection_id`;
    const silent = `WITH ended AS MATERIALIZED (
        SELECT ${column} AS id, max(exported_at_ms) AS lastMs FROM document_exports
        WHERE exported_at_ms >= @fromMs AND exported_at_ms < @toMs AND ${column} IS NOT NULL
        GROUP BY 1 HAVING lastMs <= @knownMs - ${silenceMsMin})
      SELECT ${connectionName('l.id')} AS name, l.lastMs, @knownMs - l.lastMs AS silenceMs, '${role}' AS role
      FROM document_exports e INDEXED BY document_exports_exported_at_ms CROSS JOIN ended l
      WHERE EXISTS (SELECT 1 FROM ended) AND ${column} = l.id AND exported_at_ms >= @fromMs - ${usualMs}
        AND exported_at_ms > l.lastMs - ${usualMs} AND exported_at_ms <= l.lastMs
      GROUP BY l.id, l.lastMs HAVING count(*) >= ${exportsMin}
        AND silenceMs >= ${usualGaps} * (l.lastMs - min(exported_at_ms)) / (count(*) - 1)`;
    type Quiet = { name: string; lastMs: number; silenceMs: number; role: string };
    return allRows<Quiet>(sqlite, silent, { fromMs, toMs: span.toMs, knownMs });
  });
  return quiet.sort((one, other) => other.lastMs - one.lastMs);
}

const changesMax = 6;

/**
 * The records that the runs of a period found new, changed and removed. The first run that wrote a list does not count, because all
 * of it was new. New exports are left out: they are counted by the time of the export.
 */
function readPeriodChanges(sqlite: Sqlite, { fromMs, toMs }: Span) {
  const ended =
    'SELECT min(id) AS first, max(id) AS last FROM sync_runs WHERE completed_at >= ? AND completed_at < ?';
  const times = [fromMs, toMs].map(ms => new Date(ms).toISOString());
  const { first, last } =
    firstRow<{ first: number | null; last: number | null }>(sqlite, ended, ...times) ?? {};
  if (first == null || last == null) return [];
  return keptResources.flatMap(resource => {
    // Connections belong to no list. They were found by the first run that wrote any.
    const isList = resource !== 'connections';
    const wrote = `SELECT min(run_id) FROM sync_run_resources
      WHERE ${wroteListSql} AND (@resource = 'connections' OR resource = @resource)`;
    const begun = firstValue<number>(sqlite, wrote, { resource }) ?? last;
    const from = Math.max(first, begun + 1);
    return (['insert', 'update', 'removal'] as const).flatMap(operation => {
      if (resource === 'document-exports' && operation === 'insert') return [];
      const counted = isList
        ? `SELECT total(${countColumns[operation]}) FROM sync_run_resources WHERE resource = @resource AND run_id BETWEEN @from AND @last`
        : 'SELECT count(*) FROM changes WHERE resource = @resource AND operation = @operation AND run_id BETWEEN @from AND @last';
      const bound = { resource, from, last, ...(!isList && { operation }) };
      const count = firstValue<number>(sqlite, counted, bound) ?? 0;
      if (count === 0) return [];
      const filter = { ...noFilter, resource, operation, run: null };
      const request = { filter, sinceRunId: from - 1, untilRunId: last, isDescending: true };
      const changes = changesThatFit(sqlite, request).take(changesMax).toArray();
      return [{ resource, operation, count, changes }];
    });
  });
}

const countColumns = { insert: 'inserted', update: 'updated', removal: 'removed' } as const;
