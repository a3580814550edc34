import type { ItemsOf } from './answer.ts';

/** Pages that all hold the same, after which no more is to be learnt: where their records have ids, and where they have none. */
const alikePagesMax = { withIds: 20, withoutIds: 5_000 };

/** Which pages of one walk held what others had held: a sign of a service that heeds no `pageNo`. */
export class PagesSeen {
  readonly #digests = new Set<string>();
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

  add(digest: string): void {
    this.#count++;
    this.#digests.add(digest);
  }

  /** Adds what came in the place of a page that is not there; it counts as none. */
  addBeyond(digest: string): void {
    this.#digests.add(digest);
  }

  has(digest: string): boolean {
    return this.#digests.has(digest);
  }

  /** True where so many pages held the same that no other is to be expected. Records without ids may be duplicates, however many there are. */
  areAlikeForGood(itemsOf: ItemsOf): boolean {
    if (!this.areOne || this.#count < alikePagesMax.withIds) return false;
    const [digest = ''] = this.#digests;
    const hasIds = itemsOf(digest)?.ids?.some(id => !Number.isNaN(id)) ?? false;
    return hasIds || this.#count >= alikePagesMax.withoutIds;
  }
}
