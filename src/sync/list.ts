import { ServiceError } from '../errors.ts';
import type { Answer } from '../proof/answer.ts';
import { GateError } from '../proof/gate.ts';
import { type ListEdges, pagesSweptAlwaysMax } from '../proof/incremental.ts';
import { removalsAllowed } from '../proof/removal-guard.ts';
import type { Strip } from '../proof/strip.ts';
import type { Changed } from '../proof/verdict.ts';
import { describeReading, type Ending, ended, failed, type Progress, trafficSince } from './list-outcome.ts';
import type { ListTask } from './list-task.ts';
import type { ApplyOrder, ListMirror, ListOutcome } from './ports.ts';
import { type IncrementalReport, readEdges } from './read-edges.ts';
import { type Proof, type ReadWalk, readList } from './read-list.ts';

/**
 * Mirrors one list: reads it until the readings prove what it holds, then writes that in one transaction. It always returns how
 * the list ended, and has recorded it; only a fault of docmirror itself is thrown.
 */
export async function syncList(task: ListTask): Promise<ListOutcome> {
  const { list, mirror, clock, observer } = task;
  const startedAt = clock().toISOString();
  const trafficBefore = { ...task.source.traffic };
  const progress: Progress = { walks: [], walksBegun: 0, incremental: null };
  const conclude = (ending: Ending): ListOutcome => ({
    resource: list.resource,
    startedAt,
    completedAt: clock().toISOString(),
    ...describeReading(progress),
    ...trafficSince(trafficBefore, task.source.traffic),
    ...ending,
  });

  observer.listStarted(list);
  let outcome: ListOutcome;
  try {
    const listMirror = await mirror.openList(list, startedAt);
    if (listMirror.doubt !== null) observer.mirrorDoubted(list, listMirror.doubt);
    progress.incremental = await readEdges(task, listMirror);
    outcome = await (progress.incremental === null
      ? sweep(task, listMirror, progress, conclude)
      : extend(task, listMirror, progress, progress.incremental, conclude));
  } catch (error) {
    outcome = conclude(failed(error));
    await mirror.recordList(outcome);
  }
  observer.listEnded(list, outcome);
  return outcome;
}

type Conclude = (ending: Ending) => ListOutcome;

/** Writes what stands at the growing edge; where the rows would not come to that, the list is swept. */
async function extend(
  task: ListTask,
  listMirror: ListMirror,
  progress: Progress,
  { envelope, pages, edges }: IncrementalReport,
  conclude: Conclude,
): Promise<ListOutcome> {
  try {
    return await listMirror.apply(
      { kind: 'edges', firstPageNo: envelope.firstPageNo, pages, edges },
      applied => conclude(ended('incremental', null, applied)),
      task.signal,
    );
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    progress.incremental = null;
    await distrust(task, listMirror, error);
    return sweep(task, listMirror, progress, conclude);
  }
}

/**
 * Reads the whole list and writes what was found. Where the rows would not come to what was read, every shortcut is dropped and
 * the list is read again without any; where they still would not, it is unproven.
 */
async function sweep(
  task: ListTask,
  listMirror: ListMirror,
  progress: Progress,
  conclude: Conclude,
  isTrusting = true,
): Promise<ListOutcome> {
  const sweptAt = task.clock().toISOString();
  const walksBefore = progress.walks.length;
  const proof = await readList(task, listMirror, progress, isTrusting);
  const walks = progress.walks.slice(walksBefore);
  if (proof.kind !== 'proven') return storeSeen(task, listMirror, walks, proof, conclude);
  const order = orderOf(task, listMirror, walks, proof.changed, sweptAt);
  try {
    return await listMirror.apply(order, applied => conclude(ended('proven', null, applied)), task.signal);
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    if (!isTrusting) {
      const unproven = { kind: 'unproven', reason: error.message } as const;
      return storeSeen(task, listMirror, walks.slice(-1), unproven, conclude);
    }
    await distrust(task, listMirror, error);
  }
  return sweep(task, listMirror, progress, conclude, false);
}

async function distrust(task: ListTask, listMirror: ListMirror, error: GateError): Promise<void> {
  task.observer.walkAgain(task.list, error.message);
  await listMirror.distrust();
}

/** Stores all that was seen of a list that is not proven, and removes nothing. */
function storeSeen(
  task: ListTask,
  listMirror: ListMirror,
  walks: readonly ReadWalk[],
  proof: Exclude<Proof, { kind: 'proven' }>,
  conclude: Conclude,
): Promise<ListOutcome> {
  if (proof.kind === 'pagination_ignored') {
    throw new ServiceError(
      'pagination_ignored',
      `GET ${task.source.baseUrl}${task.list.path}: the service does not heed pageNo: ${proof.reason}`,
      { retryable: false },
    );
  }
  // Where one content may stand on two pages and that is not proven, only what one answer holds is known to stand side by side.
  const seen = walks.map(({ strip, repeats, pages }) => ({
    strip: repeats?.onTwoPages === false ? strip : null,
    pages,
  }));
  return listMirror.apply(
    { kind: 'seen', firstPageNo: walks[0]?.account.envelope.firstPageNo ?? 0, walks: seen },
    applied => conclude(ended('unproven', proof.reason, applied)),
    task.signal,
  );
}

function orderOf(
  task: ListTask,
  listMirror: ListMirror,
  walks: readonly ReadWalk[],
  changed: Changed,
  sweptAt: string,
): ApplyOrder {
  const last = walks.at(-1) as ReadWalk;
  const strip = last.strip as Strip;
  const rejected = strip.segments.reduce((sum, { answer }) => sum + (answer.rejected?.count ?? 0), 0);
  const knownPages = knownPagesOf(walks);
  return {
    kind: 'list',
    firstPageNo: last.account.envelope.firstPageNo,
    strip,
    changed,
    removalsMax: removalsAllowed(rejected, listMirror.standing.sum.count, task.removals),
    edges: knownPages === null || rejected > 0 ? null : edgesOf(last, knownPages, sweptAt),
    knownPages,
  };
}

/** The pages of the newest walk that cut the list by its own page size and says the same as the last one. */
function knownPagesOf(walks: readonly ReadWalk[]): readonly Answer[] | null {
  const last = walks.at(-1) as ReadWalk;
  const size = walks[0]?.account.envelope.pageSize;
  const walk = walks.findLast(
    ({ strip, account }) =>
      strip !== null &&
      strip.counting === null &&
      strip.covered === last.strip?.covered &&
      account.envelope.pageSize === size,
  );
  return walk?.strip?.segments.map(({ answer }) => answer) ?? null;
}

/** How the ends of the list looked in a walk that was sure of them; null for lists that are always swept in full. */
function edgesOf({ account }: ReadWalk, pages: readonly Answer[], sweptAt: string): ListEdges | null {
  const first = pages[0];
  const last = pages.at(-1);
  if (first === undefined || last === undefined || last.index < pagesSweptAlwaysMax) return null;
  const { firstPageNo } = account.envelope;
  return {
    sweptAt,
    firstPageNo,
    pageSize: first.count,
    totalRecordCount: last.total,
    lastPageNo: firstPageNo + last.index,
    firstDigest: first.digest,
    lastDigest: last.digest,
  };
}
