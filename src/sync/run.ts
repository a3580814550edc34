// A run, as chapters ====================
//
//     begin                 store/write/mirror.ts   runs that died are recorded; rows are compared if others wrote to the file
//     for each list         list.ts                 from the growing end, or in full, at last without what earlier runs knew
//       read                read.ts, drive.ts       pages, as the proof asks for them, until it concludes
//       apply and record    store/write/apply.ts    what becomes of rows; then rows, versions and how the list ended, in one transaction
//     prune                 store/write/prune-history.ts
//     end                   store/write/mirror.ts   the names of connections, and the receipt
//     share                 commands/run-once.ts
//
// If a reading pauses, the next run begins at once and goes on with it.
//
// A record, on its way ==================
//
//     bytes                 service/service.ts      an answer
//     items                 service/page.ts         its envelope. store/write/known-items.ts, which drive.ts gives it, parses items that
//                                                   no run has noted; service.ts then looks for the token in these
//     record                contract/record.ts      its values and their hash, when drive.ts enters the page (store/write/stage.ts)
//     form                  store/write/versions.ts a text that the mirror lacks takes that of its row, if it means the same
//     numbers               store/write/records.ts  of the record and of its text, for the proof; what the mirror lacks is staged
//     pairs                 proof/reconcile.ts      of texts and rows, if a record has several
//     removed?              proof/conclude.ts       whether a row goes that no answer shows; read.ts `unlessOld`: it stays if answers are old
//                           store/write/stage.ts    `rowsToDecide`: it stays if its record is rejected
//                           store/write/apply.ts    `changesOf`: it stays if too many go; `replacementOf`: of another list nothing is written
//     row                   store/write/apply.ts    a staged text is that of its row, or of a new one (list-sql.ts)
//     receipt               store/receipts/statements.ts  a line under the hash of the run's changes, when run-records.ts ends the run
//
// All items of the first page are parsed, because it comes before the proof begins (first-page.ts), and all of an incremental run.
//
// What a run knows of a list ============
//
//     read                  store/write/sync-state.ts  as the run before left it; list.ts gives it to a Stage, which has it from there on
//     used                  read.ts                 where a reading begins, and what the proof is told; stage.ts, for known items and answers
//     written               store/write/next-state.ts  with the rows; or alone, without answers that do not do
//     forgotten             store/write/erase.ts, store/write/altered-mirror.ts, store/file/open-to-write.ts

import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import { CancelledError, exitCodes } from '../errors.ts';
import { hasNothingOpen } from '../store/tables/accepted.ts';
import type { ListOutcome, RunStatus } from '../store/tables/run.ts';
import { runErrorOf, type SyncedList, syncList } from './list.ts';
import type { ListOptions, RunWorld } from './task.ts';

/** The task of a run. */
export interface RunOptions extends ListOptions {
  readonly lists: readonly ListDefinition[];
  readonly trigger: string;
  readonly docmirrorVersion: string;
  /** The person or program that runs it, for the receipt; nobody is named if it is left out. */
  readonly actor?: string;
  /** An operator's labels for the mirror; none if left out. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Called with the run's number once it is recorded; null in a dry run. */
  readonly onBegun?: (runId: number | null) => void;
  /** Versions that ended longer ago than this before the start of the last run are deleted, in milliseconds; null or left out keeps all. */
  readonly keepHistoryMs?: number | null;
}

/**
 * Syncs lists. If a reading takes too long, it pauses, and the next run begins at once with what is not done. The summary is that
 * of the last one. A fault of docmirror in a list is thrown when its run has ended.
 */
export async function runSync(options: RunOptions, world: RunWorld): Promise<RunSummary> {
  let next = options;
  for (;;) {
    const { summary, pauses } = await oneRun(next, world);
    if (pauses.length === 0 || world.signal.aborted) return summary;
    const open = summary.resources.filter(list => !hasNothingOpen(list)).map(({ resource }) => resource);
    const lists = next.lists.filter(({ resource }) => open.includes(resource));
    // A list whose answers can't be kept would begin for ever.
    const saveEveryMs = pauses.every(({ hasGrown }) => hasGrown) ? next.saveEveryMs : 0;
    next = { ...next, lists, saveEveryMs, isAfresh: false };
  }
}

