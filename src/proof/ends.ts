import {
  type Answer,
  addressText,
  areSameRecords,
  beginOf,
  type Direction,
  endOf,
  type PageAddress,
  reachOf,
} from './window.ts';

// A total can refute a claim. It never proves one. And it can be of an earlier moment, or deduced from a page that is not full: then it
// says nothing of what is behind that page. So an end needs a second witness.

/** Compares an answer with its own total. At or beyond its own total it says nothing, unless it is the first page. */
export function checkTotal(answer: Answer): 'agrees' | 'contradicts' | 'silent' {
  const { total, size, page, index } = answer;
  if (isOfEmptyList(answer)) return 'agrees';
  if (beginOf(answer) >= total && index > 0) return 'silent';
  const end = endOf(answer);
  return (page.count >= size ? total >= end : total === end) ? 'agrees' : 'contradicts';
}

/** Whether an answer says that the list is empty. */
export function isOfEmptyList({ index, total, page }: Answer): boolean {
  return index === 0 && total === 0 && page.count === 0;
}

const isContradicted = (answer: Answer): boolean => checkTotal(answer) === 'contradicts';

/** The answers that count: a later one replaces one of the same address that contradicts its total: these can be two queries. */
export function countedAnswers(all: readonly Answer[]): Answer[] {
  const answers = all.filter(answer => !isJoinedToLast(answer, all));
  if (!answers.some(isContradicted)) return answers;
  const newest = new Map<string, Answer>();
  for (const answer of answers) {
    const other = newest.get(addressText(answer));
    if (other === undefined || answer.asked > other.arrived) newest.set(addressText(answer), answer);
  }
  return answers.filter(answer => !isContradicted(answer) || newest.get(addressText(answer)) === answer);
}

/** The answers that end the list: pages that are not full, agree with their total, and have a witness. See *The end of a list* in docs/proof.md. */
export function endingAnswers(
  counted: readonly Answer[],
  direction: Direction,
  isKnown: (end: Answer) => boolean = () => false,
): ReadonlySet<Answer> {
  if (counted.some(isContradicted)) return endsWithoutTotals(counted); // guard: contradicted totals
  const claims = counted.filter(isClaim);
  const hasWitness = (claim: Answer) =>
    isOfEmptyList(claim) ||
    isOfStillList(claim, counted) ||
    isAtSameDistance(claim, counted, direction) ||
    (direction === 'down' && isKnown(claim)) ||
    counted.some(
      other => isWitness(other, claim, direction, counted) && isCounted([claim, other], counted),
    ) ||
    claims.some(other => isWitness(claim, other, direction, counted) && isCounted([claim, other], counted));
  return new Set(claims.filter(hasWitness)); // guard: an end has a witness
}

/** The answers that end the list if they are right; not one behind which a page that arrived later has shown records. */
export function endsClaimed(counted: readonly Answer[]): ReadonlySet<Answer> {
  if (counted.some(isContradicted)) return endsWithoutTotals(counted);
  const isPassed = (claim: Answer) =>
    counted.some(
      other => other.arrived > claim.arrived && other.page.count > 0 && endOf(other) > endOf(claim),
    );
  return new Set(counted.filter(answer => isClaim(answer) && !isPassed(answer)));
}

/** Whether an answer says that the list ends with its last record. */
export const isClaim = (answer: Answer): boolean => !isFull(answer) && checkTotal(answer) === 'agrees'; // guard: full pages end nothing

/** Whether nothing moved in this run: all totals are that of an end, one of them of a full page, so that it was counted, and the front is one. */
function isOfStillList(claim: Answer, counted: readonly Answer[]): boolean {
  const fresh = counted.filter(({ isRecalled, page }) => !isRecalled && page.count > 0);
  const fronts = new Set(fresh.filter(({ index }) => index === 0).map(({ page }) => page.records[0]));
  if (fronts.size > 1) return false; // guard: nothing has come at the front
  return fresh.some(isFull) && fresh.every(({ total }) => total === claim.total); // guard: all totals are those of the end
}

/**
 * Whether a full page has a record as far from its own end as the page that ends the list has it: then nothing has come or gone between the
 * count and the rows of one of them. If the newest are first, a later total must not be greater: the next record can have come so.
 */
