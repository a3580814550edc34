import { type GrowthAnswer, planIncremental } from '../proof/windows/incremental.ts';
import type { PageAnswer } from '../proof/windows/page.ts';
import { overlapOf, Plan } from '../proof/windows/plan.ts';
import { Requests } from '../proof/windows/requests.ts';
import type { OpenList } from './list-task.ts';
import { requestPage } from './page-requests.ts';
import { type Envelope, pagesStated } from './page-size.ts';
import { identityOf, itemsIn } from './read-list.ts';

/** The growing end of a list, read until it met the known records. */
export interface GrowthReading {
  readonly envelope: Envelope;
  readonly answers: readonly PageAnswer[];
}

/**
 * Reads a list from its growing end, until a window meets the known records. Null if a full sync is due or needed; the
 * records that were read are in the mirror already.
 *
 * @throws ServiceError if a page can't be read.
 */
export async function readGrowth(task: OpenList): Promise<GrowthReading | null> {
  const { list, source, signal, listMirror, observer } = task;
  const { growth } = listMirror.memory;
  if (growth === null || isFullDue(task, growth.sweptAt)) return null;
  const { firstPageNo, pageSize } = growth;
  // A service might serve smaller pages than are asked for.
  if (task.pageSize !== null && task.pageSize < pageSize) return null;
  const plan = new Plan(pageSize, overlapOf(pageSize, identityOf(list)));
  const requests = new Requests(() => false);
  const answers: GrowthAnswer[] = [];
  let envelope: Envelope | null = null;
  let added = 0;
  for (;;) {
    const step = planIncremental(growth.list, plan, answers, added, itemsIn(listMirror));
    if (step.kind === 'done' && envelope !== null)
      return { envelope, answers: answers.map(({ answer }) => answer) };
    if (step.kind !== 'ask') {
      observer.walkAgain(list, step.kind === 'full' ? step.reason : 'nothing was read');
      return null;
    }
    const page = plan.at(step.number);
    if (page === null) return null;
    requests.add(page, 0);
    const ask = requests.send();
    if (ask === null) return null;
    const requested = { source, list, signal, firstPageNo, servedSize: pageSize, sendsServedSize: true };
    const reply = await requestPage({ ...requested, isKnown: () => false }, { ...ask, isBeyond: true });
    if (reply.page === null) return null;
    const { pagination } = reply.page;
    const isAsked = pagination.pageNo === firstPageNo + ask.index && pagination.pageSize === ask.size;
    envelope ??= { ...pagination, firstPageNo, pageSize };
    // The full sync reports this error.
    if (!isAsked || pagesStated(envelope) > task.pagesMax) return null;
    const { summary, insertedCount, ...found } = await listMirror.read(reply.page, ask, signal);
    const answer = requests.enter(ask, pagination.totalRecordCount, summary);
    answers.push({ answer, ...found });
    added += insertedCount;
    observer.pageDone(list, pagination.pageNo, pagination.pageCount);
  }
}

function isFullDue({ clock, fullEveryMs }: OpenList, sweptAt: string): boolean {
  const ageMs = clock().getTime() - Date.parse(sweptAt);
  return fullEveryMs === 0 || !(ageMs >= 0 && ageMs < fullEveryMs);
}
