// Phase 5, full scans: one pass over the list by pages that do not overlap, and what is wrong with it.

import { greatestOf, leastOf } from '../contract/extremes.ts';
import { type Answer, beginOf, endOf, type PageAddress } from './answers.ts';
import type { Finding } from './findings.ts';
import { askedAgain } from './gaps.ts';
import { type AnswerLog, type AskOptions, pagesBeyondMax } from './log.ts';
import { areSameRecords, itemsOf, mergePages, type PageItems } from './page-items.ts';
import type { Asking } from './questions.ts';
import { checkTotal, fullOfRun, isFull, isOnPageBefore } from './totals.ts';
import { isOnePage, isShownTwice, pagesToCount } from './witnesses.ts';

/** If more of a scan's pages do not fit their totals, it is no change between two queries. */
const askedAgainShare = 1 / 4;
/** This many equal pages are enough to give up. */
const alikeMin = 3;

/** One pass over the whole list by pages of one size that do not overlap. */
export interface FullScan {
  /** Its pages up to the end that they state, in order. */
  readonly pages: readonly Answer[];
  /** All its answers, also those beyond that end. */
  readonly answers: readonly Answer[];
  /** Why it is not complete; null if all pages fit one total. */
  readonly problem: Finding | null;
  /** Whether each page fits its own total, and the last one ends the list by it. */
  readonly isWhole: boolean;
  /** The records that are on several of its pages. */
  readonly repeated: PageItems;
  readonly isIdTwice: boolean;
  /** Whether all pages with records were the same, or not those that were asked for. */
  readonly isAlike: boolean;
  readonly isSizeRefused: boolean;
}

interface ScanOptions extends Pick<AskOptions, 'isSecondLook' | 'again'> {
  /** Whether its pages need other addresses: if the service has one page size, they are asked for by a size that it ignores. */
  readonly hasOtherAddresses?: boolean;
  /** Whether it ends as soon as a total changes, because it can then prove nothing. */
  readonly isCut?: boolean;
  /** Answers that came before, from the first page on. */
  readonly known?: readonly Answer[];
}

/** Reads the list from its first page to its last, also while it grows, so that every page is seen; but not on after a wrong answer. */
export function* scanFully(log: AnswerLog, size: number, options: ScanOptions): Asking<FullScan> {
  const pass = new Pass(log, size, options);
  if (pass.answers.length === 0) yield* pass.readTo(1);
  const count = Math.max(1, Math.ceil((pass.answers[0]?.total ?? 0) / size));
  // A few pages show a service that ignores the page number.
  if (pass.goesOn) yield* pass.readTo(Math.min(count, alikeMin));
  const isPointless = isPageNoIgnored(pass.answers);
  if (pass.goesOn && !isPointless && pass.answers.length > 0) {
    yield* pass.readTo(count);
    // Before the newest total is looked at: a page that is asked for again can have another one.
    if (pass.goesOn) yield* pass.askAgain();
    const stated = () => Math.ceil(log.extent / size);
    while (pass.goesOn && pass.next < stated()) yield* pass.readTo(stated());
    if (pass.goesOn) yield* pass.countOnePage();
    const most = pass.next + pagesBeyondMax;
    while (pass.goesOn && pass.mayGoOn() && pass.next < most) yield* pass.readTo(pass.next + 1);
  }
  return conclusionOf(pass, isPointless);
}

/** One pass while it is made. */
class Pass {
  readonly log: AnswerLog;
  readonly answers: Answer[];
  readonly wrong: Answer[] = [];
  /** The number of the next page. */
  next: number;
  readonly #size: number;
  readonly #options: ScanOptions;
  readonly #asked: AskOptions;