function isAtSameDistance(claim: Answer, counted: readonly Answer[], direction: Direction): boolean {
  const full = counted.filter(answer => !answer.isRecalled && isFull(answer));
  const isQuiet = ({ asked, total }: Answer) => asked > claim.arrived && total <= claim.total;
  if (direction === 'down' && !full.some(isQuiet)) return false; // guard: a later total is no greater
  const places = new Map([...claim.page.records].map((record, at) => [record, beginOf(claim) + at]));
  const isAsFar = (other: Answer) =>
    other.page.records.some((record, at) => {
      const place = places.get(record);
      return place !== undefined && other.total - beginOf(other) - at === claim.total - place; // guard: as far from the end
    });
  return isCounted([claim], counted) && full.some(isAsFar);
}

/** Whether a later answer from another address has the same end. */
function isWitness(later: Answer, claim: Answer, direction: Direction, counted: readonly Answer[]): boolean {
  // One record alone can be at the end because of one that went before its total was counted.
  if (!isClaim(claim) || later.page.count < 2 || endOf(later) !== later.total) return false;
  const isLater = later.asked > claim.arrived && addressText(later) !== addressText(claim); // guard: a witness is another answer
  // A cache can have kept it.
  const isKept = counted.some(
    other =>
      other.asked < later.asked &&
      addressText(other) === addressText(later) &&
      other.page.digest === later.page.digest,
  );
  if (isKept) return false; // guard: a witness that a cache has kept
  // A page up to a count of before ends early if a record has come in front of it since then.
  const isQuiet = direction === 'up' || later.total <= claim.total; // guard: a page up to a count of before
  // If a page was full and lost records on its way, the record behind it is on one that reaches further, or has more room.
  const isFurther =
    isFull(later) || reachOf(later) > reachOf(claim) || reachOf(later) > endOf(later) + lostMax; // guard: a page that lost a record
  const [end, other] = [claim, later].map(({ page }) => page.records.at(-1) as number);
  const isSameEnd =
    later.page.records.includes(end as number) || claim.page.records.includes(other as number); // guard: a witness shows the end
  return isLater && isQuiet && isFurther && isSameEnd;
}

/** Whether a full page of this run, whose total was counted, has no more records than two answers that end alike. */
export function isCounted(ends: readonly Answer[], counted: readonly Answer[]): boolean {
  const most = Math.max(...ends.map(endOf));
  return counted.some(answer => !answer.isRecalled && isFull(answer) && answer.total <= most); // guard: a total that was counted
}

/** Records that a page can lose on its way, at most. */
export const lostMax = 2;
/** The newest end that is claimed and has no witness yet; null if there is none. */
export function newestClaim(heard: readonly Answer[]): Answer | null {
  const claims = [...endsClaimed(countedAnswers(heard))].filter(answer => !isOfEmptyList(answer));
  return claims.toSorted((a, b) => a.asked - b.asked).at(-1) ?? null;
}

/** Whether a page is full, so that others can follow. */
export const isFull = (answer: Answer): boolean => answer.page.count >= answer.size && !hasOrphans(answer);

/** Whether a last page has the few records of the next one, too, because they would be alone there. */
const hasOrphans = (answer: Answer): boolean =>
  answer.page.count > answer.size && endOf(answer) === answer.total; // guard: a last page with more records than its size

/** Whether there is no page at a place before the total, because its records are on the page before it. */
export function isJoinedToLast({ index, size, page }: Answer, answers: readonly Answer[]): boolean {
  const isBefore = (other: Answer) => other.index === index - 1 && other.size === size && hasOrphans(other);
  return page.count === 0 && answers.some(isBefore);
}

/** The pages before those that are empty although a total says that they have records. */
export function pagesBeforeEmpty(answers: readonly Answer[]): PageAddress[] {
  const empty = answers.filter(
    answer => answer.index > 0 && answer.page.count === 0 && isContradicted(answer),
  );
  return empty.map(({ index, size }) => ({ index: index - 1, size }));
}

/** A limit of records that a service lists or counts is a multiple of one of these. */
const limitUnits = [1_000, 1_024];

