import type { Answer } from './answers.ts';
import type { ListName, ServiceScenario } from './scenario.ts';

type Page = Extract<Answer, { readonly kind: 'page' }>;

/**
 * Knows the lists of which a service that has one page size and ignores `pageNo` sends a page whose total and `pageCount` say
 * that it is all: nothing in the answers tells that there is more. It is told by what the service did.
 */
export class OnePages {
  readonly #lists = new Map<ListName, boolean>();

  /** Notes an answer. */
  note(list: ListName, { body, shown }: Page, { pageNo, sizes }: ServiceScenario): void {
    if (pageNo === 'heeded') return;
    const { pagination }: { pagination: { totalRecordCount: number; pageCount: number } } = JSON.parse(body);
    const isAll = pagination.totalRecordCount === shown.entries.length && pagination.pageCount <= 1;
    this.#lists.set(list, isAll && sizes === 'ignored');
  }

  /** By its last answer. */
  isAll(list: ListName): boolean {
    return this.#lists.get(list) ?? false;
  }
}
