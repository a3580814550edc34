import { openPointsOf, stateWords } from '../list-state.ts';
import type { RecordedRun, RunResourceRow } from '../store/read/run-reader.ts';
import { totalsOf } from './list-notes.ts';
import { count, duration, instant } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { renderTable } from './table.ts';

/** The run history for people, the newest first. */
export function runsText(runs: readonly RecordedRun[], width: number): string {
  if (runs.length === 0) return 'No run is recorded yet. Make one with "docmirror sync".\n';
  const rows = runs.map(run => runCells(run, instant));
  return renderTable(runColumns, rows, width);
}

/** The columns of a table of runs. */
export const runColumns = ['Run', 'Started', 'Took', 'Status', 'New', 'Changed', 'Removed', 'Why'];

/** A run as a row of it; `when` says a time in words. */
export function runCells(run: RecordedRun, when: (at: string) => string): string[] {
  const { id, startedAt, completedAt, status, resources, errorCode } = run;
  const totals = Object.values(totalsOf(resources)).map(count);
  // If the clock was set back meanwhile, the difference means nothing.
  const tookMs =
    completedAt === null ? Number.NaN : Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
  const found = new Set(resources.map(list => openPointsOf(list)[0]?.state));
  const open = (['unproven', 'rejected', 'withheld'] as const).filter(state => found.has(state));
  const why = errorCode ?? open.map(state => stateWords[state]).join(', ');
  return [String(id), when(startedAt), duration(tookMs), status, ...totals, why];
}

/** The output of `runs --json`. */
export function runsOutputOf(runs: readonly RecordedRun[]): OutputOf['runs'] {
  return runs.map(({ id, errorCode, errorMessage, resources, labels, actor: _actor, ...run }) => ({
    runId: id,
    ...run,
    labels: labels === null ? {} : JSON.parse(labels),
    error: errorOf(errorCode, errorMessage),
    resources: resources.map(resourceOf),
  }));
}

/** How a list ended in a run, in an output. */
export function resourceOf({ errorCode, errorMessage, runId: _run, error: _error, ...rest }: RunResourceRow) {
  return { ...rest, error: errorOf(errorCode, errorMessage) };
}

/** An error in an output. */
export function errorOf(code: string | null, message: string | null) {
  return code === null ? null : { code, message: message ?? '' };
}
