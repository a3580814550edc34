import { DocmirrorError } from '../errors.ts';
import { describeReading, type Ending, ended, failed, trafficSince } from './list-outcome.ts';
import type { ListTask, OpenList } from './list-task.ts';
import type { Applied, ListOutcome, Written } from './ports.ts';
import { type GrowthReading, readGrowth } from './read-growth.ts';
import { type ListProgress, readList } from './read-list.ts';

/**
 * Mirrors one list: reads it until the answers prove its records, and writes them in one transaction. It returns how
 * the list ended, after recording it.
 *
 * @param onFault called with a fault of docmirror itself, which ends the list like any other error.
 */
export async function syncList(task: ListTask, onFault: (fault: unknown) => void): Promise<ListOutcome> {
  const { list, mirror, clock, observer } = task;
  const startedAt = clock().toISOString();
  const trafficBefore = { ...task.source.traffic };
  const progress: ListProgress = { envelope: null, total: null, walks: 0 };
  let seenCount = 0;
  let mode: 'full' | 'incremental' = 'full';
  const conclude = (ending: Ending): ListOutcome => ({
    resource: list.resource,
    startedAt,
    completedAt: clock().toISOString(),
    mode,
    ...describeReading(progress, seenCount),
    ...trafficSince(trafficBefore, task.source.traffic),
    ...ending,
  });

  observer.listStarted(list);
  let outcome: ListOutcome;
  try {
    const listMirror = await mirror.openList(list, startedAt);
    const open: OpenList = { ...task, listMirror };
    const finish = (applied: Applied, unproven: string | null) => {
      seenCount = listMirror.seenCount;
      return conclude(ended(mode, unproven, applied));
    };
    try {
      const readAt = clock().toISOString();
      const growth = await readGrowth(open);
      let written: Written = { kind: 'again', reason: 'a full sync is due' };
      if (growth !== null) {
        mode = 'incremental';
        progress.envelope = growth.envelope;
        progress.total = growth.envelope.totalRecordCount;
        written = await writeGrowth(open, growth, readAt, finish);
      }
      for (let tries = 0; written.kind === 'again'; tries++) {
        if (growth !== null || tries > 0) observer.walkAgain(list, written.reason);
        mode = 'full';
        if (tries > 0) listMirror.beginAgain();
        written = await syncFully(open, progress, tries === 0, finish);
      }
      outcome = written.outcome;
    } catch (error) {
      seenCount = listMirror.seenCount;
      throw error;
    }
  } catch (error) {
    if (!(error instanceof DocmirrorError)) onFault(error);
    outcome = await mirror.recordList(conclude(failed(error)));
  }
  observer.listEnded(list, outcome);
  return outcome;
}

type Finish = (applied: Applied, unproven: string | null) => ListOutcome;

function writeGrowth(
  { listMirror, signal }: OpenList,
  { envelope, answers }: GrowthReading,
  readAt: string,
  finish: Finish,
): Promise<Written> {
  const { firstPageNo, pageSize } = envelope;
  return listMirror.apply({ kind: 'incremental', firstPageNo, pageSize, readAt, answers }, finish, signal);
}

async function syncFully(
  task: OpenList,
  progress: ListProgress,
  isTrusting: boolean,
  finish: Finish,
): Promise<Written> {
  const { listMirror, signal, removals, clock } = task;
  const readAt = clock().toISOString();
  const reading = await readList(task, progress, isTrusting);
  const { firstPageNo, pageSize } = progress.envelope as NonNullable<ListProgress['envelope']>;
  return listMirror.apply(
    { kind: 'full', ...reading, firstPageNo, pageSize, readAt, removals },
    finish,
    signal,
  );
}
