import { Groups } from './cover.ts';
import { checkTotal } from './ends.ts';
import { sizesMax } from './plan.ts';
import { type Asking, pagesBeyondMax, type Reading, type Verdict } from './reading.ts';
import {
  type Answer,
  areSameRecords,
  beginOf,
  endOf,
  itemsOf,
  joinPages,
  type PageAddress,
  type PageItems,
  type Shown,
} from './window.ts';
import { twinsReason } from './windows.ts';

/** Complete readings of which two in a row have to agree. */
const readingsMax = 4;
/** Whole readings that have to show one order: so a record has to be hidden that often. */
const wholeMin = 3;
/** This many equal pages are enough to give up. */
const alikeMin = 3;

/**
 * Plain readings of the whole list, by some page sizes if the service serves them. If two in a row agree, the list is proven; or if three
 * do not agree, but show one stable order.
 *
 * @param reason why windows do not prove it.
 */
export function* proveByAgreement(run: Reading, reason: string): Asking<Verdict> {
  const { largest } = run.list;
  const sizes = [largest, ...run.otherSizes].slice(0, wholeMin);
  const readings: PlainReading[] = [];
  // The first page was asked for already.
  const first = run.heard.length === 1 ? [...run.heard] : [];
  for (let sizeNo = 0; readings.length < readingsMax; sizeNo++) {
    const again = sizeNo === 0 && run.heard.length <= 1 ? null : reason;
    const isOtherwise = readings.length % 2 === 1;
    const size = run.hasOneSize ? largest : (sizes[sizeNo % sizes.length] as number);
    const reading = yield* readPlainly(run, size, { again, isOtherwise, known: sizeNo === 0 ? first : [] });
    // From here on all readings are by the largest size, at its own address.
    if (reading.isSizeRefused && (isOtherwise || size !== largest)) continue;
    readings.push(reading);
    if (run.failed.length > 0) break;
    if (doAgree(readings, run.hasOneSize || sizes.length < wholeMin))
      return { rule: 'agreement', isProven: true, reason: null, repeated: joinedOf(reading) };
    const whole = readings.flatMap(({ pages, isWhole }) => (isWhole ? [pages] : []));
    if (whole.length >= wholeMin && !run.hasOneSize && showStableOrder(whole, run))
      return { rule: 'order', isProven: true, reason: null };
  }
  const now = readings.at(-1) as PlainReading;
  const isPageNoIgnored =
    readings.every(({ problem }) => problem !== null) && readings.slice(-2).every(({ isAlike }) => isAlike);
  const why = now.problem ?? (now.repeated.count > 0 ? twinsReason : 'two readings differ');
  // An id that is twice in the list keeps the version of its row.
  const last = readings.findLast(({ isIdTwice, problem }) => isIdTwice || problem === null);
  const repeated = last?.isIdTwice ? { repeated: joinedOf(last) } : {};
  return { rule: 'agreement', isProven: false, reason: `${reason}; ${why}`, isPageNoIgnored, ...repeated };
}

/** One pass over the whole list by pages of one size that do not overlap. */
export interface PlainReading {
  /** Its pages up to the end that they state, in order. */
  readonly pages: readonly Answer[];
  /** All its answers, also those beyond that end. */
  readonly answers: readonly Answer[];
  /** Why it is not complete; null if all pages fit one total. */
  readonly problem: string | null;
  /** Whether each page fits its own total, and the last one ends the list by it. */
  readonly isWhole: boolean;
  /** The records that are on several of its pages. */
  readonly repeated: PageItems;
  readonly isIdTwice: boolean;
  /** Whether all pages with records were the same, or not those that were asked for. */
  readonly isAlike: boolean;
  readonly isSizeRefused: boolean;
}

/**
 * Reads the list from its first page to its last one. It goes on if a total changes, so that every page is seen; but not if the list moves
 * by more than a page, or if an answer is wrong.
 *
 * @param options `isOtherwise`: if the service has one page size, its pages are asked for by a size that it ignores, so that they have
 *   other addresses. `known`: answers that came before, from the first page on.
 */
