import { Sum } from '../../contract/sum.ts';
import type { Answer } from '../../proof/answer.ts';
import type { Envelope } from '../../proof/envelope.ts';
import type { ListContext } from './list-context.ts';
import type { KnownPages } from './shortcuts.ts';
import type { WalkOrigin } from './staging.ts';

/** A staged walk older than this is begun anew: what it read may have changed without a trace in the counts. */
const resumeAgeMsMax = 60 * 60 * 1000;

/**
 * Resumes the first walk that an interrupted run left of a list: the pages that it had read need not be asked for again. It is
 * only ever a first reading: the second one is the run's own.
 *
 * @param firstDigest the digest of the first page's items as they are now.
 * @returns the pages; none where the list, the service or the mirror is not what it was.
 */
export function resumeWalk(
  context: ListContext,
  known: KnownPages,
  envelope: Envelope,
  firstDigest: string,
): Answer[] {
  const { staging, list, run } = context;
  const { resource } = list;
  const left = staging.interruptedWalk(resource);
  if (left === null || !isSameList(left.origin, envelope, run.baseUrl) || !isSameMirror(left.origin, context))
    return [];
  if (Date.now() - left.begunAtMs >= resumeAgeMsMax) return [];
  staging.forgetDamaged(resource);
  const places = staging.places(resource);
  if (!places.some(({ index, digest }) => index === 0 && digest === firstDigest)) return [];
  // What an interrupted first sync had written is gone with its transaction.
  if (context.sum.count === 0) staging.forgetRows(resource);
  const seen = new Set<number>();
  return places.flatMap(({ index, total, digest }) => {
    // Another page than the one that came now may stand at its place, too, where the list moved.
    if (index === 0 && digest !== firstDigest) return [];
    const page = staging.page(resource, digest);
    const sum = page === null ? known.sums.get(digest) : Sum.from(page.count, page.sum);
    if (sum === undefined || seen.has(index) || total !== envelope.totalRecordCount) return [];
    seen.add(index);
    const rejected =
      page === null || page.rejectedCount === 0 ? null : Sum.from(page.rejectedCount, page.rejectedSum);
    return [{ index, total, count: sum.count, digest, sum, rejected }];
  });
}

function isSameList(origin: WalkOrigin, now: Envelope, baseUrl: string): boolean {
  return (
    origin.baseUrl === baseUrl &&
    origin.firstPageNo === now.firstPageNo &&
    origin.pageSize === now.pageSize &&
    origin.totalRecordCount === now.totalRecordCount
  );
}

function isSameMirror(origin: WalkOrigin, { records, list }: ListContext): boolean {
  const lastWritten = records.lastWritten(list.resource)?.runId ?? 0;
  return records.startOf(origin.runId) === origin.runStartedAt && lastWritten < origin.runId;
}
