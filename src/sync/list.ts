import { DocmirrorError, ServiceError } from '../errors.ts';
import type { Answer } from '../proof/answer.ts';
import { sizeOf } from '../proof/finished-walk.ts';
import { GateError, PartialReadError } from '../proof/gate.ts';
import { type ListEdges, pagesSweptAlwaysMax } from '../proof/incremental.ts';
import { removalsAllowed } from '../proof/removal-guard.ts';
import type { Strip } from '../proof/strip.ts';
import type { Changed } from '../proof/verdict.ts';
import { describeReading, type Ending, ended, type Findings, failed, trafficSince } from './list-outcome.ts';
import type { ListTask, OpenList } from './list-task.ts';
import type { ApplyOrder, Completeness, ListOutcome } from './ports.ts';
import { type IncrementalReport, readEdges } from './read-edges.ts';
import { type Proof, type ReadWalk, readList } from './read-list.ts';

/**
 * Mirrors one list: reads it until the readings prove what it holds, then writes that in one transaction. It returns how the list
 * ended, and has recorded it.
 *
 * @param onFault told of a fault of docmirror itself, which ends the list like any other error.
 */
export async function syncList(task: ListTask, onFault: (fault: unknown) => void): Promise<ListOutcome> {
  const { list, mirror, clock, observer } = task;
  const startedAt = clock().toISOString();
  const trafficBefore = { ...task.source.traffic };
  const findings: Findings = { walks: [], walksBegun: 0, incremental: null };
  const conclude = (ending: Ending): ListOutcome => ({
    resource: list.resource,
    startedAt,
    completedAt: clock().toISOString(),
    ...describeReading(findings),
    ...trafficSince(trafficBefore, task.source.traffic),
    ...ending,
  });

  observer.listStarted(list);
  let outcome: ListOutcome;
  try {
    const listMirror = await mirror.openList(list, startedAt);
    const sync: ListSync = { ...task, listMirror, findings, conclude };
    findings.incremental = await readEdges(sync);
    outcome = await (findings.incremental === null ? sweep(sync) : extend(sync, findings.incremental));
  } catch (error) {
    if (!(error instanceof DocmirrorError)) onFault(error);
    outcome = await mirror.recordList(conclude(failed(error)));
  }
  observer.listEnded(list, outcome);
  return outcome;
}

/** A list that is being read, what was found out of it, and how its outcome is made of an ending. */
interface ListSync extends OpenList {
  readonly findings: Findings;
  readonly conclude: (ending: Ending) => ListOutcome;
}

/** Writes what stands at the growing edge; where the rows would not come to that, the list is swept. */
async function extend(sync: ListSync, { envelope, pages, edges }: IncrementalReport): Promise<ListOutcome> {
  const { firstPageNo, pageSize } = envelope;
  const order = {
    kind: 'edges',
    firstPageNo,
    pageSizes: { read: pageSize, own: pageSize },
    pages,
    edges,
  } as const;
  try {
    return await write(sync, order, 'incremental');
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    sync.findings.incremental = null;
    return sweepAgain(sync, error);
  }
}

/**
 * Reads the whole list and writes what was found. Where the rows would not come to what was read, every shortcut is dropped and
 * the list is read again without any; where they still would not, it is unproven.
 */
async function sweep(sync: ListSync, isTrusting = true): Promise<ListOutcome> {
  const { findings } = sync;
  const sweptAt = sync.clock().toISOString();
  const walksBefore = findings.walks.length;
  const proof = await readList(sync, findings, isTrusting);
  const walks = findings.walks.slice(walksBefore);
  if (proof.kind !== 'proven') return storeSeen(sync, walks, proof);
  try {
    return await write(sync, orderOf(sync, walks, proof.changed, sweptAt), 'proven');
  } catch (error) {
    if (!(error instanceof GateError)) throw error;
    if (!isTrusting) return storeSeen(sync, walks.slice(-1), { kind: 'unproven', reason: error.message });
    return sweepAgain(sync, error);
  }
}

/** Reads all pages, whatever is known of them. */
async function sweepAgain(sync: ListSync, error: GateError): Promise<ListOutcome> {
  const { observer, list, listMirror } = sync;
  observer.walkAgain(list, error.message);
  if (error instanceof PartialReadError) listMirror.readAnew();
  else listMirror.distrust();
  return sweep(sync, false);
}

/** Stores all that was seen of a list that is not proven, and removes nothing. */
function storeSeen(
  sync: ListSync,
  walks: readonly ReadWalk[],
  proof: Exclude<Proof, { kind: 'proven' }>,
): Promise<ListOutcome> {
  if (proof.kind === 'pagination_ignored') {
    throw new ServiceError(
      'pagination_ignored',
      `GET ${sync.source.baseUrl}${sync.list.path}: the service does not heed pageNo: ${proof.reason}`,
      { retryable: false },
    );
  }
  // Where one content may stand on two pages and that is not proven, only what one answer holds is known to stand side by side.
  // What only an interrupted run has seen may be gone.
  const seen = walks.flatMap(({ strip, repeats, isTakenUp, pages, others }) => [
    { strip: null, pages: others },
    { strip: repeats?.onTwoPages === false && !isTakenUp ? strip : null, pages },
  ]);
  const firstPageNo = walks[0]?.account.envelope.firstPageNo ?? 0;
  const order = { kind: 'seen', firstPageNo, pageSizes: pageSizesOf(sync), walks: seen } as const;
  return write(sync, order, 'unproven', proof.reason);
}

/** @throws GateError where the rows would not come to what was read. */
function write(
  { listMirror, conclude, signal }: ListSync,
  order: ApplyOrder,
  completeness: Completeness,
  reason: string | null = null,
): Promise<ListOutcome> {
  return listMirror.apply(order, applied => conclude(ended(completeness, reason, applied)), signal);
}

/** The size of the last walk's pages, and that of the list's own, which its record names. */
function pageSizesOf({ findings: { walks } }: ListSync): ApplyOrder['pageSizes'] {
  return { read: sizeOf(walks.at(-1) as ReadWalk), own: sizeOf(walks[0] as ReadWalk) };
}

function orderOf(sync: ListSync, walks: readonly ReadWalk[], changed: Changed, sweptAt: string): ApplyOrder {
  const { listMirror, removals } = sync;
  const last = walks.at(-1) as ReadWalk;
  const strip = last.strip as Strip;
  const rejected = strip.segments.reduce((sum, { answer }) => sum + (answer.rejected?.count ?? 0), 0);
  const knownPages = knownPagesOf(walks);
  return {
    kind: 'list',
    firstPageNo: last.account.envelope.firstPageNo,
    pageSizes: pageSizesOf(sync),
    strip,
    changed,
    removalsMax: removalsAllowed(rejected, listMirror.standing, removals),
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