export function* readPlainly(
  run: Reading,
  size: number,
  options: {
    isSecondLook?: boolean;
    again?: string | null;
    isOtherwise?: boolean;
    known?: readonly Answer[];
  },
): Asking<PlainReading> {
  const { isSecondLook = false, isOtherwise = false, known = [] } = options;
  const isIgnored = isOtherwise && run.hasOneSize && run.ignoresSizes;
  const sent = isIgnored ? run.list.largest + 1 + ((run.list.run + run.ignoredCount++) % sizesMax) : null;
  let { again = null } = options;
  const answers = [...known];
  const wrong: Answer[] = [];
  const isFailed = (answer: Answer) => answer.wrong?.kind === 'failed';
  const isFar = ({ total }: Answer) =>
    Math.abs(total - (answers[0]?.total ?? total)) > (run.hasOneSize ? 0 : size);
  // A page that fails for good does not keep the others from being read.
  const isOver = (answer: Answer) => !isFailed(answer) && (answer.wrong !== null || isFar(answer));
  let next = answers.length;
  function* readTo(end: number): Asking<boolean> {
    const pages: PageAddress[] = [];
    for (; next < end; next++) pages.push({ index: next, size });
    const came = yield* run.ask(pages, { isSecondLook, again, sent, stop: isOver });
    again = null;
    for (const answer of came) (answer.wrong === null ? answers : wrong).push(answer);
    return wrong.every(isFailed) && !answers.some(isFar);
  }

  let goesOn = answers.length > 0 || (yield* readTo(1));
  const count = Math.max(1, Math.ceil((answers[0]?.total ?? 0) / size));
  // A few pages show a service that ignores the page number.
  if (goesOn) goesOn = yield* readTo(Math.min(count, alikeMin));
  const isPointless = isAlike(answers) && answers.length >= alikeMin && !hasOneRecord(answers[0] as Answer);
  if (goesOn && !isPointless && answers.length > 0) {
    goesOn = yield* readTo(count);
    // If the last page was full, the list might go on, whatever its total says.
    const isFull = () => {
      const last = answers.reduce((a, b) => (b.index > a.index ? b : a));
      return last.page.count >= size && !isOldPage(last, answers);
    };
    while (goesOn && isFull() && next < count + pagesBeyondMax) goesOn = yield* readTo(next + 1);
  }

  answers.sort((a, b) => a.index - b.index);
  const pages = answers.filter(isInside);
  const last = pages.at(-1);
  const isEnd = last !== undefined && last.total === endOf(last);
  const { repeated, twice } = repeatsIn(pages, run);
  const oddity =
    wrong[0]?.wrong?.reason ?? (isPointless ? 'each page has the same records' : oddityIn(answers));
  const isSizeRefused = wrong.some(answer => answer.wrong?.kind === 'size');
  if (isSizeRefused && isIgnored) run.ignoresSizes = false;
  return {
    pages,
    answers,
    problem: oddity ?? totalsOf(answers) ?? twice,
    isWhole: isEnd && oddity === null && !pages.some(({ page }) => page.isIdTwice),
    repeated,
    isIdTwice: twice !== null,
    isAlike: isAlike(answers) || wrong.some(answer => answer.wrong?.kind === 'page'),
    isSizeRefused,
  };
}

/**
 * Whether the last two readings agree. If a record is on two pages, an unstable order might show it twice and hide another one. Then
 * three have to agree, all cut in other ways.
 */
function doAgree(readings: readonly PlainReading[], hasFewSizes: boolean): boolean {
  const now = readings.at(-1) as PlainReading;
  const isSame = (before: PlainReading | undefined) =>
    before?.problem === null &&
    now.problem === null &&
    areSameRecords(pagesOf(before), pagesOf(now)) && // guard: two readings agree
    !(haveTotalsFallen([before, now]) && areEdited(before, now)); // guard: an edit between two readings
  if (now.repeated.count > 0 && (hasFewSizes || !isSame(readings.at(-3)))) return false; // guard: records on two pages
  return isSame(readings.at(-2));
}

/**
 * Whether a total was less than the one before it. Then a record that went can have come back with another text, which looks like an edit,
 * and readings that show the same records need not be of one list.
 */
function haveTotalsFallen(readings: readonly PlainReading[]): boolean {
  const answers = readings.flatMap(reading => reading.answers).sort((a, b) => a.asked - b.asked);
  return answers.some(({ total }, at) => total < (answers[at - 1]?.total ?? 0));
}

/** Whether two readings that show the same records show other texts of them. */
function areEdited(a: PlainReading, b: PlainReading): boolean {
  const [one, other] = [a, b].map(({ pages }) => {
    const shown = pages.flatMap(({ page }) =>
      Array.from(page.records, (record, at) => ({ record, version: page.versions[at] as number })),
    );
    return shown.sort((x, y) => x.record - y.record || x.version - y.version);
  });
  return one?.some(({ version }, at) => version !== other?.[at]?.version) === true;
}

/** Whether all pages with records were the same: the service might ignore the page number. */
function isAlike(answers: readonly Answer[]): boolean {
  const full = answers.filter(({ page }) => page.count > 0);
  const digests = new Set(full.map(({ page }) => page.digest));
  return digests.size === 1 && full.length > 1 && full.every(({ page, size }) => page.count >= size);
}