/** The ends of a list that has more records than its totals say: two pages end alike. See *The end of a list* in docs/proof.md. */
function endsWithoutTotals(counted: readonly Answer[]): ReadonlySet<Answer> {
  const sizes = sizesServed(counted);
  const isShort = (answer: Answer) => answer.page.count > 0 && !isFull(answer);
  const isEmptyBehind = ({ index, size }: Answer) =>
    counted.some(next => next.index === index + 1 && next.size === size && next.page.count === 0);
  const isNothingAt = (place: number) =>
    counted.some(answer => beginOf(answer) === place && answer.page.count === 0);
  const isEnd = (answer: Answer) => {
    const end = endOf(answer);
    if (!sizes.has(answer.size)) return false; // guard: sizes that are served
    if (counted.some(other => isBeyondEnd(other, end))) return false; // guard: a total that is not reached
    if (limitUnits.some(unit => end % unit === 0)) return false; // guard: a limit is no end
    // A page that is not full and ends before it is one that something was left out of.
    const isInside = (other: Answer) => (isShort(other) ? reachOf(other) : beginOf(other) + 1) <= end;
    if (counted.some(other => !isFull(other) && isInside(other))) return false; // guard: no page in the middle is short
    if (!isNothingAt(end)) return false; // guard: a record that did not fit
    return isEmptyBehind(answer); // guard: an empty page behind the end
  };
  const short = counted.filter(answer => isShort(answer) && isEnd(answer));
  const isSameEnd = (one: Answer, other: Answer) =>
    beginOf(one) !== beginOf(other) &&
    endOf(one) === endOf(other) &&
    one.page.records.at(-1) === other.page.records.at(-1);
  return new Set(short.filter(one => short.some(other => isSameEnd(one, other)))); // guard: two pages end alike
}

/** Whether a total of this run says that the list goes on behind that place. */
const isBeyondEnd = ({ total, isRecalled }: Answer, end: number): boolean => !isRecalled && total > end;

/** The sizes that the service has served in full. */
export function sizesServed(answers: readonly Answer[]): ReadonlySet<number> {
  return new Set(answers.filter(isFull).map(({ size }) => size));
}

/** The pages that can show an end without a total: two that begin far apart, those behind them, and one that begins at the end. */
export function pagesAtEnd(answers: readonly Answer[]): PageAddress[] {
  const counted = countedAnswers(answers);
  const end = endShown(answers);
  if (!counted.some(isContradicted) || counted.some(answer => isBeyondEnd(answer, end))) return [];
  const left = (size: number) => end % size;
  const sizes = [...sizesServed(counted)].filter(size => left(size) > 0).sort((a, b) => left(a) - left(b));
  const pages = sizes.map(size => ({ index: Math.floor(end / size), size }));
  const [one, other] = [pages[0], pages.at(-1)];
  if (one === undefined || other === undefined || beginOf(one) === beginOf(other)) return halves();
  const behind = [one, other].map(({ index, size }) => ({ index: index + 1, size }));
  const most = Math.max(...sizes);
  const divisor = Array.from({ length: most }, (_, at) => most - at).find(size => end % size === 0) as number;
  return [one, other, ...behind, { index: end / divisor, size: divisor }];

  /** Of a list on a page or two: the first pages of two sizes that are half of it, to see whether these are served. */
  function halves(): PageAddress[] {
    const largest = Math.max(...counted.map(({ size }) => size));
    const half = Math.floor(end / 2);
    const asked = new Set(counted.map(addressText));
    return [half + 1, half + 2]
      .filter(size => size < end && size <= largest)
      .map(size => ({ index: 0, size }))
      .filter(page => !asked.has(addressText(page)));
  }
}

/** The place after the last record that answers show; of two moments, the later one. */
export function endShown(answers: readonly Answer[]): number {
  const shown = answers.filter(({ page }) => page.count > 0);
  const last = Math.max(...shown.filter(answer => !isFull(answer)).map(({ asked }) => asked));
  return Math.max(0, ...shown.filter(({ asked }) => asked >= last).map(endOf));
}

/** A total comes from another copy if it comes back by a step of so many records, in so many answers, and this share of them. */
const copyStepMin = 3;
const copyReturnsMin = 4;
const copyShare = 1 / 10;

/** Two totals that come by turns time and again, because answers are from copies of the list that differ; null if there are none. */
export function copiesIn(answers: readonly Answer[]): readonly [number, number] | null {
  const returns = new Map<number, number>();
  const least = Math.max(copyReturnsMin, answers.length * copyShare);
  let before: number | null = null;
  for (const { total } of answers.toSorted((a, b) => a.asked - b.asked)) {
    const count = returns.get(total);
    const isBack = count !== undefined && before !== null && Math.abs(total - before) >= copyStepMin;
    if (isBack && count + 1 >= least) return [total, before as number]; // guard: copies that differ
    returns.set(total, (count ?? 0) + (isBack ? 1 : 0));
    before = total;
  }
  return null;
}

/** What is known of a list on one page: whether a run that proved it has seen the same page, and whether other page sizes are served. */
export interface OnePageFacts {
  readonly isKnown: (page: Answer) => boolean;
  readonly hasOneSize: boolean;
}

