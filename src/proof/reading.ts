import { isContradicted, isShort } from './claims.ts';
import type { KeyWindows } from './cover.ts';
import type { Finding } from './findings.ts';
import type { LearntOrder } from './order.ts';
import { otherSizes, Plan } from './plan.ts';
import { asItsRow } from './settle.ts';
import type { Ties } from './ties.ts';
import {
  type Answer,
  type Ask,
  addressText,
  beginOf,
  endOf,
  type Identity,
  type PageAddress,
  type PageItems,
  type Shown,
} from './window.ts';
import { isKnownPage, type OnePageFacts } from './witnesses.ts';

/** Pages to ask for together, as many at once as you like. The rest of a batch is not asked for once `stop` is true of an answer. */
export interface Batch {
  readonly kind: 'pages';
  readonly pages: readonly Ask[];
  readonly stop: (answer: Answer) => boolean;
  /** Why the list is read once more from its first page; null if it is not. */
  readonly again: readonly Finding[] | null;
  /** Whether answers of an earlier run do, whose reading ended early. */
  readonly mayRecall: boolean;
  /** Whether it is a part of the pages of a plan, so that the reading can pause behind it. */
  readonly isPart: boolean;
}

/**
 * What a part of a proof asks: for pages of the service; for the mirror's rows that no answer leaves room for, where each of `joined` are
 * records of several pages that count as one answer; or how many records the answers have that the mirror does not have, each once.
 */
export type Question =
  | Batch
  | { readonly kind: 'unshown'; readonly joined: readonly Shown[] }
  | { readonly kind: 'added' };

/** What it is told: answers in the order of their arrival, rows, or a number. */
export type Reply =
  | { readonly kind: 'pages'; readonly answers: readonly Answer[] }
  | { readonly kind: 'unshown'; readonly rows: readonly UnshownRow[] }
  | { readonly kind: 'added'; readonly count: number };

/** A part of a proof: it yields questions, receives replies, and returns a result. Nothing else comes in. */
export type Asking<Result> = Generator<Question, Result, Reply>;

/** The mirror's rows that no answer leaves room for. */
export function* askUnshown(joined: readonly Shown[]): Asking<readonly UnshownRow[]> {
  const reply = yield { kind: 'unshown', joined };
  return reply.kind === 'unshown' ? reply.rows : mistaken(reply);
}

/** How many records the answers so far have that the mirror did not have, each counted once. */
export function* askAdded(): Asking<number> {
  const reply = yield { kind: 'added' };
  return reply.kind === 'added' ? reply.count : mistaken(reply);
}

function mistaken({ kind }: Reply): never {
  throw new TypeError(`A question was answered by ${kind}.`);
}

/** A row that no answer has shown. */
export interface UnshownRow {
  readonly id: number;
  /** NaN if it has none. */
  readonly key: number;
}

/** All keys greater than this one; all of the list if it is null, because no order of keys is seen. */
export interface KeysBeyond {
  readonly beyond: number | null;
}

/** A list, as its proof sees it. */
export interface ListFacts {
  readonly identity: Identity;
  /** The greatest page size that the service serves. */
  readonly largest: number;
  /** How many records neighbouring pages have in common, at least. */
  readonly overlap: number;
  readonly learnt: LearntOrder;
  /** The run's number: page sizes of second looks rotate with it, so that no cache can have kept their pages. */
  readonly run: number;
  /** The total that the run before found; null if there was none. */
  readonly totalBefore: number | null;
  /** Whether a run that proved the list has seen the same page; left out if nothing is known. */
  readonly isKnown?: (digest: string) => boolean;
  /** Whether the run before proved what the mirror has, and this run goes on with nothing. */
  readonly isSettled?: boolean;
  /** The growing end of which the run before let rows stay, because the list seemed to be being filled; left out or null if it did not. */
  readonly retained?: KeysBeyond | null;
  /** Where the mirror has records that share a key; left out if nothing is known. */
  readonly ties?: Ties | null;
  /** The pages that were planned by such ties when the reading began, if an earlier run began it. */
  readonly planned?: readonly PageAddress[];
}

