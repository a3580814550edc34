import { object, text, type ValueOf } from '../contract/shapes.ts';
import { printable } from '../printable.ts';
import {
  ageMs,
  faultStates,
  faultsOf,
  isInFuture,
  isListFresh,
  verdictText,
} from '../store/read/list-state.ts';
import type { ListStatus } from '../store/read/runs/runs.ts';
import type { RecordedRun } from '../store/tables/run.ts';
import { acceptedLine } from './accepted.ts';
import { ago, count, duration, instant } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { fieldsText, keptText, standingNotes } from './run-summary.ts';
import { renderTable, wrapLines } from './table.ts';

/** When a watch will start its next run. */
export type NextRun = ValueOf<typeof nextRun>;

/** The note that a watch leaves beside its mirror. */
export const nextRun = object({ nextRunAt: text(), schedule: text(), timezone: text() });

/** A mirror with its worst state, and the reason in few words: a member of the output of `status --json`. */
export type MirrorStatus = Extract<OutputOf['status'], { mirrors: unknown }>['mirrors'][number];

/** The state of one mirror, for people; `watch` keeps it. */
export function statusText(status: MirrorStatus, nowMs: number, width: number, watch: NextRun | null = null) {
  const { resources, state, why } = status;
  const rows = resources.map(list => statusCells(list, at => ago(at, nowMs)));
  const notes = resources.flatMap(({ resource, lastRun, unknownFields, acceptances, unreadableTimes }) => {
    const error = lastRun?.error && printable(`${lastRun.error.message} [${lastRun.error.code}]`);
    const kept = lastRun && keptText(lastRun);
    const fields = `the service sends fields that have no column: ${fieldsText(unknownFields)}.`;
    const standing = standingNotes(lastRun?.reasons ?? null, unreadableTimes);
    return [error, kept, unknownFields.length > 0 && fields, ...standing]
      .filter(Boolean)
      .map(note => `${resource}: ${note}`)
      .concat(acceptances.map(acceptedLine));
  });
  if (why !== '') notes.push(`State: ${state}, ${why}.`);
  if (watch !== null) notes.push(nextRunText(watch, nowMs));
  const table = renderTable(statusColumns, rows, width);
  return notes.length === 0 ? table : `${table}\n${wrapLines(notes.join('\n'), width)}`;
}

/** A tick can come a little late, and its run can wait for the watch's jitter; in milliseconds. */
const lateMsMax = 60_000;

function nextRunText({ nextRunAt, schedule, timezone }: NextRun, nowMs: number): string {
  const plan = `${instant(nextRunAt)} (${printable(`watch, "${schedule}" in ${timezone}`)})`;
  if (nowMs - Date.parse(nextRunAt) <= lateMsMax) return `Next run: ${plan}.`;
  return `The next run was due at ${plan}, ${ago(nextRunAt, nowMs)}: the watch seems to have died.`;
}

/** The columns of a table of lists. */
export const statusColumns = ['List', 'Records', 'Verdict', 'Last run', 'Completed', 'Full sync'];

/** A list as a row of it; `when` says a time in words. */
export function statusCells(list: Omit<ListStatus, 'lastEnded'>, when: (at: string | null) => string) {
  const { resource, recordCount, lastRun, lastCompletedAt, lastFullAt } = list;
  const runId = String(lastRun?.runId ?? 'none');
  return [resource, count(recordCount), verdictText(lastRun), runId, when(lastCompletedAt), when(lastFullAt)];
}

/** The states that `status --strict` reports as faults, the worst first: those of a list, but for `cancelled`. */
const strictStates = ['unreadable', ...faultStates.filter(state => state !== 'cancelled'), 'too old'];

/** All states of a mirror, the worst first. */
const states = [...strictStates, 'cancelled', 'never synced', 'running', 'ok'];

/** True for a state that `status --strict` reports as a fault. */
export function isFault({ state }: MirrorStatus): boolean {
  return strictStates.includes(state);
}

/** A mirror with its worst state. A list that is being read is judged by its last run that ended. */
export function mirrorStatusOf(
  database: string,
  lists: readonly ListStatus[],
  newest: RecordedRun | null,
  nowMs: number,
  maxAgeMs: number | null,
): MirrorStatus {
  const found = lists.flatMap(list => statesOf(list, nowMs, maxAgeMs));
  if (newest === null) found.push(['never synced', '']);
  else {
    const { runId, status, error } = newest;
    if (status === 'died')
      found.push(['died', `run ${runId}: its process is gone, and the next run records it as interrupted`]);
    if (status === 'failed' && !found.some(([state]) => state === 'failed'))
      found.push(['failed', error?.code ?? `run ${runId}`]);
    if (status === 'running') found.push(['running', `run ${runId}`]);
  }
  const state = states.find(each => found.some(([its]) => its === each)) ?? 'ok';
  const why = found.flatMap(([its, reason]) => (its === state && reason !== '' ? [reason] : []));
  const ended = lists.filter(({ lastEnded }) => lastEnded !== null).map(list => list.readSince);
  const oldest = ended.includes(null) ? null : (ended.toSorted()[0] ?? null);
  return {
    database,
    state,
    why: why.join(', '),
    run: newest,
    resources: lists.map(({ lastEnded: _ended, ...list }) => ({
      ...list,
      verdict: verdictText(list.lastRun),
      ageMs: ageMs(list.readSince, nowMs),
      endedInFuture: isInFuture(list.lastCompletedAt, nowMs),
    })),
    labels: newest?.labels ?? {},
    baseUrl: newest?.baseUrl ?? null,
    ageMs: ageMs(oldest, nowMs),
    docmirrorVersion: newest?.docmirrorVersion ?? null,
  };
}

/** Each fault of a list: the state of the mirror, and the reason. */
function statesOf(list: ListStatus, nowMs: number, maxAgeMs: number | null): [state: string, why: string][] {
  const { resource, lastEnded: last, readSince: at } = list;
  const isOld = maxAgeMs !== null && !isListFresh(list, nowMs, maxAgeMs);
  const found = (last === null ? [] : faultsOf(last)).map(({ state, detail }): [string, unknown] => {
    const isOfRun = state === 'died' || state === 'cancelled';
    return [state, isOfRun ? `run ${last?.runId}` : detail];
  });
  if (isOld) found.push(['too old', ago(at, nowMs)]);
  return found.map(([state, why]) => [state, why === null ? resource : `${resource}: ${why}`]);
}

/** The mirrors, the worst first. */
export function worstFirst(mirrors: readonly MirrorStatus[]): MirrorStatus[] {
  return mirrors.toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state));
}

/** One line for each mirror. */
export function overviewText(mirrors: readonly MirrorStatus[], width: number): string {
  const rows = mirrors.map(({ state, why, ageMs: age, docmirrorVersion, database }) => {
    return [state, why, age === null ? '–' : duration(age), docmirrorVersion ?? '–', database];
  });
  return renderTable(['State', 'Why', 'Age', 'Version', 'Mirror'], rows, width);
}
