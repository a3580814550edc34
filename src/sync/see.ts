import type { ListDefinition } from '../contract/lists.ts';
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
