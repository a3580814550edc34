import type { Answer, ItemsOf } from './answer.ts';

/** What tells whether two pages hold the same. */
type Held = Pick<Answer, 'count' | 'digest' | 'sum'>;

/** Pages that all hold the same, after which no more is to be learnt: where their records have ids, and where they have none. */
const alikePagesMax = { withIds: 20, withoutIds: 5_000 };

/**
 * Which pages of one walk held what others had held: a sign of a service that heeds no `pageNo`. The same records may come in other
 * bytes, or in another order.
 */
export class PagesSeen {
  /** The digest of one page of those that hold the same. */
  readonly #digests = new Map<string, string>();
  #count = 0;

  /** How many pages came. */
  get count(): number {
    return this.#count;
  }

  /** True where all pages held the same, be it one page alone. */
  get areOne(): boolean {
    return this.#digests.size === 1;
  }

  /** True where at least every second page held what another one had held. */
  get areMostlyRepeated(): boolean {
    return this.#count > 1 && this.#digests.size * 2 <= this.#count;
  }

  add(page: Held): void {
    this.#count++;
    this.#digests.set(nameOf(page), page.digest);
  }

  /** Adds what came in the place of a page that is not there; it counts as none. */
  addBeyond(page: Held): void {
    this.#digests.set(nameOf(page), page.digest);
  }

  has(page: Held): boolean {
    return this.#digests.has(nameOf(page));
  }

  /** True where so many pages held the same that no other is to be expected. Records without ids may be duplicates, however many there are. */
  areAlikeForGood(itemsOf: ItemsOf): boolean {
    if (!this.areOne || this.#count < alikePagesMax.withIds) return false;
    const [digest = ''] = this.#digests.values();
    const hasIds = itemsOf(digest)?.ids?.some(id => !Number.isNaN(id)) ?? false;
    return hasIds || this.#count >= alikePagesMax.withoutIds;
  }
}

function nameOf({ count, sum }: Held): string {
  return `${count} ${sum}`;
}
