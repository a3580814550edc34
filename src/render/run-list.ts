import { stateOf, stateWords } from '../list-state.ts';
import type { RecordedRun, RunResourceRow } from '../store/read/run-reader.ts';
import { count, duration, instant } from './numbers.ts';
import type { RunsOutput } from './outputs/runs.ts';
import { renderTable } from './table.ts';

/** The run history for people, the newest first. */
export function runsText(runs: readonly RecordedRun[], width = Number.POSITIVE_INFINITY): string {
  if (runs.length === 0) return 'No run is recorded yet. Make one with "docmirror sync".\n';
  return renderTable(
    [
      { right: 'Run' },
      'Started',
      { right: 'Took' },
      'Status',
      { right: 'New' },
      { right: 'Changed' },
      { right: 'Removed' },
      'Why',
    ],
    runs.map(run => [
      String(run.id),
      instant(run.startedAt),
      run.completedAt === null ? '–' : duration(tookMs(run.startedAt, run.completedAt)),
      run.status,
      total(run, 'inserted'),
      total(run, 'updated'),
      total(run, 'removed'),
      run.errorCode ?? whyPartial(run),
    ]),
    width,
  );
}

/** The output of `runs --json`. */
export function runsOutputOf(runs: readonly RecordedRun[]): RunsOutput {
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

/** Why a run that met no error is not completed, in words; empty if it is. */
function whyPartial({ resources }: RecordedRun): string {
  const found = new Set(resources.map(stateOf));
  const reasons = (['unproven', 'rejected', 'withheld'] as const).filter(state => found.has(state));
  return reasons.map(state => stateWords[state]).join(', ');
}

function total(run: RecordedRun, field: 'inserted' | 'updated' | 'removed'): string {
  return count(run.resources.reduce((sum, resource) => sum + resource[field], 0));
}

/** If the clock was set back meanwhile, the difference is not meaningful. */
function tookMs(startedAt: string, completedAt: string): number {
  return Math.max(0, Date.parse(completedAt) - Date.parse(startedAt));
}
