import type { Page } from '../contract/page.ts';
import { ServiceError } from '../errors.ts';
import { type ListEdges, planIncremental } from '../proof/incremental.ts';
import type { ListTask } from './list.ts';
import { factsOf } from './page-facts.ts';
import { getFirstPage } from './page-size.ts';
import type { ListMirror, PageFindings, WalkEnvelope } from './ports.ts';

/** What an incremental sync saw, where it was enough to know what is new. */
export interface IncrementalReport {
  readonly envelope: WalkEnvelope;
  readonly recordsSeen: number;
  readonly edges: ListEdges;
}

/**
 * Reads the ends of a list, as far as the plan asks for it. Null where a full sweep is due or needed; what was read is then
 * forgotten.
 */
export async function readEdges(task: ListTask, listMirror: ListMirror): Promise<IncrementalReport | null> {
  const { ends } = listMirror;
  if (ends === null || isSweepDue(task, listMirror, ends.edges)) return null;
  const { edges } = ends;
  const { list, source, signal } = task;
  const { page: firstPage, envelope, asked } = await getFirstPage(source, list, edges.pageSize, signal);
  const pages = new Map<number, PageFindings>();
  ends.begin();
  for (;;) {
    const step = planIncremental(edges, envelope, pages);
    if (step.kind === 'done') return report(edges, envelope, pages);
    const isFirst = step.kind === 'ask' && step.pageNo === envelope.firstPageNo;
    const page =
      step.kind === 'ask'
        ? isFirst
          ? firstPage
          : await getPage(task, listMirror, step.pageNo, asked)
        : null;
    if (step.kind === 'sweep' || page === null) {
      ends.giveUp();
      if (step.kind === 'sweep') task.observer.walkAgain(list, step.reason);
      return null;
    }
    pages.set(step.pageNo, listMirror.takeIn(factsOf(list, listMirror, step.pageNo, page), page));
  }
}

function isSweepDue(task: ListTask, listMirror: ListMirror, edges: ListEdges): boolean {
  const ageMs = task.clock().getTime() - Date.parse(edges.sweptAt);
  return (
    task.mustProve ||
    task.fullEveryMs === 0 ||
    !(ageMs >= 0 && ageMs < task.fullEveryMs) ||
    edges.baseUrl !== task.source.baseUrl ||
    edges.totalRecordCount !== listMirror.recordCount ||
    (task.pageSize !== null && task.pageSize !== edges.pageSize)
  );
}

/** A page, or null where it is not there: the list is not what its first page says. */
async function getPage(
  { source, list, signal }: ListTask,
  listMirror: ListMirror,
  pageNo: number,
  pageSize: number | null,
): Promise<Page | null> {
  const isKnown = (itemsDigest: string) => listMirror.knownItemCount(itemsDigest) !== null;
  try {
    return await source.getPage(list, { pageNo, pageSize }, signal, isKnown);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}

function report(
  edges: ListEdges,
  envelope: WalkEnvelope,
  pages: ReadonlyMap<number, PageFindings>,
): IncrementalReport {
  const { firstPageNo, pageSize, totalRecordCount } = envelope;
  const lastPageNo = firstPageNo + Math.ceil(totalRecordCount / pageSize) - 1;
  const firstDigest = pages.get(firstPageNo)?.itemsDigest ?? '';
  const lastDigest = pages.get(lastPageNo)?.itemsDigest ?? '';
  let recordsSeen = 0;
  for (const { itemCount } of pages.values()) recordsSeen += itemCount;
  return {
    envelope,
    recordsSeen,
    edges: { ...edges, totalRecordCount, lastPageNo, firstDigest, lastDigest },
  };
}
