import { ageMs, isFresh, isInFuture } from '../freshness.ts';
import { stateText } from '../list-state.ts';
import { printable } from '../printable.ts';
import type { ListStatus, RunRow } from '../store/read/run-reader.ts';
import { count, duration, instant } from './numbers.ts';
import type { ListStatusOutput, StatusOutput } from './outputs/runs.ts';
import { resourceOf } from './run-list.ts';
import { renderTable } from './table.ts';

/** When a watch will start its next run; null if no watch keeps the mirror. */
export interface NextRun {
  readonly nextRunAt: string;
  readonly schedule: string;
  readonly timezone: string;
}

interface StatusOptions {
  readonly watch?: NextRun | null;
  /** The greatest age of lists that is allowed, in milliseconds; null for any. */
  readonly maxAgeMs?: number | null;
  /** The newest run; null if none is recorded. */
  readonly run?: RunRow | null;
  /** The terminal's width. */
  readonly width?: number;
}

/** The state of the lists, for people. */
export function statusText(
  lists: readonly ListStatus[],
  nowMs: number,
  { watch = null, maxAgeMs = null, run = null, width = Number.POSITIVE_INFINITY }: StatusOptions = {},
): string {
  const notes = [
    ...lists.flatMap(list => skewNote(list, nowMs)),
    ...lists.flatMap(fieldsNote),
    ...(maxAgeMs === null ? [] : lists.flatMap(list => ageNote(list, nowMs, maxAgeMs))),
    ...(run?.status === 'died' ? [diedText(run)] : []),
    ...(watch === null ? [] : [nextRunText(watch, nowMs)]),
  ];
  return statusTable(lists, nowMs, width) + (notes.length === 0 ? '' : `\n${notes.join('\n')}\n`);
}

function ageNote({ resource, lastCompletedAt }: ListStatus, nowMs: number, maxAgeMs: number): string[] {
  if (lastCompletedAt === null)
    return [`${resource}: no run of it has completed, so it is older than --max-age allows.`];
  // Another line already explains the list if it ended in the future.
  if (isFresh(lastCompletedAt, nowMs, maxAgeMs) || isInFuture(lastCompletedAt, nowMs)) return [];
  const ended = ago(lastCompletedAt, nowMs);
  return [`${resource}: its last completed run ended ${ended}, longer than --max-age allows.`];
}

function skewNote({ resource, lastCompletedAt }: ListStatus, nowMs: number): string[] {
  if (lastCompletedAt === null || !isInFuture(lastCompletedAt, nowMs)) return [];
  const aheadMs = Date.parse(lastCompletedAt) - nowMs;
  return [
    `${resource}: its last completed run ended ${duration(aheadMs)} in the future, by this machine's clock. Check the clocks: how fresh the list is can't be told.`,
  ];
}

function fieldsNote({ resource, unknownFields }: ListStatus): string[] {
  if (unknownFields.length === 0) return [];
  return [`${resource}: the service sends fields that have no column: ${fieldsText(unknownFields)}.`];
}

function diedText({ id, startedAt }: RunRow): string {
  return `Run ${id}, begun at ${instant(startedAt)}, died: its process is gone. The next run records it as interrupted.`;
}

/** A tick can come a little late, and its run can wait for the watch's jitter; in milliseconds. */
const lateMsMax = 60_000;

function nextRunText({ nextRunAt, schedule, timezone }: NextRun, nowMs: number): string {
  const lateMs = nowMs - Date.parse(nextRunAt);
  const plan = printable(`watch, "${schedule}" in ${timezone}`);
  if (lateMs <= lateMsMax) return `Next run: ${instant(nextRunAt)} (${plan}).`;
  return `The next run was due at ${instant(nextRunAt)} (${plan}), ${duration(lateMs)} ago: the watch seems to have died.`;
}

function statusTable(lists: readonly ListStatus[], nowMs: number, width: number): string {
  return renderTable(
    ['List', { right: 'Records' }, 'Verdict', { right: 'Last run' }, 'Completed', 'Full sync'],
    lists.map(list => [
      list.resource,
      count(list.recordCount),
      stateText(list.lastRun),
      list.lastRun === null ? 'none' : String(list.lastRun.runId),
      ago(list.lastCompletedAt, nowMs),
      ago(list.lastFullAt, nowMs),
    ]),
    width,
  );
}

function ago(at: string | null, nowMs: number): string {
  if (at === null) return 'never';
  if (isInFuture(at, nowMs)) return 'in the future';
  return `${duration(Math.max(0, nowMs - Date.parse(at)))} ago`;
}

/** The output of `status --json` for one mirror. */
export function statusOutputOf(
  lists: readonly ListStatus[],
  nowMs: number,
  { watch, run, standing }: StatusFacts,
): StatusOutput {
  const resources = lists.map(list => listStatusOf(list, nowMs));
  return { ...standing, run, resources, nextRunAt: watch?.nextRunAt ?? null };
}

/** The parts of the output besides the lists. */
interface StatusFacts extends Pick<StatusOutput, 'run'> {
  readonly watch: NextRun | null;
  readonly standing: Pick<StatusOutput, 'state' | 'why'>;
}

/** The state of a list in an output. */
export function listStatusOf(list: ListStatus, nowMs: number): ListStatusOutput {
  return {
    resource: list.resource,
    recordCount: list.recordCount,
    verdict: stateText(list.lastRun),
    lastCompletedAt: list.lastCompletedAt,
    lastFullAt: list.lastFullAt,
    ageMs: ageMs(list.lastCompletedAt, nowMs),
    endedInFuture: isInFuture(list.lastCompletedAt, nowMs),
    unknownFields: list.unknownFields,
    lastRun: list.lastRun && lastRunOf(list.lastRun),
  };
}

function lastRunOf(row: NonNullable<ListStatus['lastRun']>) {
  const { runId, baseUrl } = row;
  return { runId, ...resourceOf(row), baseUrl };
}

/** A field that the service sends and that has no column, with one of its JSON types. */
interface UnknownField {
  readonly field: string;
  readonly jsonType: string;
}

/** The most fields that are named. */
const fieldsMax = 20;

/** Fields with their types, in one line: `owner (null, string), tags (array)`. */
export function fieldsText(fields: readonly UnknownField[]): string {
  const byName = [...Map.groupBy(fields, ({ field }) => field)];
  const named = byName
    .slice(0, fieldsMax)
    .map(([name, types]) => printable(`${name} (${types.map(({ jsonType }) => jsonType).join(', ')})`));
  return [...named, ...(byName.length > fieldsMax ? [`${byName.length - fieldsMax} more`] : [])].join(', ');
}
