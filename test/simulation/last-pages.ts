import type { Answer } from './answers.ts';
import type { ListName, ServiceScenario } from './scenario.ts';

type Page = Extract<Answer, { readonly kind: 'page' }>;

/**
 * Knows the lists of which a service that has one page size, and serves no page beyond some number, says of the last one that it
 * serves, by its total and by its `pageCount`, that nothing follows: nothing in the answers tells that there is more. It is told
 * by what the service did.
 */
export class LastPages {
  readonly #lists = new Map<ListName, boolean>();

  /** Notes an answer. */
  note(list: ListName, { body, shown }: Page, { pageNo, sizes }: ServiceScenario): void {
    if (pageNo === 'heeded') return;
    const { pagination }: { pagination: { totalRecordCount: number; pageCount: number } } = JSON.parse(body);
    const end = shown.offset + shown.entries.length;
    const isLast =
      pagination.totalRecordCount === end && pagination.pageCount * shown.size < end + shown.size;
    this.#lists.set(list, isLast && sizes.startsWith('ignored'));
  }

  /** By its last answer to a request that named a page. */
  seemToEnd(list: ListName): boolean {
    return this.#lists.get(list) ?? false;
  }
}
