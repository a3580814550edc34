import type { AnswersSeen } from '../contract/answers-seen.ts';
import type { ListDefinition } from '../contract/lists.ts';
import type { PageSource } from '../contract/page.ts';
import type { Answer } from '../proof/window.ts';
import type { FactsSeen } from '../store/write/facts.ts';
import type { FirstPage } from './first-page.ts';
import { type Fetched, isLastWithOrphans, type Paging } from './pages.ts';
import type { ListRun } from './task.ts';

// What the answers of a run show of the service, in the words of src/store/tables/service-facts.ts.

/** Notes what the first page shows, and the sizes that were tried before it. */
export function seeFirstPage(facts: FactsSeen, { resource }: ListDefinition, first: FirstPage): void {
  const { firstPageNo, pageSize, page, asked, larger } = first;
  facts.see(resource, 'first_page', firstPageNo);
  if (larger?.how === 'failed') return;
  const evidence = { records: page.items?.length ?? 0, isGreatest: larger !== null };
  if (asked === null) facts.see(resource, 'default_page_size', pageSize, evidence);
  facts.see(resource, 'page_size', pageSize, evidence);
  if (larger !== null) facts.see(resource, 'larger_page_size', larger);
}

/** Notes what came for a page of a reading, which has `count` records; `isAgain` if an earlier page had them. */
export function seePage(
  { context, list }: ListRun,
  { firstPageNo }: Paging,
  { index, size, total }: Pick<Answer, 'index' | 'size' | 'total'>,
  { page, refusedWith = null }: Fetched,
  { count, isAgain }: { readonly count: number; readonly isAgain: boolean },
): void {
  const { facts } = context;
  const isAsked = page?.pagination.pageNo === firstPageNo + index;
  const beyond = count - (page?.pagination.pageSize ?? count);
  if (page !== null && isAsked && beyond > 0 && isLastWithOrphans(page, firstPageNo))
    facts.see(list.resource, 'orphans', beyond);
  if (index === 0 || total === 0 || index * size < total || (page ?? refusedWith) === null) return;
  const again = isAgain || !isAsked ? 'last page again' : 'other page';
  const what = page === null ? String(refusedWith) : count === 0 ? 'empty' : again;
  facts.see(list.resource, 'beyond_end', what);
  if (total % size === 0) facts.see(list.resource, 'beyond_full_end', what);
}

/** Notes what the answers of a list were beside their pages, since it was begun; nothing if the source does not see that. */
export function seeAnswers(facts: FactsSeen, { resource }: ListDefinition, { seen }: PageSource): void {
  const answers = seen?.take(resource);
  if (answers === undefined || seen === undefined) return;
  const { count, failures, retryAfter, ageMsMax, compressed, withEtag, textNumbers, negativeTotals } =
    answers;
  if (count > 0) {
    facts.see(
      resource,
      'answer_ms',
      { ...quantiles(answers.ms), p95: quantile(answers.ms, 0.95) },
      { answers: count },
    );
    facts.see(resource, 'answer_bytes', quantiles(answers.received), { answers: count });
    facts.see(resource, 'compression', compressed > 0 ? 'gzip' : 'none', { answers: count, compressed });
    facts.see(resource, 'etag', withEtag > 0, { answers: count, withEtag });
    facts.see(resource, 'numbers_as_text', textNumbers, { answers: count });
  }
  if (negativeTotals > 0) facts.see(resource, 'total', 'negative', { answers: negativeTotals });
  if (ageMsMax !== null) facts.see(resource, 'age_ms', ageMsMax);
  if (failures.size > 0) facts.see(resource, 'failures', Object.fromEntries(failures), { answers: count });
  if (retryAfter !== null) facts.see(resource, 'retry_after', retryAfter);
  if (seen.tokenMs !== null) facts.see('service', 'token_ms', seen.tokenMs);
}

const quantile = (samples: AnswersSeen['ms'], share: number): number => {
  const sorted = samples.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10;
};
const quantiles = (samples: AnswersSeen['ms']) => ({
  median: quantile(samples, 0.5),
  most: quantile(samples, 1),
});
