import { ageMs, isFresh, isInFuture } from '../freshness.ts';
import { openPointsOf, stateText } from '../list-state.ts';
import { printable } from '../printable.ts';
import type { ListStatus, RunResourceRow, RunRow } from '../store/read/run-reader.ts';
import { ageNote, ago, fieldsText } from './list-notes.ts';
import { count, duration, instant } from './numbers.ts';
import type { OverviewOutput, StatusOutput } from './outputs/runs.ts';
import { errorOf, resourceOf } from './run-list.ts';
import { renderTable } from './table.ts';

/** When a watch will start its next run. */
export interface NextRun {
  readonly nextRunAt: string;
  readonly schedule: string;
  readonly timezone: string;
}

/** What else the status says; null if there is nothing: no watch keeps the mirror, any age is allowed, no run is recorded. */
interface StatusOptions {
  readonly watch?: NextRun | null;
  readonly maxAgeMs?: number | null;
  readonly run?: RunRow | null;
  readonly width?: number;
}

/** The state of the lists, for people. */
export function statusText(
  lists: readonly ListStatus[],
  nowMs: number,
  { watch = null, maxAgeMs = null, run = null, width = Number.POSITIVE_INFINITY }: StatusOptions = {},
): string {
  const notes = lists.flatMap(list => {
    const fields = fieldsText(list.unknownFields);
    const said = [
      ageNote(list, nowMs, maxAgeMs),
      fields === '' ? null : `the service sends fields that have no column: ${fields}.`,
    ];
    return said.filter(note => note !== null).map(note => `${list.resource}: ${note}`);
  });
  if (run?.status === 'died')
    notes.push(
      `Run ${run.id}, begun at ${instant(run.startedAt)}, died: its process is gone. The next run records it as interrupted.`,
    );
  if (watch !== null) notes.push(nextRunText(watch, nowMs));
  const rows = lists.map(list => statusCells(list, at => ago(at, nowMs)));
  return renderTable(statusColumns, rows, width) + (notes.length === 0 ? '' : `\n${notes.join('\n')}\n`);
}

/** A tick can come a little late, and its run can wait for the watch's jitter; in milliseconds. */
const lateMsMax = 60_000;

function nextRunText({ nextRunAt, schedule, timezone }: NextRun, nowMs: number): string {
  const lateMs = nowMs - Date.parse(nextRunAt);
  const plan = printable(`watch, "${schedule}" in ${timezone}`);
  if (lateMs <= lateMsMax) return `Next run: ${instant(nextRunAt)} (${plan}).`;
  return `The next run was due at ${instant(nextRunAt)} (${plan}), ${duration(lateMs)} ago: the watch seems to have died.`;
}

/** The columns of a table of lists. */
export const statusColumns = ['List', 'Records', 'Verdict', 'Last run', 'Completed', 'Full sync'];

/** A list as a row of it; `when` says a time in words. */
export function statusCells(list: ListStatus, when: (at: string | null) => string): string[] {
  const { resource, recordCount, lastRun, lastCompletedAt, lastFullAt } = list;
  const state = [stateText(lastRun), lastRun === null ? 'none' : String(lastRun.runId)];
  return [resource, count(recordCount), ...state, when(lastCompletedAt), when(lastFullAt)];
}

/** The states of a mirror, the worst first; `died` is a run whose process is gone. */
const states = [
  'unreadable',
  'died',
  'failed',
  'unproven',
  'withheld',
  'rejected',
  'too old',
  'cancelled',
  'never synced',
  'running',
  'ok',
] as const;

type MirrorState = (typeof states)[number];

/** The facts that were read from a mirror. */
export interface MirrorFacts {
  readonly lists: readonly ListStatus[];
  /** The newest run, with `died` as its status if its process is gone; null if none is recorded. */
  readonly run: RunRow | null;
}

/** A mirror with its worst state, and the reason in few words; `facts` is null if it can't be read. */
export interface MirrorStatus {
  readonly database: string;
  readonly state: MirrorState;
  readonly why: string;
  readonly facts: MirrorFacts | null;
}

/** True for a state that `status --strict` reports as a fault. */
export function isFault({ state }: MirrorStatus): boolean {
  return states.indexOf(state) <= states.indexOf('too old');
}