/** How a list is proven, or why it is not. */
export interface Verdict {
  /** One page shows it all; windows on keys do; two complete readings agree, or have to; some whole readings show one order. */
  readonly rule: 'page' | 'key' | 'agreement' | 'order';
  readonly isProven: boolean;
  /** Why it is not proven; none if it is. */
  readonly findings: readonly Finding[];
  /** Only by key. */
  readonly windows?: KeyWindows;
  /** The records that are on several pages of a reading, if there are any. */
  readonly repeated?: Shown;
  /** True if all pages were the same. */
  readonly isPageNoIgnored?: boolean;
}

/** Windows can't prove the list; plain readings might. */
export const agreement = (finding: Finding): Verdict => ({
  rule: 'agreement',
  isProven: false,
  findings: [finding],
});

/** However a list behaves, a run asks for at most so many times its pages, and some more. */
const readingsMax = 12;
const requestsMin = 100;
/** The most pages beyond the end that totals state, while each is full. */
export const pagesBeyondMax = 20;
/** The most pages in a row without a record that are read because the service states them. */
const emptyPagesMax = 20;

/** A reading ends before its proof does: it took too many requests, or something keeps it from going on, with the answers that had come. */
export class EndedEarly extends Error {
  readonly finding: Finding;
  readonly answers: readonly Answer[];

  constructor(finding: Finding, answers: readonly Answer[] = []) {
    super(finding.code);
    this.finding = finding;
    this.answers = answers;
  }
}

/** Whether an answer says nothing, and the pages after it need not be asked for. */
export const isWrong = (answer: Answer): boolean => answer.wrong !== null && answer.wrong.kind !== 'failed';

/** The least number of pages that are asked for at once, and by how many places the list can move meanwhile. */
const partMin = 8;
const movedMax = 2;

type AskOptions = Partial<
  Pick<Ask, 'isSecondLook' | 'sent'> & Pick<Batch, 'again' | 'stop' | 'mayRecall' | 'isPart'>
>;

/** Records that share a key, as the pages of one size show them together. */
export interface Across {
  readonly size: number;
  /** These pages as one answer. */
  readonly answer: Answer;
  readonly within: PageItems;
}

/** The answers of a run, and how it asks for more. */
export class Reading {
  readonly list: ListFacts;
  /** The answers that say something. */
  readonly heard: Answer[] = [];
  /** Those that say nothing of their address, but have totals. */
  readonly misplaced: Answer[] = [];
  /** Pages that fail for good. */
  readonly failed: Answer[] = [];
  /** True if the service answered with pages of another size than it was asked for, or refused a size. */
  hasOneSize = false;
  /** True if pages by a size that the service ignores are of its own size, or if that was not tried yet. */
  ignoresSizes = true;
  /** Whether the front of a list of the newest was looked at after all other pages, or need not be. */
  isFrontSeen = false;
  /** Whether no second answer has shown the end, however often it was looked for. */
  isWitnessMissed = false;
  /** Whether it is looked for rows that would go. */
  isSecondLook = false;
  /** How many pages were asked for to close gaps; and how many of these before the list was read plainly. */
  repairs = 0;
  repairsBefore = 0;
  /** Whether the list was read by pages that do not overlap, in the place of the plan. */
  isReadPlainly = false;
  /** What pages of one size have shown of records that share a key, by their keys. */
  readonly across = new Map<string, Across[]>();
  /** How many readings were made by such sizes. */
  ignoredCount = 0;
  /** The pages that overlap; the first page shows by how much. */
  plan: Plan;
  /** Records that were read across pages, as if they were on one. */
  readonly joined: Shown[] = [];
  /** Sizes for readings by other pages than those of the largest size. */
  readonly otherSizes: readonly number[];
  /** The rows that the answers so far have not shown; null if that was not asked since the last one came. */
  unshown: readonly UnshownRow[] | null = null;
  readonly #used = new Map<string, Answer>();
  #count = 0;
  #newest: Answer | null = null;
  /** The place after the furthest record so far. */
  #reached = 0;
  /** The sum of all changes of the total, and of each answer how much it was before. */
  #moved = 0;
  readonly #movedBefore = new Map<Answer, number>();

