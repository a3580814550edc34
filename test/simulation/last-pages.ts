import type { Answer } from './answers.ts';
import { eachList } from './mirror-rows.ts';
import type { ListName, ServiceScenario } from './scenario.ts';
import type { ServiceList } from './service-list.ts';

type Page = Extract<Answer, { readonly kind: 'page' }>;

interface Seen {
  readonly totals: Set<number>;
  /** Where the furthest page ended. */
  end: number;
  /** How long the list was at the longest. */
  longest: number;
}

/**
 * Knows the lists of which no reader could tell that there is more: the service serves no page beyond some number and one page size only,
 * or cuts pages in silence; all answers of a run state one total, and no page goes beyond it.
 */
export class LastPages {
  #seen = newSeen();

  beginRun(): void {
    this.#seen = newSeen();
  }

  /** Notes an answer; `list` is as it was then. */
  note(list: ServiceList, { body, shown }: Page, { pageNo, sizes }: ServiceScenario): void {
    const seen = this.#seen[list.name];
    const { pagination }: { pagination: { totalRecordCount: number } } = JSON.parse(body);
    const isCapped = pageNo !== 'heeded' && sizes.startsWith('ignored');
    const isCut = sizes.endsWith('silently');
    // Another total tells of more, and so does an answer that is given otherwise.
    seen.totals.add(isCapped || isCut ? pagination.totalRecordCount : Number.NaN);
    seen.end = Math.max(seen.end, shown.offset + shown.entries.length);
    seen.longest = Math.max(seen.longest, list.entries.length);
  }

  seemToEnd(list: ListName): boolean {
    const { totals, end, longest } = this.#seen[list];
    const [total = Number.NaN] = totals;
    return totals.size === 1 && total === end && longest > end;
  }
}

function newSeen(): Record<ListName, Seen> {
  return eachList(() => ({ totals: new Set<number>(), end: 0, longest: 0 }));
}
