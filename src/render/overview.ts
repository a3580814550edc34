import { ageMs, isFresh } from '../freshness.ts';
import { openPointsOf } from '../list-state.ts';
import { printable } from '../printable.ts';
import type { ListStatus, RunResourceRow, RunRow } from '../store/read/run-reader.ts';
import { duration } from './numbers.ts';
import type { OverviewOutput, StatusOutput } from './outputs/runs.ts';
import { errorOf } from './run-list.ts';
import { listStatusOf } from './status.ts';
import { renderTable } from './table.ts';

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

/** One of them. */
export type MirrorState = (typeof states)[number];

/** The states that `status --strict` reports as a fault. */
const faults: ReadonlySet<MirrorState> = new Set(states.slice(0, states.indexOf('too old') + 1));

/** The facts that were read from a mirror. */
export interface MirrorFacts {
  readonly lists: readonly ListStatus[];
  /** The newest run, with `died` as its status if its process is gone; null if none is recorded. */
  readonly run: RunRow | null;
}

/** The state of a mirror, and the reason in few words. */
export interface MirrorSummary {
  readonly state: MirrorState;
  readonly why: string;
}

/** A mirror in an overview; `facts` is null if it can't be read. */
export interface OverviewRow extends MirrorSummary {
  readonly database: string;
  readonly facts: MirrorFacts | null;
}

/** True if somebody should look at it. */
export function isFault({ state }: MirrorSummary): boolean {
  return faults.has(state);
}

/** The worst state of a mirror. A list that is being read is judged by its last run that ended. */
export function mirrorSummaryOf(
  { lists, run }: MirrorFacts,
  nowMs: number,
  maxAgeMs: number | null,
): MirrorSummary {
  const found: [MirrorState, string][] = lists.flatMap(list =>
    faultsOf(list, nowMs, maxAgeMs).map(([state, why]): [MirrorState, string] => [
      state,
      why === '' ? list.resource : `${list.resource}: ${why}`,
    ]),
  );
  if (run?.status === 'died') found.push(['died', `run ${run.id} ended without recording it`]);
  if (run?.status === 'failed' && !found.some(([state]) => state === 'failed'))
    found.push(['failed', run.errorCode ?? `run ${run.id}`]);
  if (run?.status === 'running') found.push(['running', `run ${run.id}`]);
  if (run === null) found.push(['never synced', '']);
  const state = states.find(each => found.some(([its]) => its === each)) ?? 'ok';
  const reasons = found.filter(([its]) => its === state).map(([, why]) => why);
  return { state, why: reasons.filter(why => why !== '').join(', ') };
}

function faultsOf(list: ListStatus, nowMs: number, maxAgeMs: number | null): [MirrorState, string][] {
  const isOld = maxAgeMs !== null && !isFresh(list.lastCompletedAt, nowMs, maxAgeMs);
  const old: [MirrorState, string][] = isOld ? [['too old', ageText(list.lastCompletedAt, nowMs)]] : [];
  return [...(list.lastEnded === null ? [] : endOf(list.lastEnded)), ...old];
}

function endOf(last: RunResourceRow): [MirrorState, string][] {
  const { status, errorCode } = last;
  if (status === 'interrupted') return [['died', `run ${last.runId}`]];
  if (status === 'failed' || errorCode === 'deadline') return [['failed', errorCode ?? '']];
  if (status === 'cancelled') return [['cancelled', `run ${last.runId}`]];
  return openPointsOf(last).map(({ state, count }) => [state, count === null ? '' : String(count)]);
}

/** One line for each mirror, the worst first. */
export function overviewText(rows: readonly OverviewRow[], nowMs: number, width: number): string {
  return renderTable(
    ['State', 'Why', { right: 'Age' }, 'Version', 'Mirror'],
    worstFirst(rows).map(({ state, why, facts, database }) => [
      state,
      printable(why),
      facts === null ? '–' : ageText(oldest(facts), nowMs),
      facts?.run?.docmirrorVersion ?? '–',
      printable(database),
    ]),
    width,
  );
}

/** The output of `status --json` for several mirrors, the worst first. */
export function overviewOutputOf(rows: readonly OverviewRow[], nowMs: number): OverviewOutput {
  const mirrors = worstFirst(rows).map(({ database, state, why, facts }) => ({
    database,
    state,
    why,
    labels: labelsOf(facts),
    baseUrl: facts?.run?.baseUrl ?? null,
    ageMs: facts === null ? null : ageMs(oldest(facts), nowMs),
    docmirrorVersion: facts?.run?.docmirrorVersion ?? null,
    run: facts === null ? null : runJson(facts.run),
    resources: facts === null ? [] : facts.lists.map(list => listStatusOf(list, nowMs)),
  }));
  return { mirrors };
}

/** The newest run in an output. */
export function runJson(run: RunRow | null): StatusOutput['run'] {
  if (run === null) return null;
  const { id, status, startedAt, completedAt, errorCode, errorMessage } = run;
  return { runId: id, status, startedAt, completedAt, error: errorOf(errorCode, errorMessage) };
}

/** The labels of the newest run. */
export function labelsOf(facts: MirrorFacts | null): Readonly<Record<string, string>> {
  return facts?.run?.labels ? JSON.parse(facts.run.labels) : {};
}

function worstFirst(rows: readonly OverviewRow[]): OverviewRow[] {
  return rows.toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state));
}

/** When the list that has waited longest was completed; null if one never was. */
function oldest({ lists }: MirrorFacts): string | null {
  const known = lists.filter(({ lastEnded }) => lastEnded !== null).map(list => list.lastCompletedAt);
  return known.includes(null) || known.length === 0 ? null : (known.toSorted()[0] ?? null);
}

function ageText(at: string | null, nowMs: number): string {
  const age = ageMs(at, nowMs);
  if (age !== null) return duration(age);
  return at === null ? 'never' : 'in the future';
}