/** Whether one answer shows the whole list, and another one says so, too; its order does not matter. */
export function isOnePageWhole(heard: readonly Answer[], facts: OnePageFacts): boolean {
  const counted = countedAnswers(heard);
  if (counted.some(isContradicted)) return false;
  const isWhole = (claim: Answer) =>
    claim.page.count === 0 || facts.isKnown(claim) || isShownTwice(claim, heard, facts); // guard: a list on one page is shown twice
  return counted.some(answer => isOnePage(answer) && isWhole(answer));
}

/** Whether a first page says that it shows the whole list. */
const isOnePage = (answer: Answer): boolean =>
  answer.index === 0 && isClaim(answer) && !answer.page.isIdTwice;

/** Whether a page that is just full shows the same records, and counts them; or, if there is one size, the same page, and nothing behind it. */
function isShownTwice(
  claim: Answer,
  heard: readonly Answer[],
  { hasOneSize }: Pick<OnePageFacts, 'hasOneSize'>,
): boolean {
  if (!isOnePage(claim)) return false;
  const later = heard.filter(({ asked }) => asked > claim.arrived);
  const isSame = ({ index, total, page }: Answer) =>
    index === 0 && total === claim.total && areSameRecords([page], [claim.page]);
  if (later.some(answer => isSame(answer) && isFull(answer))) return true;
  const isBehind = ({ index, size, page }: Answer) => index === 1 && size === claim.size && page.count === 0;
  return (hasOneSize || hasOrphans(claim)) && later.some(isBehind) && later.some(isSame);
}

/** The pages that show once more whether the list is on one page; none if it is not, or if that is known. */
export function pagesOfOnePage(heard: readonly Answer[], facts: OnePageFacts): PageAddress[] {
  const first = heard.filter(({ index }) => index === 0).at(-1);
  if (first === undefined || isOnePageWhole(heard, facts)) return [];
  const { size, page } = first;
  if (!isOnePage(first)) {
    // The list has moved.
    const claim = heard.findLast(isOnePage);
    return claim === undefined ? [] : [{ index: 0, size: claim.size }];
  }
  if (!facts.hasOneSize && page.count <= size) return [{ index: 0, size: page.count }];
  return [1, 0].map(index => ({ index, size }));
}

/** Why a list can't be proven, if its totals say so: they are no counts of it; null if they do not. */
export function causeInTotals(answers: readonly Answer[]): string | null {
  const fresh = answers.filter(({ isRecalled, page }) => !isRecalled && page.count > 0);
  const full = fresh.filter(isFull);
  const totals = new Set(full.map(({ total }) => total));
  const [one] = full;
  if (one === undefined) return null;
  const pages = one.total / one.size;
  const isByPages = totals.size > 1 && full.every(({ total, size }) => total === pages * size); // guard: a total by page size
  if (isByPages)
    return `totalRecordCount is that of ${pages} pages, whatever their size: the service seems to count no more than ${pages} pages`;
  const short = fresh.filter(answer => isClaim(answer) && full.every(({ total }) => total > answer.total));
  const ends = [...new Set(short.map(({ total }) => total))];
  const areDeduced = ends.length > 1; // guard: totals that are deduced from pages
  if (areDeduced)
    return `pages that are not full state totals of ${ends.slice(0, 2).join(' and ')}, where they end, and full pages one of ${one.total}: the service seems to deduce totals from pages that lack records`;
  const furthest = Math.max(...full.map(endOf));
  const isKept = totals.size === 1 && furthest >= one.total + one.size; // guard: a limit that is kept in the total
  if (isKept)
    return `totalRecordCount is ${one.total} in each answer, and full pages are behind it, up to ${furthest} at least: the service seems to keep a limit in its total`;
  return null;
}

/** Why a list has fewer records than its totals of this run state; null if it has not. See *The count* in docs/proof.md. */
export function miscount(answers: readonly Answer[], records: number): string | null {
  const totals = countedAnswers(answers.filter(({ isRecalled }) => !isRecalled)).map(({ total }) => total); // guard: totals of this run
  const moved = totals.reduce((sum, total, at) => sum + Math.abs(total - (totals[at - 1] ?? total)), 0);
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  if (records >= least - moved) return null; // guard: as many rows as records
  const stated = least === most ? least : `${least} to ${most}`;
  return `its pages have shown ${records} records, but the service states a total of ${stated}`;
}