/** The worst state of a mirror. A list that is being read is judged by its last run that ended. */
export function mirrorStatusOf(
  database: string,
  facts: MirrorFacts,
  nowMs: number,
  maxAgeMs: number | null,
): MirrorStatus {
  const { lists, run } = facts;
  const found = lists.flatMap(({ resource, lastEnded, lastCompletedAt: at }) => {
    const isOld = maxAgeMs !== null && !isFresh(at, nowMs, maxAgeMs);
    const old: [MirrorState, string][] = isOld ? [['too old', ageText(at, nowMs)]] : [];
    return [...(lastEnded === null ? [] : faultsOf(lastEnded)), ...old].map(
      ([state, why]): [MirrorState, string] => [state, [resource, why].filter(Boolean).join(': ')],
    );
  });
  if (run?.status === 'died') found.push(['died', `run ${run.id} ended without recording it`]);
  if (run?.status === 'failed' && !found.some(([state]) => state === 'failed'))
    found.push(['failed', run.errorCode ?? `run ${run.id}`]);
  if (run?.status === 'running') found.push(['running', `run ${run.id}`]);
  if (run === null) found.push(['never synced', '']);
  const state = states.find(each => found.some(([its]) => its === each)) ?? 'ok';
  const why = found.flatMap(([its, reason]) => (its === state && reason !== '' ? [reason] : []));
  return { database, facts, state, why: why.join(', ') };
}

function faultsOf(last: RunResourceRow): [MirrorState, string][] {
  const { status, errorCode, runId } = last;
  if (status === 'interrupted') return [['died', `run ${runId}`]];
  if (status === 'failed' || errorCode === 'deadline') return [['failed', errorCode ?? '']];
  if (status === 'cancelled') return [['cancelled', `run ${runId}`]];
  return openPointsOf(last).map(({ state, count: records }) => [state, String(records ?? '')]);
}

/** One line for each mirror, the worst first. */
export function overviewText(mirrors: readonly MirrorStatus[], nowMs: number, width: number): string {
  return renderTable(
    ['State', 'Why', 'Age', 'Version', 'Mirror'],
    worstFirst(mirrors).map(({ state, why, facts, database }) => [
      state,
      printable(why),
      facts === null ? '–' : ageText(oldest(facts), nowMs),
      facts?.run?.docmirrorVersion ?? '–',
      printable(database),
    ]),
    width,
  );
}

/** The output of `status --json` for one mirror. */
export function statusOutputOf(
  { state, why, facts }: MirrorStatus,
  nowMs: number,
  watch: NextRun | null,
): StatusOutput {
  return { state, why, ...factsOutput(facts, nowMs), nextRunAt: watch?.nextRunAt ?? null };
}

/** The output of `status --json` for several mirrors, the worst first. */
export function overviewOutputOf(mirrors: readonly MirrorStatus[], nowMs: number): OverviewOutput {
  return {
    mirrors: worstFirst(mirrors).map(({ facts, ...rest }) => ({
      ...rest,
      labels: labelsOf(facts),
      baseUrl: facts?.run?.baseUrl ?? null,
      ageMs: facts === null ? null : ageMs(oldest(facts), nowMs),
      docmirrorVersion: facts?.run?.docmirrorVersion ?? null,
      ...factsOutput(facts, nowMs),
    })),
  };
}

function factsOutput(facts: MirrorFacts | null, nowMs: number): Pick<StatusOutput, 'run' | 'resources'> {
  if (facts === null) return { run: null, resources: [] };
  const resources = facts.lists.map(({ lastRun, lastEnded: _ended, ...list }) => ({
    ...list,
    verdict: stateText(lastRun),
    ageMs: ageMs(list.lastCompletedAt, nowMs),
    endedInFuture: isInFuture(list.lastCompletedAt, nowMs),
    lastRun: lastRun && { ...resourceOf(lastRun), runId: lastRun.runId, baseUrl: lastRun.baseUrl },
  }));
  if (facts.run === null) return { run: null, resources };
  const { id, status, startedAt, completedAt, errorCode, errorMessage } = facts.run;
  const run = { runId: id, status, startedAt, completedAt, error: errorOf(errorCode, errorMessage) };
  return { run, resources };
}

/** The labels of the newest run. */
export function labelsOf(facts: MirrorFacts | null): Readonly<Record<string, string>> {
  return facts?.run?.labels ? JSON.parse(facts.run.labels) : {};
}

function worstFirst(mirrors: readonly MirrorStatus[]): MirrorStatus[] {
  return mirrors.toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state));
}

/** When the list that has waited longest was completed; null if one never was. */
function oldest({ lists }: MirrorFacts): string | null {
  const known = lists.filter(({ lastEnded }) => lastEnded !== null).map(list => list.lastCompletedAt);
  return known.includes(null) ? null : (known.toSorted()[0] ?? null);
}

function ageText(at: string | null, nowMs: number): string {
  const age = ageMs(at, nowMs);
  return age === null ? ago(at, nowMs) : duration(age);
}
