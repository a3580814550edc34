import type { PageFacts, PageFindings, WalkEnvelope } from '../sync/ports.ts';

/** What the ledger says of one finished walk. */
export interface WalkReport {
  readonly envelope: WalkEnvelope;
  readonly recordsSeen: number;
  /** Hexadecimal digits over the records seen, the same in any order. */
  readonly sum: string;
  /** Where the service contradicted itself or the list moved, in words: such a walk proves nothing. */
  readonly contradictions: readonly string[];
  /** Items that stood on more than one page: drift, or identical twins; a second walk tells. */
  readonly seenElsewhere: number;
  /** Records of the mirror that the walk did not see. */
  readonly unseen: number;
  readonly rejected: number;
  /** Evidence that the service does not heed `pageNo`, in words; null where there is none. */
  readonly pageNoIgnored: string | null;
  /** The last page that held records, and the digests of the first and the last one. */
  readonly lastPageNo: number;
  readonly firstDigest: string;
  readonly lastDigest: string;
}

/** What the walks so far come to. */
export type Verdict =
  | { readonly kind: 'count_matched' | 'proven' }
  | { readonly kind: 'again' | 'unproven' | 'pagination_ignored'; readonly reason: string };

/** The most walks that one run makes over a list. */
export const walksMax = 3;

/**
 * The account of one walk: it is fed page by page, in any order, and asked at the end what the pages come to.
 *
 * What holds in a walk over a list that stands still: every page echoes the page that it was asked for, with the same size,
 * count and total as the first; every page but the last is full; no two are the same; the items add up to the total.
 */
export class Ledger {
  readonly #envelope: WalkEnvelope;
  readonly #contradictions = new Set<string>();
  readonly #pageByDigest = new Map<string, number>();
  readonly #itemCounts = new Map<number, number>();
  readonly #digests = new Map<number, string>();
  readonly #sum = new Uint32Array(4);
  #lastPageNo: number;
  #emptyPages = 0;
  #seenElsewhere = 0;
  #rejected = 0;
  #pageNoIgnored: string | null = null;

  constructor(envelope: WalkEnvelope) {
    this.#envelope = envelope;
    this.#lastPageNo = lastPageOf(envelope);
  }

  /** The last page to ask for, by the newest word of the service. */
  get lastPageNo(): number {
    return this.#lastPageNo;
  }

  /** True where going on is of no use: the list has ended, or the service sends the same page whatever it is asked for. */
  get isPointless(): boolean {
    return this.#pageNoIgnored !== null || this.#emptyPages >= emptyPagesMax;
  }

