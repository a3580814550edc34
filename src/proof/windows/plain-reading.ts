import { contentBytes, Sum } from '../../contract/sum.ts';
import { checkTotal } from './end.ts';
import type { Identity, ItemsOf, PageAddress, PageAnswer } from './page.ts';
import { RecordTable } from './record-table.ts';

/** This many equal pages are enough to give up. */
const alikeMin = 3;
/** The most pages beyond the total that are asked for while each is full. */
const pagesBeyondMax = 20;

/** Records that are the same in every field. */
export interface RepeatedRecord {
  /** 16 bytes. */
  readonly content: Uint8Array;
  readonly count: number;
}

/** The result of a reading by pages of one size. */
export type PlainResult =
  | {
      readonly kind: 'complete';
      readonly count: number;
      readonly sum: Sum;
      /** The records that are on more than one page, as often as the reading has them. */
      readonly repeated: readonly RepeatedRecord[];
    }
  | {
      readonly kind: 'contradicted';
      readonly reason: string;
      /** Whether the reason is that an id is on two pages. */
      readonly isIdTwice: boolean;
    };

/** One reading of a list by pages of one size that do not overlap, from the first one to one beyond the last. */
export class PlainReading {
  readonly size: number;
  readonly #answers = new Map<number, PageAnswer>();
  #cursor = 0;
  #others = 0;
  #otherReason: string | null = null;

  constructor(size: number) {
    this.size = size;
  }

  /** The next page of a list of `total` records, as the newest answer says; null if none is to be asked for now. */
  next(total: number): PageAddress | null {
    if (this.#isPointless) return null;
    return this.#cursor === 0 || this.#cursor * this.size < total ? this.#page() : null;
  }

  /** A page beyond those that the total states, if all others have arrived; null if the reading is over. */
  nextBeyond(total: number): PageAddress | null {
    if (this.#isPointless) return null;
    const asFarAsStated = Math.max(1, Math.ceil(total / this.size));
    if (this.#cursor > asFarAsStated + pagesBeyondMax) return null;
    const last = this.#answers.get(this.#cursor - 1);
    const isBeyondAsked = this.#cursor > asFarAsStated;
    if (isBeyondAsked && (last === undefined || last.summary.count < this.size || this.#isOldPage(last)))
      return null;
    return this.#page();
  }

  /** Notes an answer; one of another size belongs to a reading that was given up. */
  enter(answer: PageAnswer): void {
    if (answer.size === this.size) this.#answers.set(answer.index, answer);
  }

  /** Notes that the service answered with a different page, although the one it was asked for is in the list. */
  noteOther(reason: string): void {
    this.#others++;
    this.#otherReason ??= reason;
  }

  /**
   * Whether all pages with records were the same, or not those that were asked for: the service might ignore the page
   * number.
   */
  get isAlike(): boolean {
    if (this.#others > 0) return true;
    const full = [...this.#answers.values()].filter(({ summary }) => summary.count > 0);
    const digests = new Set(full.map(({ summary }) => summary.digest));
    return digests.size === 1 && full.length > 1 && full.every(({ summary }) => summary.count >= this.size);
  }

  /**
   * Whether so many pages were the same that the others need not be asked for. A list of identical records has pages
   * like this, too.
   */
  get #isPointless(): boolean {
    if (this.#answers.size < alikeMin || !this.isAlike) return false;
    const { head } = (this.#answers.values().next().value as PageAnswer).summary;
    const first = Buffer.from(head.contents.subarray(0, contentBytes));
    for (let at = 1; at < head.keys.length; at++)
      if (!first.equals(head.contents.subarray(at * contentBytes, (at + 1) * contentBytes))) return true;
    return false;
  }

  /** The result of the reading, when all of it has arrived. */
  result(identity: Identity, itemsOf: ItemsOf): PlainResult {
    const answers = [...this.#answers.values()].sort((a, b) => a.index - b.index);
    const same = this.#isPointless ? 'each page has the same records' : null;
    const reason = this.#otherReason ?? same ?? this.#contradiction(answers);
    const repeated = reason === null ? repeatsIn(answers, identity, itemsOf) : [];
    if (reason !== null || typeof repeated === 'string')
      return { kind: 'contradicted', reason: reason ?? String(repeated), isIdTwice: reason === null };
    const sum = new Sum();
    for (const answer of answers) if (this.#isInside(answer)) sum.addSum(answer.summary.sum);
    return { kind: 'complete', count: sum.count, sum, repeated };
  }

  #page(): PageAddress {
    return { index: this.#cursor++, size: this.size };
  }

  #isInside({ index, total }: PageAnswer): boolean {
    return index * this.size < total;
  }

  #contradiction(answers: readonly PageAnswer[]): string | null {
    const totals = new Set(
      answers.filter(answer => this.#isInside(answer) || answer.index === 0).map(({ total }) => total),
    );
    if (totals.size > 1)
      return `totalRecordCount was ${Math.min(...totals)} and ${Math.max(...totals)} in one reading`;
    const odd = answers.find(answer => this.#isInside(answer) && checkTotal(answer) !== 'agrees');
    if (odd !== undefined) {
      const { index, total, summary } = odd;
      return `page ${index + 1} has ${summary.count} records, which does not fit totalRecordCount ${total}`;
    }
    const isMore = answers.some(
      answer => !this.#isInside(answer) && answer.summary.count > 0 && !this.#isOldPage(answer),
    );
    return isMore ? 'a page beyond totalRecordCount has records' : null;
  }

  /** Beyond the end some services send the last page, or the first one, once more. */
  #isOldPage({ index, summary }: PageAnswer): boolean {
    return this.#answers.values().some(other => other.index < index && other.summary.sum.equals(summary.sum));
  }
}

/** The records that are on more than one page; or why the list contradicts itself, if an id is in it twice. */
function repeatsIn(
  answers: readonly PageAnswer[],
  identity: Identity,
  itemsOf: ItemsOf,
): RepeatedRecord[] | string {
  const records = new RecordTable(identity);
  const seen: { page: number; count: number; isOnTwo: boolean; content: Uint8Array }[] = [];
  for (const answer of answers) {
    if (answer.index * answer.size >= answer.total) continue;
    const items = itemsOf(answer);
    if (items === null) return 'a page was not read';
    for (let at = 0; at < answer.summary.count; at++) {
      const number = records.numberOf(items, at);
      const known = seen[number];
      if (known === undefined) {
        const content = items.contents.subarray(at * contentBytes, (at + 1) * contentBytes);
        seen[number] = { page: answer.index, count: 1, isOnTwo: false, content };
        continue;
      }
      if (identity === 'id' && !Number.isNaN(items.keys[at]))
        return `id ${items.keys[at]} is in the list twice`;
      known.count++;
      known.isOnTwo ||= known.page !== answer.index;
    }
  }
  return seen.filter(({ isOnTwo }) => isOnTwo).map(({ content, count }) => ({ content, count }));
}
