import type { ListDefinition, ResourceName } from '../contract/lists.ts';
import { CancelledError, type DocmirrorError, exitCodes } from '../errors.ts';
import { syncList } from './list.ts';
import { runErrorOf } from './list-outcome.ts';
import type { ListOptions, RunWorld } from './list-task.ts';
import type { ListOutcome, ReceiptHead, RunError, RunStatus, Trigger } from './ports.ts';

/** What a run is to do. */
export interface RunOptions extends ListOptions {
  readonly lists: readonly ListDefinition[];
  readonly trigger: Trigger;
  readonly docmirrorVersion: string;
  /** Who runs it, for the receipt; nobody is named where it is left out. */
  readonly actor?: string;
  /** What an operator knows the mirror by; nothing if it is left out. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Told of the run's number once it is recorded; null in a dry run. */
  readonly onBegun?: (runId: number | null) => void;
  /** Versions that ended longer ago than this are deleted, in milliseconds; null or left out keeps all. */
  readonly keepHistoryMs?: number | null;
}

/** How a run ended; `runId` is null for a dry run, which stands in no record. */
export interface RunSummary {
  readonly runId: number | null;
  /** How many rows that another program altered were dropped; null if the mirror was not rebuilt. */
  readonly rowsDropped: number | null;
  readonly status: RunStatus;
  readonly trigger: Trigger;
  readonly startedAt: string;
  readonly completedAt: string;
  readonly durationMs: number;
  readonly error: RunError | null;
  /** In the order of the lists' definition. */
  readonly resources: readonly ListOutcome[];
  /** Where the run's receipt stands; null for a dry run. */
  readonly receipt: ReceiptHead | null;
}

/**
 * One run: each list is walked, proven and applied by itself, so that a list that fails leaves the others whole.
 *
 * The lists whose word on connection names counts most go first, so that a dry run tells of the name that is believed.
 *
 * @throws what is wrong with the mirror as a whole, and a fault of docmirror itself; one that is met in a list, when the run has ended.
 */
export async function runSync(options: RunOptions, world: RunWorld): Promise<RunSummary> {
  const { source, mirror, clock, signal } = world;
  const started = clock();
  // The clock may be set while the run goes on.
  const startedAtMs = performance.now();
  const { trigger, docmirrorVersion, actor = '', labels = {}, onBegun } = options;
  const startedAt = started.toISOString();
  const { runId, rowsDropped } = await mirror.beginRun({
    trigger,
    startedAt,
    baseUrl: source.baseUrl,
    docmirrorVersion,
    actor,
    labels,
  });
  onBegun?.(runId);

  // What is left of a rebuilt mirror has to be compared with the whole of each list.
  const lists = rowsDropped === null ? options : { ...options, fullEveryMs: 0 };
  const { resources, faults } = await syncAndPrune(lists, world, started).catch(async (error: unknown) => {
    // Where not even that can be recorded, the next run sees that this one was interrupted.
    await mirror.endRun('failed', clock().toISOString(), runErrorOf(error)).catch(() => undefined);
    throw error;
  });
  const status = statusOf(resources);
  const error = errorOf(status, resources, signal);
  const completedAt = clock().toISOString();
  const receipt = await mirror.endRun(status, completedAt, error);
  if (faults.length > 0) throw faults[0];
  return {
    runId,
    rowsDropped,
    status,
    trigger,
    startedAt,
    completedAt,
    durationMs: Math.round(performance.now() - startedAtMs),
    error,
    resources,
    receipt,
  };
}

/** What the lists came to, in the order of their definition, and the faults of docmirror itself that were met. */
interface SyncedLists {
  readonly resources: readonly ListOutcome[];
  readonly faults: readonly unknown[];
}

/** Syncs the lists, and deletes what is older than the history is to go back. */
async function syncAndPrune(options: RunOptions, world: RunWorld, started: Date): Promise<SyncedLists> {
  const { mirror, clock, signal } = world;
  const synced = await syncLists(options, world);
  const { keepHistoryMs = null } = options;
  if (keepHistoryMs === null || signal.aborted) return synced;
  // A run must have ended before this one began, whatever is kept.
  const before = new Date(started.getTime() - keepHistoryMs - 1).toISOString();
  try {
    await mirror.pruneHistory(before, clock().toISOString());
  } catch (error) {
    // What is left of it is done by the next run.
    if (!signal.aborted) throw error;
  }
  return synced;
}

async function syncLists(options: RunOptions, world: RunWorld): Promise<SyncedLists> {
  const outcomes = new Map<ResourceName, ListOutcome>();
  const faults: unknown[] = [];
  const ordered = options.lists.toSorted((a, b) => b.connectionNameRank - a.connectionNameRank);
  for (const list of ordered) {
    const outcome = await syncList({ list, ...world, ...options }, fault => faults.push(fault));
    outcomes.set(list.resource, outcome);
  }
  return { resources: options.lists.map(list => outcomes.get(list.resource) as ListOutcome), faults };
}

function statusOf(resources: readonly ListOutcome[]): RunStatus {
  const has = (status: RunStatus) => resources.some(resource => resource.status === status);
  if (has('cancelled')) return 'cancelled';
  if (resources.every(resource => resource.status === 'completed')) return 'completed';
  return resources.every(resource => resource.status === 'failed') ? 'failed' : 'partial';
}

function errorOf(status: RunStatus, resources: readonly ListOutcome[], signal: AbortSignal): RunError | null {
  if (status === 'cancelled') {
    const { code, message } = signal.reason as DocmirrorError;
    return { code, message };
  }
  return resources.find(resource => resource.error !== null)?.error ?? null;
}

/** What a process exits with after this run. */
export function exitCodeOf(summary: RunSummary, signal: AbortSignal): number {
  if (summary.status === 'completed') return exitCodes.done;
  if (summary.resources.some(({ error }) => error?.code === 'mirror_altered')) return exitCodes.difference;
  if (summary.status === 'partial') return exitCodes.partial;
  if (summary.status === 'cancelled' && signal.reason instanceof CancelledError)
    return signal.reason.exitCode;
  const refused = (code: string | undefined) => code === 'unauthorized' || code === 'forbidden';
  return summary.resources.every(({ error }) => refused(error?.code))
    ? exitCodes.unauthorized
    : exitCodes.failed;
}