  /**
   * Looks at a page before it is compared with the mirror. False where it is no page of the list: nothing of it may be stored.
   */
  admit(page: PageFacts): boolean {
    this.#compareEnvelope(page);
    if (this.#isAnswerToAnotherPage(page)) return false;
    if (page.itemCount > 0) return true;
    this.addMissing(page.pageNo);
    return false;
  }

  /** Enters a page that was admitted and compared. */
  add(page: PageFindings): void {
    this.#itemCounts.set(page.pageNo, page.itemCount);
    this.#pageByDigest.set(page.itemsDigest, page.pageNo);
    this.#digests.set(page.pageNo, page.itemsDigest);
    this.#seenElsewhere += page.seenElsewhere;
    this.#rejected += page.rejected;
    for (let lane = 0; lane < this.#sum.length; lane++) {
      this.#sum[lane] = (this.#sum[lane] as number) + page.sum.readUInt32LE(lane * 4);
    }
  }

  /** Enters that a page holds nothing, or that there is no such page. */
  addMissing(pageNo: number): void {
    this.#itemCounts.set(pageNo, 0);
    this.#emptyPages++;
  }

  /** Closes the account. */
  report(unseen: number): WalkReport {
    this.#compareCounts();
    const lastPageNo = this.#lastPageWithItems();
    return {
      lastPageNo,
      firstDigest: this.#digests.get(this.#envelope.firstPageNo) ?? '',
      lastDigest: this.#digests.get(lastPageNo) ?? '',
      envelope: this.#envelope,
      recordsSeen: this.#total(),
      sum: Buffer.from(this.#sum.buffer).toString('hex'),
      contradictions: [...this.#contradictions],
      seenElsewhere: this.#seenElsewhere,
      unseen,
      rejected: this.#rejected,
      pageNoIgnored: this.#pageNoIgnored,
    };
  }

  #compareEnvelope({ pageNo, pagination }: PageFacts): void {
    const { pageCount, pageSize, totalRecordCount } = pagination;
    const first = this.#envelope;
    const changed: [name: string, then: number, now: number][] = [
      ['totalRecordCount', first.totalRecordCount, totalRecordCount],
      ['pageCount', first.pageCount, pageCount],
      ['pageSize', first.pageSize, pageSize],
    ];
    for (const [name, then, now] of changed) {
      if (then !== now)
        this.#contradict(`${name} was ${then} on the first page and ${now} on page ${pageNo}`);
    }
    this.#lastPageNo = lastPageOf({ ...first, pageCount, totalRecordCount });
  }

  /** An answer to another page than was asked for says nothing new; notes whether the list ended or `pageNo` is ignored. */
  #isAnswerToAnotherPage(page: PageFacts): boolean {
    const { pageNo, pagination, itemsDigest } = page;
    const twin = this.#pageByDigest.get(itemsDigest);
    const isRepeat = twin !== undefined && !page.mayRepeat;
    if (pagination.pageNo === pageNo && !isRepeat) return false;
    // A page that is not full is the last one, whatever the total says.
    const isLast = page.itemCount < this.#envelope.pageSize;
    if (isLast || pageNo > this.#lastPageByTotal(pagination.totalRecordCount)) {
      this.addMissing(pageNo);
      return true;
    }
    const words = isRepeat
      ? `page ${pageNo} held the same records as page ${twin}`
      : `asked for page ${pageNo}, the service answered with page ${pagination.pageNo}`;
    // While the list moves, whole pages may move, too: only where all else stands still is `pageNo` to blame.
    if (this.#contradictions.size > 0) this.#contradict(words);
    else this.#pageNoIgnored = words;
    return true;
  }

  /** The page on which the records end, if the total is right. */
  #lastPageByTotal(total: number): number {
    const { firstPageNo, pageSize } = this.#envelope;
    return firstPageNo + Math.ceil(total / Math.max(1, pageSize)) - 1;
  }

  #compareCounts(): void {
    const { pageSize, totalRecordCount } = this.#envelope;
    const seen = this.#total();
    if (seen !== totalRecordCount) {
      this.#contradict(`the pages held ${seen} records, but totalRecordCount was ${totalRecordCount}`);
    }
    const counts = [...this.#itemCounts].filter(([, count]) => count > 0);
    const last = this.#lastPageWithItems();
    const odd = counts.find(([pageNo, count]) => count !== pageSize && (pageNo !== last || count > pageSize));
    if (odd !== undefined) this.#contradict(`page ${odd[0]} held ${odd[1]} records instead of ${pageSize}`);
  }

  #lastPageWithItems(): number {
    let last = this.#envelope.firstPageNo;
    for (const pageNo of this.#digests.keys()) last = Math.max(last, pageNo);
    return last;
  }

  #total(): number {
    let total = 0;
    for (const count of this.#itemCounts.values()) total += count;
    return total;
  }

  #contradict(words: string): void {
    // A few tell the story; a list that moves all the time would fill the run's record.
    if (this.#contradictions.size < contradictionsMax) this.#contradictions.add(words);
  }
}

const contradictionsMax = 5;

/** Pages without records after which a walk ends, however many the service says that there are. */
const emptyPagesMax = 10;

function lastPageOf({ firstPageNo, pageSize, pageCount, totalRecordCount }: WalkEnvelope): number {
  const pages = Math.max(pageCount, pageSize > 0 ? Math.ceil(totalRecordCount / pageSize) : 0);
  return firstPageNo + Math.max(1, pages) - 1;
}

/**
 * Decides what the walks of a run come to. One walk is enough where every check on it agrees and it saw all that the mirror
 * knows. Otherwise two successive walks must have seen the same records under the same envelope.
 *
 * @param mustProve asks for two walks also where one would do: it finds what no single walk can, a deletion and an insertion
 * between two requests that keep every count right.
 */
export function judge(walks: readonly WalkReport[], mustProve = false): Verdict {
  const last = walks.at(-1) as WalkReport;
  const before = walks.at(-2);
  const agree = before !== undefined && sawTheSame(before, last);
  if (agree && isSound(before) && isSound(last)) return { kind: 'proven' };
  const isMatched = isSound(last) && last.seenElsewhere === 0 && last.unseen === 0;
  if (isMatched && !mustProve) return { kind: 'count_matched' };
  const reason = reasonOf(last) || 'two walks did not agree yet';
  // Two walks that agree on a contradiction would agree on it a third time.
  if (walks.length < walksMax && !agree) return { kind: 'again', reason };
  if (last.pageNoIgnored !== null) return { kind: 'pagination_ignored', reason };
  return { kind: 'unproven', reason: agree ? reason : `${reason}; ${walks.length} walks did not agree` };
}

function isSound(walk: WalkReport): boolean {
  return walk.contradictions.length === 0 && walk.pageNoIgnored === null;
}

function sawTheSame(one: WalkReport, other: WalkReport): boolean {
  const { envelope: a } = one;
  const { envelope: b } = other;
  return (
    one.sum === other.sum &&
    one.recordsSeen === other.recordsSeen &&
    a.firstPageNo === b.firstPageNo &&
    a.pageSize === b.pageSize &&
    a.pageCount === b.pageCount &&
    a.totalRecordCount === b.totalRecordCount
  );
}

function reasonOf(walk: WalkReport): string {
  if (walk.pageNoIgnored !== null) return walk.pageNoIgnored;
  const reasons = [...walk.contradictions];
  if (walk.seenElsewhere > 0) reasons.push(`${walk.seenElsewhere} records stood on more than one page`);
  if (walk.unseen > 0) reasons.push(`${walk.unseen} records of the mirror were not seen`);
  return reasons.join('; ');
}
