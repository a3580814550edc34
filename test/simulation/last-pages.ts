import type { Answer } from './answers.ts';
import { eachList } from './mirror-rows.ts';
import type { ListName, ServiceScenario } from './scenario.ts';
import type { ServiceList } from './service-list.ts';

type Page = Extract<Answer, { readonly kind: 'page' }>;

interface Seen {
  /** The greatest total that an answer stated; NaN if an answer was given otherwise. */
  total: number;
  /** The place at which the furthest page ended. */
  end: number;
  /** How long the list was at the longest. */
  longest: number;
  /** Whether an answer without records stated a total of 0. */
  isCalledEmpty: boolean;
}

/**
 * Finds the lists whose further pages no reader could notice. The service serves no page beyond some number, and few page sizes or
 * the page's own count as the total; or it cuts pages in silence. No answer of a run states a greater total than the place at which
 * the furthest page ended.
 */
export class LastPages {
  #seen = newSeen();

  beginRun(): void {
    this.#seen = newSeen();
  }

  /** Notes an answer; `list` is as it was then. */
  note(list: ServiceList, { body, shown }: Page, { pageNo, sizes, totals }: ServiceScenario): void {
    const seen = this.#seen[list.name];
    const { pagination }: { pagination: { totalRecordCount: number } } = JSON.parse(body);
    const hasFewSizes = sizes.startsWith('ignored') || sizes === 'stepped';
    const isCapped = pageNo !== 'heeded' && (hasFewSizes || totals.kind === 'served');
    const isCut = sizes.endsWith('silently');
    seen.total = Math.max(seen.total, isCapped || isCut ? pagination.totalRecordCount : Number.NaN);
    seen.end = Math.max(seen.end, shown.offset + shown.entries.length);
    const listed = list.entries.filter(({ isHidden }) => !isHidden);
    seen.longest = Math.max(seen.longest, listed.length);
  }

  /** Notes an answer that lost its records on the way. */
  noteHollow(list: ListName, { body }: Page): void {
    const { pagination }: { pagination: { totalRecordCount: number } } = JSON.parse(body);
    if (pagination.totalRecordCount === 0) this.#seen[list].isCalledEmpty = true;
  }

  seemToEnd(list: ListName): boolean {
    const { total, end, longest, isCalledEmpty } = this.#seen[list];
    return isCalledEmpty || (total === end && longest > end);
  }
}

function newSeen(): Record<ListName, Seen> {
  return eachList(() => ({ total: 0, end: 0, longest: 0, isCalledEmpty: false }));
}