/** One run, each list by itself. Those whose connection names rank highest go first, so that a dry run reports the final names. */
async function oneRun(options: RunOptions, world: RunWorld) {
  const { source, mirror, clock, signal } = world;
  // The clock might be set during the run.
  const startedAtMs = performance.now();
  const { trigger, docmirrorVersion, actor = '', labels = {}, onBegun, keepHistoryMs = null } = options;
  const startedAt = clock().toISOString();
  const { baseUrl, query = null } = source;
  const start = { trigger, startedAt, baseUrl, query, docmirrorVersion, actor, labels };
  const { runId, rowsDropped } = await mirror.beginRun(start);
  onBegun?.(runId);

  // The rest of a rebuilt mirror has to be compared with the whole of each list.
  const fullEveryMs = rowsDropped === null ? options.fullEveryMs : 0;
  const synced = new Map<ResourceName, SyncedList>();
  let versionsPruned = 0;
  const ordered = options.lists.toSorted((a, b) => b.connectionNameRank - a.connectionNameRank);
  try {
    for (const list of ordered)
      synced.set(list.resource, await syncList({ ...options, ...world, list, fullEveryMs }));
    if (keepHistoryMs !== null && !signal.aborted)
      versionsPruned = await mirror
        .pruneHistory(keepHistoryMs, clock().toISOString())
        .catch((error: unknown) => {
          // The next run does the rest.
          if (!signal.aborted) throw error;
          return 0;
        });
  } catch (error) {
    // If not even that can be recorded, the next run sees that this one was interrupted.
    await mirror.endRun('failed', clock().toISOString(), runErrorOf(error)).catch(() => undefined);
    throw error;
  }
  const ends = options.lists.map(({ resource }) => synced.get(resource) as SyncedList);
  const resources: readonly ListOutcome[] = ends.map(({ outcome }) => outcome);
  const status = statusOf(resources);
  const cancelled = resources.find(resource => resource.status === 'cancelled');
  const error = (cancelled ?? resources.find(resource => resource.error !== null))?.error ?? null;
  const completedAt = clock().toISOString();
  const { receipt, serviceChanges } = await mirror.endRun(status, completedAt, error);
  const faulty = [...synced.values()].find(({ fault }) => fault !== null);
  if (faulty !== undefined) throw faulty.fault;
  const summary = {
    runId,
    rowsDropped,
    status,
    trigger,
    startedAt,
    completedAt,
    durationMs: Math.round(performance.now() - startedAtMs),
    error,
    resources,
    versionsPruned,
    serviceChanges,
    accepted: [...new Set(resources.flatMap(({ accepted }) => accepted))] as readonly number[],
    receipt,
  };
  return { summary, pauses: ends.flatMap(({ pause }) => pause ?? []) };
}

function statusOf(resources: readonly ListOutcome[]): RunStatus {
  if (resources.some(({ status }) => status === 'cancelled')) return 'cancelled';
  if (resources.every(hasNothingOpen)) return 'completed';
  return resources.every(resource => resource.status === 'failed') ? 'failed' : 'partial';
}

/** How a run ended. */
export type RunSummary = Readonly<Awaited<ReturnType<typeof oneRun>>['summary']>;

/** The exit code by the lists alone; commands/run-once.ts and verify.ts can put another one in its place. */
export function exitCodeOf({ status, resources }: RunSummary, signal: AbortSignal): number {
  const codes = resources.map(({ error }) => error?.code);
  if (status === 'completed') return exitCodes.done;
  if (codes.includes('mirror_altered')) return exitCodes.difference;
  if (status === 'partial') return exitCodes.partial;
  if (status === 'cancelled' && signal.reason instanceof CancelledError) return signal.reason.exitCode;
  if (codes.every(code => code === 'settings')) return exitCodes.usage;
  const areRefused = codes.every(code => code === 'unauthorized' || code === 'forbidden');
  return areRefused ? exitCodes.unauthorized : exitCodes.failed;
}
