import type { ListStatus, RecordedRun, RunResourceRow } from '../store/mirror-reader.ts';
import { count, duration, instant } from './numbers.ts';
import { renderTable } from './table.ts';

/** The run history for people, the newest first. */
export function runsText(runs: readonly RecordedRun[]): string {
  if (runs.length === 0) return 'No run is recorded yet. Make one with "docmirror sync".\n';
  return renderTable(
    [
      { name: 'Run', align: 'right' },
      { name: 'Started' },
      { name: 'Took', align: 'right' },
      { name: 'Status' },
      { name: 'New', align: 'right' },
      { name: 'Changed', align: 'right' },
      { name: 'Removed', align: 'right' },
      { name: 'Error' },
    ],
    runs.map(run => [
      String(run.id),
      instant(run.startedAt),
      run.completedAt === null ? '–' : duration(Date.parse(run.completedAt) - Date.parse(run.startedAt)),
      run.status,
      total(run, 'inserted'),
      total(run, 'updated'),
      total(run, 'removed'),
      run.errorCode ?? '',
    ]),
  );
}

/** The run history as one JSON array on one line. */
export function runsJson(runs: readonly RecordedRun[]): string {
  const shown = runs.map(({ id, errorCode, errorMessage, resources, ...run }) => ({
    runId: id,
    ...run,
    error: errorOf(errorCode, errorMessage),
    resources: resources.map(resourceOf),
  }));
  return `${JSON.stringify(shown)}\n`;
}

/** How the lists stand, for people. */
export function statusText(lists: readonly ListStatus[], nowMs: number): string {
  return renderTable(
    [
      { name: 'List' },
      { name: 'Records', align: 'right' },
      { name: 'Last run' },
      { name: 'Completeness' },
      { name: 'Last completed' },
      { name: 'Age', align: 'right' },
    ],
    lists.map(({ resource, recordCount, lastRun, lastCompletedAt }) => [
      resource,
      count(recordCount),
      lastRun === null ? 'never' : `${lastRun.runId} ${lastRun.status}`,
      lastRun?.completeness ?? '–',
      lastCompletedAt === null ? 'never' : instant(lastCompletedAt),
      lastCompletedAt === null ? '–' : duration(Math.max(0, nowMs - Date.parse(lastCompletedAt))),
    ]),
  );
}

/** How the lists stand, as one JSON object on one line. */
export function statusJson(lists: readonly ListStatus[], nowMs: number): string {
  const resources = lists.map(({ resource, recordCount, lastRun, lastCompletedAt, lastFullAt }) => ({
    resource,
    recordCount,
    lastCompletedAt,
    lastFullAt,
    ageMs: lastCompletedAt === null ? null : Math.max(0, nowMs - Date.parse(lastCompletedAt)),
    lastRun: lastRun === null ? null : { runId: lastRun.runId, ...resourceOf(lastRun) },
  }));
  return `${JSON.stringify({ resources })}\n`;
}

function resourceOf({ errorCode, errorMessage, runId: _run, error: _error, ...rest }: RunResourceRow) {
  return { ...rest, error: errorOf(errorCode, errorMessage) };
}

function errorOf(code: string | null, message: string | null) {
  return code === null ? null : { code, message };
}

function total(run: RecordedRun, field: 'inserted' | 'updated' | 'removed'): string {
  return count(run.resources.reduce((sum, resource) => sum + resource[field], 0));
}
