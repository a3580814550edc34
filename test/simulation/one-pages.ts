import type { Answer } from './answers.ts';
import type { ListName } from './scenario.ts';

type Page = Extract<Answer, { readonly kind: 'page' }>;

/**
 * Knows the lists of which a service that ignores `pageNo` sent one page only, whose total says that it is all: nothing in the
 * answers tells that there is more. It is told by what the service did.
 */
export class OnePages {
  readonly #pages = new Map<ListName, Set<string>>();

  /** Notes an answer of such a service. */
  note(list: ListName, { body, shown }: Page): void {
    const { pagination }: { pagination: { totalRecordCount: number } } = JSON.parse(body);
    const isAll = pagination.totalRecordCount === shown.entries.length;
    const page = isAll ? shown.entries.map(({ uid }) => uid).join() : 'a part';
    this.#pages.set(list, (this.#pages.get(list) ?? new Set()).add(page));
  }

  isAll(list: ListName): boolean {
    const pages = this.#pages.get(list);
    return pages?.size === 1 && !pages.has('a part');
  }
}
