import type Database from 'better-sqlite3';
import { keptResources } from '../../contract/lists.ts';
import { openForReading } from '../file/open.ts';
import { wroteListSql } from '../tables/written-lists.ts';
import type { Change } from './change-cursor.ts';
import { type ListStatus, type RecordedRun, RunReader } from './run-reader.ts';

/** A part of time, in milliseconds since 1970; `toMs` is not part of it. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A stretch of a period: one bar of a chart. */
export interface Stretch extends Span {
  /** False if an end of the period cuts it: for example a month with only ten days in the period. */
  readonly isWhole: boolean;
}

/** The times of a report: a period and the one before it, each in stretches without gaps, the oldest first. */
export interface ReportPeriod {
  /** The name of the time zone in which days and months begin. */
  readonly timezone: string;
  readonly unit: 'hour' | 'day' | 'month' | 'year';
  readonly span: Span;
  readonly spanBefore: Span;
  /** At least one. */
  readonly stretches: readonly Stretch[];
  /** The stretches of the period before: as many, or one more or less. */
  readonly stretchesBefore: readonly Stretch[];
  /** When the report is made, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** How many exports there are in the period, and in the part of the period before with which it is compared. */
export interface Numbers {
  readonly now: number;
  readonly before: number;
}

/** Exports by what they have in common, the most frequent in the period first. */
export interface Ranking {
  /** The first 50. */
  readonly entries: readonly ({ readonly label: string } & Numbers)[];
  /** Exports in all entries, also those that are left out. */
  readonly exports: Numbers;
  /** How many entries have any export. */
  readonly count: Numbers;
  /** The labels of those with their first export in the period. */
  readonly first: readonly string[];
}

/** Exports that came regularly and stopped. */
export interface Silence {
  readonly lastMs: number;
  readonly silenceMs: number;
}

/** A connection that has stopped exporting or receiving. */
export interface QuietConnection extends Silence {
  readonly role: 'source' | 'destination';
  readonly name: string;
}

/** Changes of one kind in one list that the runs of a period found. */
export interface ChangesOfKind {
  readonly resource: string;
  readonly operation: Change['operation'];
  readonly count: number;
  /** The newest few. */
  readonly changes: readonly Change[];
}

/** One list, as the report shows it. */
export interface ReportList extends ListStatus {
  /** Why records of its last run could not be read: the most frequent reasons. */
  readonly rejections: readonly {
    readonly reason: string;
    readonly count: number;
    readonly firstPageNo: number;
  }[];
}

/** The rankings of a report. */
export type RankingName = 'destination' | 'source' | 'kind';

/** All data of the report. */
export interface ReportData {
  /** Null if no run is recorded. */
  readonly baseUrl: string | null;
  readonly lists: readonly ReportList[];
  readonly runCount: number;
  /** The newest first. */
  readonly runs: readonly RecordedRun[];
  readonly period: ReportPeriod;
  /**
   * The period is known up to this time, in milliseconds since 1970. Later exports are missing, because the period is not over or
   * the mirror is behind.
   */
  readonly knownMs: number;
  /** The part of the period before that is as long as the known part of this one. */
  readonly compared: Span;
  readonly exports: Numbers;
  /** Exports in each stretch of the period, and of the period before. */
  readonly counts: readonly number[];
  readonly countsBefore: readonly number[];
  /** Exports whose time is missing or can't be read. */
  readonly undated: number;
  /** The last export up to the end of the period, in milliseconds since 1970; null if there is none. */
  readonly lastMs: number | null;
  /** How long nothing was exported at all, if that is longer than usual. */
  readonly silence: Silence | null;
  /** The connections that went quiet in the period or shortly before, the latest first. */
  readonly quiet: readonly QuietConnection[];
  readonly rankings: Readonly<Record<RankingName, Ranking>>;
  readonly changes: readonly ChangesOfKind[];
}

const runsMax = 60;

/**
 * Reads all data of a report.
 *
 * @throws MirrorFileError if there is no mirror, or it can't be read.
 */
export function readReport(path: string, period: ReportPeriod): ReportData {
  using file = openForReading(path);
  using runs = new RunReader(path);
  const { sqlite } = file;
  const number = (text: string, ...values: number[]) =>
    sqlite
      .prepare<number[], number | null>(text)
      .pluck()
      .get(...values) ?? null;
  return sqlite.transaction((): ReportData => {
    const statuses = runs.status();
    const recent = runs.runs(runsMax);
    const completedAt = statuses.find(({ resource }) => resource === 'document-exports')?.lastCompletedAt;
    const { span, spanBefore } = period;
    const runMs = Math.min(period.nowMs, completedAt == null ? period.nowMs : Date.parse(completedAt));
    const knownMs = Math.ceil(Math.min(span.toMs, Math.max(span.fromMs, runMs)) / 1000) * 1000;
    const comparedMs = spanBefore.fromMs + knownMs - span.fromMs;
    const compared = {
      fromMs: spanBefore.fromMs,
      toMs: knownMs === span.toMs ? spanBefore.toMs : Math.min(spanBefore.toMs, comparedMs),
    };
    const countIn = ({ fromMs, toMs }: Span) =>
      number(
        'SELECT count(*) FROM document_exports WHERE exported_at_ms >= ? AND exported_at_ms < ?',
        fromMs,
        toMs,
      ) ?? 0;
    const bounds = {
      fromMs: span.fromMs,
      toMs: span.toMs,
      beforeMs: spanBefore.fromMs,
      cutMs: compared.toMs,
    };
    const hasEarlier =
      number('SELECT 1 FROM document_exports WHERE exported_at_ms < ? LIMIT 1', span.fromMs) !== null;
    const rankingOf = (name: RankingName, hasFirst: boolean) =>
      readRanking(sqlite, name, bounds, hasFirst && hasEarlier);
    return {
      baseUrl: recent[0]?.baseUrl ?? null,
      lists: statuses.map(list => ({ ...list, rejections: rejectionsOf(sqlite, list) })),
      runCount: number('SELECT count(*) FROM sync_runs') ?? 0,
      runs: recent,
      period,
      knownMs,
      compared,
      exports: { now: countIn(span), before: countIn(compared) },
      counts: period.stretches.map(countIn),
      countsBefore: period.stretchesBefore.map(countIn),
      undated: number('SELECT count(*) FROM document_exports WHERE exported_at_ms IS NULL') ?? 0,
      lastMs: number('SELECT max(exported_at_ms) FROM document_exports WHERE exported_at_ms < ?', span.toMs),
      // A mirror that is behind makes nothing quiet, however short the period is.
      ...readSilence(sqlite, period, Math.min(span.toMs, runMs)),
      rankings: {
        destination: rankingOf('destination', false),
        source: rankingOf('source', false),
        kind: rankingOf('kind', true),
      },
      changes: readPeriodChanges(sqlite, span),
    };
  })();
}

function rejectionsOf(
  sqlite: Database.Database,
  { resource, lastEnded }: ListStatus,
): ReportList['rejections'] {
  if (lastEnded === null || lastEnded.rejected === 0) return [];
  return sqlite
    .prepare<[number, string], ReportList['rejections'][number]>(
      `SELECT reason, count(*) AS count, min(page_no) AS firstPageNo FROM rejected_records
       WHERE last_run_id = ? AND resource = ? GROUP BY reason ORDER BY count DESC LIMIT 5`,
    )
    .all(lastEnded.runId, resource);
}

const connectionName = (id: string) =>
  `iif(${id} IS NULL, 'no connection', coalesce((SELECT name FROM connections WHERE id = ${id}), 'connection ' || ${id}))`;

/** The column by which a ranking groups, and the label of a group. */
const groups: Readonly<Record<RankingName, readonly [column: string, label: string]>> = {
  source: ['source_connection_id', connectionName('source_connection_id')],
  destination: ['destination_connection_id', connectionName('destination_connection_id')],
  kind: ['source_document_kind', "coalesce(source_document_kind, 'no kind')"],
};

const entriesMax = 50;
const firstMax = 1_000;

/** The times between which a ranking counts, in milliseconds since 1970. */
interface Bounds {
  readonly fromMs: number;
  readonly toMs: number;
  /** The period before, up to `cutMs`. */
  readonly beforeMs: number;
  readonly cutMs: number;
}

function readRanking(
  sqlite: Database.Database,
  name: RankingName,
  bounds: Bounds,
  hasFirst: boolean,
): Ranking {
  const [by, label] = groups[name];
  const grouped = `SELECT ${by}, sum(exported_at_ms >= @fromMs) AS now, sum(exported_at_ms < @cutMs) AS before, min(exported_at_ms) AS firstMs
    FROM document_exports INDEXED BY document_exports_exported_at_ms
    WHERE exported_at_ms >= @beforeMs AND exported_at_ms < @toMs GROUP BY ${by}`;
  const entries = sqlite
    .prepare<
      Bounds,
      Record<'now' | 'before' | 'allNow' | 'allBefore' | 'countNow' | 'countBefore', number> & {
        label: string;
      }
    >(
      `SELECT ${label} AS label, now, before, sum(now) OVER () AS allNow, sum(before) OVER () AS allBefore,
         count(*) FILTER (WHERE now > 0) OVER () AS countNow, count(*) FILTER (WHERE before > 0) OVER () AS countBefore
       FROM (${grouped}) WHERE now > 0 OR before > 0 ORDER BY now DESC, before DESC, label LIMIT ${entriesMax}`,
    )
    .all(bounds);
  const [all] = entries;
  // Most have exports in the period before. Only for the others all earlier exports are searched.
  const isNew = `now > 0 AND firstMs >= @fromMs AND ${by} IS NOT NULL`;
  const first = !hasFirst
    ? []
    : sqlite
        .prepare<Bounds, string>(
          `WITH fresh AS MATERIALIZED (SELECT * FROM (${grouped}) WHERE ${isNew} ORDER BY now DESC LIMIT ${firstMax}),
             known AS MATERIALIZED (SELECT DISTINCT ${by} FROM document_exports WHERE EXISTS (SELECT 1 FROM fresh)
               AND exported_at_ms < @beforeMs AND ${by} IN (SELECT ${by} FROM fresh))
           SELECT ${label} FROM fresh WHERE ${by} NOT IN (SELECT ${by} FROM known) ORDER BY now DESC`,
        )
        .pluck()
        .all(bounds);
  return {
    entries: entries.map(({ label: text, now, before }) => ({ label: text, now, before })),
    exports: { now: all?.allNow ?? 0, before: all?.allBefore ?? 0 },
    count: { now: all?.countNow ?? 0, before: all?.countBefore ?? 0 },
    first,
  };
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

interface Regular {
  readonly id: number | null;
  readonly lastMs: number;
  readonly firstMs: number;
  readonly count: number;
}

/** Whether all exports, or those of some connections, have stopped. */
function readSilence(
  sqlite: Database.Database,
  { span, spanBefore }: ReportPeriod,
  knownMs: number,
): Pick<ReportData, 'silence' | 'quiet'> {
  const newsFromMs = Math.min(knownMs - newsMs, spanBefore.fromMs);
  const regulars = (column: string, fromMs: number) =>
    sqlite
      .prepare<object, Regular>(
        `WITH ended AS MATERIALIZED (
           SELECT ${column} AS id, max(exported_at_ms) AS lastMs FROM document_exports
           WHERE exported_at_ms >= @fromMs AND exported_at_ms < @toMs GROUP BY 1 HAVING lastMs <= @quietMs)
         SELECT l.id, l.lastMs, min(e.exported_at_ms) AS firstMs, count(*) AS count
         FROM document_exports e INDEXED BY document_exports_exported_at_ms CROSS JOIN ended l
         WHERE EXISTS (SELECT 1 FROM ended) AND ${column === 'NULL' ? '' : `l.id = e.${column} AND`} e.exported_at_ms >= @fromMs - ${usualMs}
           AND e.exported_at_ms > l.lastMs - ${usualMs} AND e.exported_at_ms <= l.lastMs GROUP BY 1, 2`,
      )
      .all({ fromMs, toMs: span.toMs, quietMs: knownMs - silenceMsMin });
  const silent = ({ lastMs, firstMs, count }: Regular): Silence[] => {
    const silenceMs = knownMs - lastMs;
    const isRegular = count >= exportsMin && silenceMs >= (usualGaps * (lastMs - firstMs)) / (count - 1);
    return isRegular ? [{ lastMs, silenceMs }] : [];
  };
  const name = sqlite.prepare<[number], string | null>('SELECT name FROM connections WHERE id = ?').pluck();
  const quiet = (['source', 'destination'] as const).flatMap(role =>
    regulars(`${role}_connection_id`, newsFromMs).flatMap(each =>
      each.id === null
        ? []
        : silent(each).map(silence => ({
            ...silence,
            role,
            name: name.get(each.id as number) ?? `connection ${each.id}`,
          })),
    ),
  );
  return {
    silence: regulars('NULL', Number.MIN_SAFE_INTEGER).flatMap(silent)[0] ?? null,
    quiet: quiet.sort((a, b) => b.lastMs - a.lastMs),
  };
}

const changesMax = 6;

/**
 * The records that the runs of a period found new, changed and removed. The first run that wrote a list does not count, because all
 * of it was new. New exports are left out: they are counted by the time of the export.
 */
function readPeriodChanges(sqlite: Database.Database, { fromMs, toMs }: Span): ChangesOfKind[] {
  const { first, last } = sqlite
    .prepare<[string, string], { first: number | null; last: number | null }>(
      'SELECT min(id) AS first, max(id) AS last FROM sync_runs WHERE completed_at >= ? AND completed_at < ?',
    )
    .get(new Date(fromMs).toISOString(), new Date(toMs).toISOString()) as { first: number; last: number };
  if (first === null || last === null) return [];
  return keptResources.flatMap(resource =>
    (['insert', 'update', 'removal'] as const)
      .filter(operation => resource !== 'document-exports' || operation !== 'insert')
      .flatMap(operation => changesOfKind(sqlite, resource, operation, first, last)),
  );
}

const countColumns = { insert: 'inserted', update: 'updated', removal: 'removed' } as const;

function changesOfKind(
  sqlite: Database.Database,
  resource: string,
  operation: Change['operation'],
  first: number,
  last: number,
): ChangesOfKind[] {
  // Connections belong to no list. They were found by the first run that wrote any.
  const isList = resource !== 'connections';
  const wrote = sqlite
    .prepare<string[], number | null>(
      `SELECT min(run_id) FROM sync_run_resources WHERE ${wroteListSql} ${isList ? 'AND resource = ?' : ''}`,
    )
    .pluck();
  const from = Math.max(first, (wrote.get(...(isList ? [resource] : [])) ?? last) + 1);
  const column = countColumns[operation];
  const byRun = sqlite
    .prepare<object, { runId: number; count: number }>(
      isList
        ? `SELECT run_id AS runId, ${column} AS count FROM sync_run_resources
           WHERE resource = @resource AND run_id BETWEEN @from AND @last AND status <> 'running' AND ${column} > 0 ORDER BY 1 DESC`
        : `SELECT run_id AS runId, count(*) AS count FROM changes
           WHERE resource = @resource AND operation = @operation AND run_id BETWEEN @from AND @last GROUP BY 1 ORDER BY 1 DESC`,
    )
    .all(isList ? { resource, from, last } : { resource, operation, from, last });
  const count = byRun.reduce((sum, run) => sum + run.count, 0);
  if (count === 0) return [];
  const ofRun = sqlite.prepare<[number, string, string], Change>(
    `SELECT run_id AS runId, changed_at AS changedAt, resource, record_id AS recordId, operation, record, before FROM changes
     WHERE run_id = ? AND resource = ? AND operation = ? ORDER BY record_id DESC LIMIT ${changesMax}`,
  );
  const changes: Change[] = [];
  for (const { runId } of byRun)
    if (changes.length < changesMax) changes.push(...ofRun.all(runId, resource, operation));
  return [{ resource, operation, count, changes: changes.slice(0, changesMax) }];
}