  constructor(list: ListFacts) {
    this.list = list;
    this.plan = new Plan(list.largest, list.overlap);
    this.otherSizes = otherSizes(list.largest, list.run);
  }

  /** How many records the list has, by the answer that was asked for last. */
  get total(): number {
    return this.#newest?.total ?? 0;
  }

  /**
   * The place up to which it is read: by the newest total or, if pages before the last one are short, by the pages that the service states.
   * Of these no more than some that follow the last record.
   */
  get extent(): number {
    const { heard, total, list } = this;
    const stated = heard.some(isShort) // guard: pages that are short go on to the last one
      ? Math.max(...heard.map(({ pageCount, size }) => (pageCount ?? 0) * size))
      : 0;
    return Math.max(total, Math.min(stated, this.#reached + emptyPagesMax * list.largest));
  }

  /** Whether the totals of this run differ. */
  get isMoving(): boolean {
    return this.#moved > 0;
  }

  /** How many pages can be asked for at once before the list has moved by more than pages have as a margin; infinite if it stands still. */
  get partMax(): number {
    if (!this.isMoving) return Number.POSITIVE_INFINITY;
    return Math.max(partMin, Math.floor((movedMax * this.heard.length) / this.#moved));
  }

  /** What is known of a list on one page. */
  get onePage(): OnePageFacts {
    const { list, hasOneSize } = this;
    // Sets and times can be written otherwise in each answer: then all records are as their rows, and all rows are shown.
    const isAsRows = ({ page }: Answer) =>
      list.isSettled === true && page.versions.every(version => version === asItsRow);
    const isKnown = (answer: Answer) => list.isKnown?.(answer.page.digest) === true || isAsRows(answer);
    return { isKnown, hasOneSize, areRowsShown: this.unshown?.length === 0 };
  }

  /** Asks which rows are unshown, if a verdict needs that now. */
  *look(): Asking<void> {
    const { heard, onePage, isWitnessMissed, list } = this;
    const isOpen = isWitnessMissed ? list.isSettled === true : heard.some(isKnownPage(onePage));
    if (this.unshown === null && isOpen) this.unshown = yield* askUnshown(this.joined);
  }

  /** Whether a page was answered in this run. */
  readonly isUsed = (page: PageAddress): boolean => this.#used.has(addressText(page));

  /** The newest answers at these addresses, if this run has them all and the total was the same all the while; or else null. */
  together(pages: readonly PageAddress[]): readonly Answer[] | null {
    const answers = pages.map(page => this.#used.get(addressText(page)));
    const isOne = (answer: Answer | undefined): answer is Answer =>
      answer !== undefined &&
      this.#movedBefore.has(answer) &&
      this.#movedBefore.get(answer) === this.#movedBefore.get(answers[0] as Answer); // guard: pages of one moment
    return answers.every(isOne) ? answers : null;
  }

  /** @throws EndedEarly if the run has asked for too many pages, or can't go on. */
  *ask(pages: readonly PageAddress[], options: AskOptions = {}): Asking<readonly Answer[]> {
    if (pages.length === 0) return [];
    const { isSecondLook = false, again = null, sent = null, ...others } = options;
    const { stop = isWrong, mayRecall = false, isPart = false } = others;
    const { largest } = this.list;
    const [first] = this.heard;
    // A list that grows as fast as it is read has totals that grow with it; other totals are too small.
    const isTotalPassed = this.heard.every(({ total }) => total < this.#reached);
    const listed = Math.max(first?.total ?? 0, isTotalPassed ? this.#reached : 0);
    this.#count += pages.length;
    if (this.#count > requestsMin + readingsMax * Math.ceil(listed / largest))
      throw new EndedEarly({ code: 'changes_too_fast' });
    const asks = pages.map(({ index, size }) => {
      const isBeyond = index > 0 && beginOf({ index, size }) >= this.total;
      return { index, size, sent, isSecondLook, isBeyond };
    });
    try {
      const reply = yield { kind: 'pages', pages: asks, again, stop, mayRecall, isPart };
      const answers = reply.kind === 'pages' ? reply.answers : mistaken(reply);
      this.#hear(answers);
      return answers;
    } catch (error) {
      if (error instanceof EndedEarly) this.#hear(error.answers);
      throw error;
    }
  }

  #hear(answers: readonly Answer[]): void {
    this.unshown = null;
    this.#noteMoves(answers);
    for (const answer of answers) {
      this.#used.set(addressText(answer), answer);
      if (answer.wrong?.kind === 'size') this.hasOneSize = true;
      if (answer.wrong !== null) (answer.wrong.kind === 'failed' ? this.failed : this.misplaced).push(answer);
      if (answer.wrong !== null) continue;
      this.heard.push(answer);
      if (answer.page.count > 0) this.#reached = Math.max(this.#reached, endOf(answer));
      if (this.#newest === null || answer.asked > this.#newest.asked) this.#newest = answer;
    }
  }

  #noteMoves(answers: readonly Answer[]): void {
    let before = this.#newest;
    for (const answer of answers.toSorted((a, b) => a.asked - b.asked)) {
      if (answer.wrong !== null || answer.isRecalled) continue;
      if (before !== null && !before.isRecalled) this.#moved += Math.abs(answer.total - before.total);
      this.#movedBefore.set(answer, this.#moved);
      before = answer;
    }
  }
}

/** At most this many answers that contradict their total are asked for once more. */
const askedAgainMax = 12;
/** Answers of one address that contradict their totals, at most. */
const sameAddressMax = 4;

/** Asks once more for pages that contradict their totals, unless they are more than that share: then the service does something else. */
export function* askedAgain(
  run: Reading,
  answers: readonly Answer[],
  share: number,
  options: AskOptions,
): Asking<readonly Answer[]> {
  // A total that was counted at another moment is another one in the next answer; a total that is kept is the same.
  const isOpen = (answer: Answer) => {
    const same = answers.filter(other => addressText(other) === addressText(answer));
    const [last, before] = same.toSorted((one, other) => other.asked - one.asked);
    // A page that is not there has no total, but that of the answer before it.
    const isOfBefore = answer.page.count === 0 && answer.total !== run.total;
    const isMoving = before?.total !== answer.total || before.page.count !== answer.page.count || isOfBefore;
    return last === answer && same.filter(isContradicted).length < sameAddressMax && isMoving;
  };
  const odd = answers.filter(answer => isContradicted(answer) && isOpen(answer));
  const most = Math.min(askedAgainMax, Math.ceil(answers.length * share));
  return odd.length > most ? [] : yield* run.ask(odd, options);
}

/** A page that fails is read by so many smaller ones. */
const partsOfFailed = 6;

/** A page that fails for good is read by ever smaller pages, so that all of its records are shown but those that make it fail. */
export function* readAroundFailed(run: Reading): Asking<void> {
  for (const broken of [...run.failed]) {
    let { index, size } = broken;
    while (size > 1 && !run.hasOneSize) {
      const smaller = Math.ceil(size / partsOfFailed);
      const pages: PageAddress[] = [];
      for (let at = Math.floor((index * size) / smaller); at * smaller < (index + 1) * size; at++)
        pages.push({ index: at, size: smaller });
      const came = yield* run.ask(pages, { stop: answer => answer.wrong?.kind === 'size' });
      const failed = came.filter(({ wrong }) => wrong?.kind === 'failed');
      const [one] = failed;
      if (one === undefined || failed.length > 1) break;
      ({ index, size } = one);
    }
  }
}
