import type { Page } from '../contract/page.ts';
import type { Answer } from '../proof/answer.ts';
import type { Envelope } from '../proof/envelope.ts';
import { type EdgePage, type ListEdges, lastPageOf, planIncremental } from '../proof/incremental.ts';
import { newRecordsRepeat } from '../proof/repeats.ts';
import type { OpenList } from './list-task.ts';
import { getFirstPage, pagesStated } from './page-size.ts';
import type { ListMirror } from './ports.ts';
import { getOrMissing, type PageRequests } from './walk.ts';

/** What an incremental sync saw, where it was enough to know what is new. */
export interface IncrementalReport {
  readonly envelope: Envelope;
  readonly recordsSeen: number;
  readonly pages: readonly Answer[];
  readonly edges: ListEdges;
}

/**
 * Reads the ends of a list, as far as the plan asks for it. Null where a full sweep is due or needed; what was read is then
 * forgotten.
 */
export async function readEdges(task: OpenList): Promise<IncrementalReport | null> {
  const { list, source, signal, listMirror } = task;
  const edges = listMirror.edges();
  if (edges === null || isSweepDue(task, edges)) return null;
  const wanted = task.pageSize ?? edges.pageSize;
  const { page: firstPage, envelope, asked } = await getFirstPage(source, list, wanted, signal);
  // A sweep says so in words.
  if (pagesStated(envelope) > task.pagesMax) return null;
  const isKnown = (digest: string) => listMirror.known(digest, true) !== null;
  const { firstPageNo } = envelope;
  const requests: PageRequests = { source, list, firstPageNo, pageSize: asked, isKnown, signal };
  const pages = new Map<number, EdgePage & { readonly answer: Answer }>();
  for (;;) {
    const step = planIncremental(edges, envelope, pages);
    if (step.kind === 'done' && !isDoubtful(pages.values(), listMirror))
      return report(edges, envelope, pages);
    if (step.kind !== 'ask') {
      const reason = step.kind === 'sweep' ? step.reason : 'a new record, or its id, stands twice';
      task.observer.walkAgain(list, reason);
      return null;
    }
    const index = step.pageNo - firstPageNo;
    const walked =
      index === 0
        ? { page: firstPage }
        : await getOrMissing(requests, { index, totalBefore: 0, isBeyond: false });
    // Where a page is not there, the list is not what its first page says.
    if (walked.page === null) return null;
    pages.set(step.pageNo, readEdge(listMirror, walked.page, step.pageNo, index));
  }
}

function isSweepDue({ clock, fullEveryMs, listMirror }: OpenList, edges: ListEdges): boolean {
  const { isReading, sum } = listMirror.standing;
  const ageMs = clock().getTime() - Date.parse(edges.sweptAt);
  return (
    fullEveryMs === 0 ||
    !isReading ||
    !(ageMs >= 0 && ageMs < fullEveryMs) ||
    edges.totalRecordCount !== sum.count
  );
}

function readEdge(listMirror: ListMirror, page: Page, pageNo: number, index: number) {
  const { pagination } = page;
  const reading = listMirror.known(page.itemsDigest, true) ?? listMirror.read(page);
  const { count, digest, sum, rejected, found } = reading;
  const answer: Answer = { index, total: pagination.totalRecordCount, count, digest, sum, rejected };
  return { pageNo, pagination, count, digest, rejected: rejected?.count ?? 0, found, answer };
}

/** Whether anything new on the pages stands there twice. */
function isDoubtful(pages: Iterable<{ readonly answer: Answer }>, { itemsOf }: ListMirror): boolean {
  const parts = Array.from(pages, ({ answer }) => ({ answer, items: { from: 0, to: answer.count } }));
  return newRecordsRepeat(parts, itemsOf);
}

function report(
  edges: ListEdges,
  envelope: Envelope,
  read: ReadonlyMap<number, EdgePage & { readonly answer: Answer }>,
): IncrementalReport {
  const { firstPageNo, totalRecordCount } = envelope;
  const lastPageNo = lastPageOf(envelope);
  const firstDigest = read.get(firstPageNo)?.digest ?? '';
  const lastDigest = read.get(lastPageNo)?.digest ?? '';
  const pages = [...read.values()].map(({ answer }) => answer);
  const recordsSeen = pages.reduce((sum, { count }) => sum + count, 0);
  const now = { ...edges, totalRecordCount, lastPageNo, firstDigest, lastDigest };
  return { envelope, recordsSeen, pages, edges: now };
}