  constructor(log: AnswerLog, size: number, options: ScanOptions) {
    [this.log, this.#size, this.#options] = [log, size, options];
    this.answers = [...(options.known ?? [])];
    this.next = this.answers.length;
    const isOnOnePage = size === log.list.largest && log.total < size;
    const isIgnored = options.hasOtherAddresses && (log.hasOneSize || isOnOnePage) && log.ignoresSizes;
    // All its pages are asked for by one size in the place of its own.
    const requestedSize = isIgnored ? log.ignoredSize : null;
    this.#asked = { isSecondLook: options.isSecondLook ?? false, requestedSize };
  }

  get goesOn(): boolean {
    return this.wrong.every(isFailed) && !this.answers.some(this.#isOther);
  }

  *readTo(end: number): Asking<void> {
    const isFirst = this.answers.length + this.wrong.length === (this.#options.known?.length ?? 0);
    const pages: PageAddress[] = [];
    for (; this.next < end; this.next++) pages.push({ index: this.next, size: this.#size });
    // A page that fails for good does not keep the others from being read.
    const stop = (answer: Answer) => !isFailed(answer) && (answer.wrong !== null || this.#isOther(answer));
    const again = isFirst ? (this.#options.again ?? null) : null;
    for (const answer of yield* this.log.ask(pages, { ...this.#asked, again, stop }))
      (answer.wrong === null ? this.answers : this.wrong).push(answer);
  }

  *askAgain(): Asking<void> {
    const { log, answers } = this;
    for (const answer of yield* askedAgain(log, answers, askedAgainShare, this.#asked))
      if (answer.wrong === null) answers[answers.findIndex(({ index }) => index === answer.index)] = answer;
  }

  /** Asks for pages that can count the only one, if an earlier total was greater. */
  *countOnePage(): Asking<void> {
    const { log, answers } = this;
    const [only] = answers;
    const isOpen = only !== undefined && isOnePage(only) && deducedIn(answers, log) !== null;
    const options = { ...this.#asked, requestedSize: null };
    if (isOpen && !log.hasOneSize) yield* log.ask(pagesToCount(only, log), options);
  }

  /**
   * If the last page was full, the list might go on, whatever its total says. So it might if one page is all that there is, because its
   * total can be deduced from it; and if a page before it was not full either.
   */
  mayGoOn(): boolean {
    const { log, answers } = this;
    const last = answers.reduce((a, b) => (b.index > a.index ? b : a));
    if (last.page.count === 0 || isOldPage(last, answers)) return false;
    // A full page that shows the whole list has counted it.
    const isWhole = ({ index, page, total }: Answer) =>
      index === 0 && page.count === total && total === last.total;
    const isCounted = fullOfRun(log.answers).some(isWhole);
    if (last.index === 0 && !isCounted) return true; // guard: a reading of one page
    return isFull(last) || answers.some(other => other !== last && !isFull(other));
  }

  /** Whether the total has changed, so that a pass that ends then is over. */
  readonly #isOther = ({ total }: Answer): boolean =>
    this.#options.isCut === true && total !== (this.answers[0]?.total ?? total);
}

const isFailed = (answer: Answer): boolean => answer.wrong?.kind === 'failed';

function conclusionOf({ log, wrong, answers: all }: Pass, isPointless: boolean): FullScan {
  const answers = all.filter(each => !isOnPageBefore(each, all));
  answers.sort((a, b) => a.index - b.index);
  const pages = answers.filter(isInside);
  const last = pages.at(-1);
  const isEnd = last !== undefined && last.total === endOf(last);
  const { repeated, twice } = repeatsIn(pages, log);
  const firstAgain: Finding = { code: 'page_number_ignored', asked: alikeMin, answered: null };
  const inPages = isPointless ? firstAgain : (pageProblemIn(answers) ?? deducedIn(answers, log));
  const pageProblem = wrong[0]?.wrong?.finding ?? inPages;
  return {
    pages,
    answers,
    problem: pageProblem ?? totalsOf(answers) ?? twice,
    isWhole: isEnd && pageProblem === null && !pages.some(({ page }) => page.isIdTwice),
    repeated,
    isIdTwice: twice !== null,
    isAlike: isAlike(answers) || wrong.some(answer => answer.wrong?.kind === 'page'),
    isSizeRefused: wrong.some(answer => answer.wrong?.kind === 'size'),
  };
}

/** Whether so many pages are the same that it is pointless to read on. A list of identical records has equal pages, too. */
const isPageNoIgnored = (answers: readonly Answer[]): boolean =>
  isAlike(answers) && answers.length >= alikeMin && new Set(answers[0]?.page.records).size > 1;

/** Whether all pages with records were the same: the service might ignore the page number. */
function isAlike(answers: readonly Answer[]): boolean {
  const full = answers.filter(({ page }) => page.count > 0);
  const digests = new Set(full.map(({ page }) => page.digest));
  return digests.size === 1 && full.length > 1 && full.every(({ page, size }) => page.count >= size);
}

const isInside = (answer: Answer): boolean => beginOf(answer) < answer.total;

/** The totals of a scan, if they differ. A page that fell beyond the end counts: a record can have moved to one that was read before. */
function totalsOf(answers: readonly Answer[]): Finding | null {
  const first = answers[0]?.total ?? 0;
  const isCounted = (answer: Answer) => answer.index === 0 || isInside(answer) || beginOf(answer) < first; // guard: a list that got shorter
  const totals = answers.filter(isCounted).map(({ total }) => total);
  const [least, most] = [leastOf(totals), greatestOf(totals)];
  return least < most ? { code: 'totals_differ', least, most } : null;
}

/** Why pages do not fit their own totals, or the end that they state. */
function pageProblemIn(answers: readonly Answer[]): Finding | null {
  const said = ({ index, total, page }: Answer) => ({ total, page: index + 1, records: page.count });
  const odd = answers.find(answer => isInside(answer) && checkTotal(answer) !== 'agrees');
  if (odd !== undefined) return { code: 'page_contradicts_total', ...said(odd) };
  const behind = answers.filter(answer => !isInside(answer) && answer.page.count > 0);
  const more = behind.find(answer => !isOldPage(answer, answers));
  return more === undefined ? null : { code: 'records_beyond_total', ...said(more) };
}

/** Why the total of a scan of one page that is not full is no count; null if nothing says so. */
function deducedIn(answers: readonly Answer[], log: AnswerLog): Finding | null {
  const [only, ...behind] = answers;
  if (only === undefined || only.page.count === 0 || isFull(only)) return null;
  if (behind.some(({ page }) => page.count > 0)) return null;
  if (isShownTwice(only, log)) return null; // guard: a list on one page that got shorter
  const counts = [...behind, ...fullOfRun(log.answers)];
  const other = counts.find(({ total }) => total > endOf(only)); // guard: a total of a page that is not full
  if (other === undefined) return null;
  return { code: 'total_is_no_count', kind: 'deduced', total: other.total, ends: [only.total] };
}

/** Beyond the end some services send the last page, or the first one, once more. */
function isOldPage({ index, page }: Answer, answers: readonly Answer[]): boolean {
  return answers.some(other => other.index < index && areSameRecords([other.page], [page]));
}

/** The records that are on more than one page, and the ids that are in the list twice. */
function repeatsIn(answers: readonly Answer[], { list }: AnswerLog) {
  const first = new Map<number, Answer>();
  const onTwo = new Set<number>();
  const ids = new Set<number>();
  for (const answer of answers)
    for (const [at, record] of answer.page.records.entries()) {
      const before = first.get(record);
      if (before === undefined) first.set(record, answer);
      else if (before !== answer) onTwo.add(record);
      if (before !== undefined && list.identity === 'id') ids.add(answer.page.keys[at] as number);
    }
  const items = onTwo.size === 0 ? [] : itemsOf(answers.map(({ page }) => page));
  const those = items.filter(({ page, at }) => onTwo.has(page.records[at] as number));
  const [id] = ids;
  const twice: Finding | null = id === undefined ? null : { code: 'id_twice', id, count: ids.size };
  return { repeated: mergePages(those, list.identity), twice };
}