/** A list of identical records has equal pages, too. */
function hasOneRecord({ page: { records } }: Answer): boolean {
  return records.every(record => record === records[0]);
}

const pagesOf = ({ pages }: PlainReading): PageItems[] => pages.map(({ page }) => page);

/** What is on several pages of a reading, as if its newest page had shown it. */
const joinedOf = ({ pages, repeated }: PlainReading): Shown => ({
  asked: Math.max(...pages.map(({ asked }) => asked)),
  page: repeated,
});

const isInside = (answer: Answer): boolean => beginOf(answer) < answer.total;

/** The totals of a reading, if they are not all the same. */
function totalsOf(answers: readonly Answer[]): string | null {
  const totals = answers.filter(answer => isInside(answer) || answer.index === 0).map(({ total }) => total);
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  return least < most ? `totalRecordCount was ${least} and ${most} in one reading` : null;
}

/** Why pages do not fit their own totals, or the end that they state. */
function oddityIn(answers: readonly Answer[]): string | null {
  const odd = answers.find(answer => isInside(answer) && checkTotal(answer) !== 'agrees');
  if (odd !== undefined)
    return `page ${odd.index + 1} has ${odd.page.count} records, which does not fit totalRecordCount ${odd.total}`;
  const isMore = (answer: Answer) =>
    !isInside(answer) && answer.page.count > 0 && !isOldPage(answer, answers);
  return answers.some(isMore) ? 'a page beyond totalRecordCount has records' : null;
}

/** Beyond the end some services send the last page, or the first one, once more. */
function isOldPage({ index, page }: Answer, answers: readonly Answer[]): boolean {
  return answers.some(other => other.index < index && areSameRecords([other.page], [page]));
}

/** The records that are on more than one page; with an id that is in the list twice, in words. */
function repeatsIn(
  answers: readonly Answer[],
  { list }: Reading,
): { repeated: PageItems; twice: string | null } {
  const first = new Map<number, Answer>();
  const onTwo = new Set<number>();
  let twice: string | null = null;
  for (const answer of answers)
    for (const [at, record] of answer.page.records.entries()) {
      const before = first.get(record);
      if (before === undefined) first.set(record, answer);
      else if (before !== answer) onTwo.add(record);
      if (before !== undefined && list.identity === 'id')
        twice ??= `id ${answer.page.keys[at]} is in the list twice`;
    }
  const items = onTwo.size === 0 ? [] : itemsOf(answers.map(({ page }) => page));
  const those = items.filter(({ page, at }) => onTwo.has(page.records[at] as number));
  return { repeated: joinPages(those, list.identity), twice };
}

/**
 * Whether whole readings show a list in a stable order that nobody sees. Each page then covers all places between its first and its
 * last record, as a window does, and pages that share records leave none out. A record on two pages of one reading links none. New records
 * can have shifted it to the next page, by as many places as the total says that records came. If not, it was moved, and another one can be
 * hidden; or it is two that are the same, as if it is on two pages of two readings. No page need show both.
 */
function showStableOrder(readings: readonly (readonly Answer[])[], { list }: Reading): boolean {
  const repeated = new Set<number>();
  const pages: number[][] = [];
  for (const answers of readings) {
    const places = new Map<number, number>();
    const shifted = new Set<number>();
    let [rises, again, furthest, total] = [0, 0, 0, Number.POSITIVE_INFINITY];
    for (const answer of answers) {
      rises += Math.max(0, answer.total - total);
      total = answer.total;
      const begin = beginOf(answer);
      const page = [...answer.page.records];
      pages.push(page);
      for (const [at, number] of page.entries()) {
        const before = places.get(number) ?? begin + at;
        places.set(number, before);
        if (before >= begin) continue;
        shifted.add(number);
        again++;
        furthest = Math.max(furthest, begin + at - before);
      }
    }
    if (again > rises || furthest > rises) return false; // guard: only new records shift others to the next page
    for (const number of shifted) {
      if (list.identity === 'content' && repeated.has(number)) return false; // guard: a record is shifted in one reading
      repeated.add(number);
    }
  }
  const groups = new Groups(pages.length);
  const newest = new Map<number, number>();
  for (const [at, page] of pages.entries())
    for (const number of page) {
      if (!repeated.has(number)) groups.join(newest.get(number) ?? at, at);
      newest.set(number, at);
    }
  return pages.every((_, at) => groups.of(at) === groups.of(0)); // guard: linked pages
}
