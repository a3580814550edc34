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
  readonly #full = new Set<string>();
  #count = 0;
  #fullCount = 0;

  /** How many pages came. */
  get count(): number {
    return this.#count;
  }

  /** True where all pages held the same, be it one page alone. */
  get areOne(): boolean {
    return this.#digests.size === 1;
  }

  /** True where at least every second full page held what another one had held. One that is not full and comes again is the last one. */
  get areMostlyRepeated(): boolean {
    return this.#fullCount > 1 && this.#full.size * 2 <= this.#fullCount;
  }

  add(page: Held, isFull: boolean): void {
    this.#count++;
    this.#digests.set(nameOf(page), page.digest);
    if (!isFull) return;
    this.#fullCount++;
    this.#full.add(nameOf(page));
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
