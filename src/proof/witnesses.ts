// Phase 3, gaps: which claims of an end count: those with a second witness. See *The end of a list* in docs/proof.md.

import { type Answer, beginOf, endOf, inTime, isAt, isOfRun, type PageAddress, reachOf } from './answers.ts';
import type { Direction } from './keys.ts';
import type { AnswerLog } from './log.ts';
import { areSameRecords, asItsRow } from './page-items.ts';
import { sizesBetween, sizesOf } from './plan.ts';
import { type Asking, askOne } from './questions.ts';
import {
  endsWithoutTotals,
  fullOfRun,
  hasOrphans,
  isClaim,
  isContradicted,
  isFull,
  isOfEmptyList,
} from './totals.ts';

/** The answers that end the list: pages that are not full, agree with their total, and have a witness. */
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
    (isTotalCounted(claim, counted) &&
      (counted.some(other => isWitness(other, claim, direction, counted)) ||
        claims.some(other => isWitness(claim, other, direction, counted) && doEndAlike(claim, other))));
  return new Set(claims.filter(hasWitness)); // guard: an end has a witness
}

/** The answers that end the list if they are right; not one behind which a page that arrived later has shown records. */
export function endsClaimed(counted: readonly Answer[]): ReadonlySet<Answer> {
  if (counted.some(isContradicted)) return endsWithoutTotals(counted);
  const isPassed = ({ arrived }: Answer, end: number) =>
    counted.some(other => other.arrived > arrived && other.page.count > 0 && endOf(other) > end);
  return new Set(counted.filter(answer => isClaim(answer) && !isPassed(answer, endOf(answer))));
}

/** The newest end that is claimed and has no witness yet; null if there is none. */
export function newestClaim({ counted }: AnswerLog): Answer | null {
  const claims = [...endsClaimed(counted)].filter(answer => !isOfEmptyList(answer));
  return inTime(claims).at(-1) ?? null;
}

/** Whether nothing moved in this run: all totals are that of an end, one of them of a full page, so that it was counted, and the front is one. */
function isOfStillList(claim: Answer, counted: readonly Answer[]): boolean {
  const fresh = counted.filter(answer => isOfRun(answer) && answer.page.count > 0);
  const fronts = new Set(fresh.filter(({ index }) => index === 0).map(({ page }) => page.records[0]));
  if (fronts.size > 1) return false; // guard: nothing has come at the front
  return fresh.some(isFull) && fresh.every(({ total }) => total === claim.total); // guard: all totals are those of the end
}

/**
 * Whether a full page has a record as far from its own end as the page that ends the list has it: then nothing has come or gone between the
 * count and the rows of one of them. If the newest are first, a later total must not be greater: the next record can have come so.
 */
function isAtSameDistance(claim: Answer, counted: readonly Answer[], direction: Direction): boolean {
  const full = fullOfRun(counted);
  const isQuiet = ({ asked, total }: Answer) => asked > claim.arrived && total <= claim.total;
  if (direction === 'down' && !full.some(isQuiet)) return false; // guard: a later total is no greater
  const behind = new Map<number, number>();
  for (const [at, record] of claim.page.records.entries())
    behind.set(record, claim.total - beginOf(claim) - at);
  const isAsFar = (other: Answer) =>
    other.page.records.some((record, at) => behind.get(record) === other.total - beginOf(other) - at); // guard: as far from the end
  return isTotalCounted(claim, counted) && full.some(isAsFar);
}

/** Whether a later answer from another address has the same end. */
function isWitness(later: Answer, claim: Answer, direction: Direction, counted: readonly Answer[]): boolean {
  // One record alone can be at the end because of one that went before its total was counted.
  if (!isClaim(claim) || later.page.count < 2 || endOf(later) !== later.total) return false;
  const isLater = later.asked > claim.arrived && !isAt(later, claim); // guard: a witness is another answer
  // A cache can have kept it.
  const before = counted.filter(({ asked }) => asked < later.asked);
  const isSamePage = (other: Answer) => isAt(other, later) && other.page.digest === later.page.digest;
  if (before.some(isSamePage)) return false; // guard: a witness that a cache has kept
  // A page up to a count of before ends early if a record has come in front of it since then.
  const isQuiet = direction === 'up' || later.total <= claim.total; // guard: a page up to a count of before
  // If a page was full and lost records on its way, the record behind it is on one that reaches further, or has more room.
  const isFurther =
    isFull(later) || reachOf(later) > reachOf(claim) || reachOf(later) > endOf(later) + lostMax; // guard: a page that lost a record
  const [end, other] = [claim, later].map(({ page }) => page.records.at(-1) as number);
  // If the last record has gone, the total says so. Otherwise another one can have come in front of both, so that both are cut.
  const hasShrunk = direction === 'up' || later.total < claim.total; // guard: two ends that were cut
  const isSameEnd =
    later.page.records.includes(end as number) || (hasShrunk && claim.page.records.includes(other as number)); // guard: a witness shows the end
  return isLater && isQuiet && isFurther && isSameEnd;
}

/** Whether a full page of this run, whose total was counted, has no more records than an end. */
function isTotalCounted(end: Answer, counted: readonly Answer[]): boolean {
  return fullOfRun(counted).some(answer => answer.total <= endOf(end)); // guard: a total that was counted
}

/** Whether an earlier end shows the last record of a later one: of records behind it, it says nothing. */
const doEndAlike = (later: Answer, earlier: Answer): boolean =>
  earlier.page.records.includes(later.page.records.at(-1) as number); // guard: a later end that is another one

/** Records that a page can lose on its way, at most. */
export const lostMax = 2;

/** Records before an end that its witness shows as well, and for which it has room behind it, at most: the list can move. */
const witnessMarginMax = 10;

/** The page that can be the witness of an end: one that reaches behind it or, if no total is so small, a full one that counts. */
export function pageOfWitness(claim: Answer, log: AnswerLog): PageAddress | null {
  const { counted, isUsed } = log;
  const { largest, run } = log.list;
  const end = endOf(claim);
  const sizes = sizesOf(largest, run);
  const marginOf = (size: number) => Math.max(1, Math.min(witnessMarginMax, Math.floor(size / 4)));
  const atEnd = sizes.map(size => ({ index: Math.max(0, Math.floor((end - marginOf(size)) / size)), size }));
  const hasRoom = (page: PageAddress) =>
    reachOf(page) > reachOf(claim) || reachOf(page) > end + lostMax + marginOf(page.size);
  const short = atEnd.find(page => beginOf(page) < end && hasRoom(page) && !isUsed(page));
  const exact = sizesBetween(2, largest)
    .filter(size => end % size === 0)
    .map(size => ({ index: end / size - 1, size }));
  // A full page that shows a record of the last one, and counts.
  const near = sizes.map(size => ({ index: Math.max(0, Math.floor(end / size) - 1), size }));
  const isNear = (page: PageAddress) => reachOf(page) <= end && reachOf(page) > beginOf(claim);
  const full = exact.find(page => !isUsed(page)) ?? near.find(page => isNear(page) && !isUsed(page));
  // If a record went between two answers, a full page counts what is left; if that is no witness, it is looked what is behind the end.
  const isTried = (other: Answer) =>
    isFull(other) && other.asked > claim.arrived && reachOf(other) > beginOf(claim);
  const isShort = isTotalCounted(claim, counted) || counted.some(isTried);
  return (isShort ? short : full) ?? full ?? short ?? pageOnceMore(claim, log);
}

/** A full page that shows a record of an end, also if it was asked for before; or, if the list has moved, the page that ends it by now. */
function pageOnceMore(claim: Answer, { list, total, isUsed }: AnswerLog): PageAddress | null {
  const lastOf = (size: number) => ({ index: Math.floor(total / size), size });
  const sizes = sizesBetween(2, list.largest);
  const full = sizes.map(size => ({ index: lastOf(size).index - 1, size })).filter(({ index }) => index >= 0);
  const isNextTo = (end: PageAddress) => full.some(page => reachOf(page) > beginOf(end));
  const isOpen = claim.total !== total || !isNextTo(claim);
  const pages = isOpen
    ? sizes.map(lastOf).filter(page => beginOf(page) < total && isNextTo(page))
    : full.filter(page => reachOf(page) > beginOf(claim));
  return pages.find(page => !isUsed(page)) ?? pages[0] ?? null;
}

/** Whether a page shows the whole list, so that it is enough if all rows are shown: a run that proved the list has seen the same page. */
function isKnownPage(answer: Answer, { list }: AnswerLog): boolean {
  if (!isOnePage(answer)) return false;
  // Sets and times can be written otherwise in each answer: then all records are as their rows, and all rows are shown.
  const isAsRows = () =>
    list.isAfterCleanRun === true && answer.page.versions.every(version => version === asItsRow);
  return list.isKnown?.(answer.page.digest) === true || isAsRows();
}

/** Asks which rows are absent, if a verdict needs that now. */
export function* lookUpRows(log: AnswerLog): Asking<void> {
  const isOpen = log.isWitnessMissed
    ? log.list.isAfterCleanRun === true
    : log.answers.some(answer => isKnownPage(answer, log));
  if (log.absent !== null || !isOpen) return;
  const { rows } = yield* askOne({ kind: 'absent', merged: log.merged });
  log.absent = rows;
}

/** Whether one answer shows the whole list, and another one says so, too; its order does not matter. */
export function isOnePageWhole(log: AnswerLog): boolean {
  const { counted, absent } = log;
  if (counted.some(isContradicted)) return false;
  const isWhole = (claim: Answer) =>
    claim.page.count === 0 || (absent?.length === 0 && isKnownPage(claim, log)) || isShownTwice(claim, log); // guard: a list on one page is shown twice
  return counted.some(answer => isOnePage(answer) && isWhole(answer));
}

/** Whether a first page says that it shows the whole list. */
export const isOnePage = (answer: Answer): boolean =>
  answer.index === 0 && isClaim(answer) && !answer.page.isIdTwice;

/** Whether a page that is just full shows the same records, and counts them; or, if there is one size, the same page, and nothing behind it. */
export function isShownTwice(claim: Answer, { answers, hasOneSize }: AnswerLog): boolean {
  if (!isOnePage(claim)) return false;
  const later = answers.filter(({ asked }) => asked > claim.arrived);
  const isSame = ({ index, total, page }: Answer) =>
    index === 0 && total === claim.total && areSameRecords([page], [claim.page]);
  if (later.some(answer => isSame(answer) && isFull(answer))) return true;
  const isBehind = ({ index, size, page }: Answer) => index === 1 && size === claim.size && page.count === 0;
  return (hasOneSize || hasOrphans(claim)) && later.some(isBehind) && later.some(isSame);
}

/** The pages that show once more whether the list is on one page; none if it is not, or if that is known. */
export function pagesOfOnePage(log: AnswerLog): PageAddress[] {
  const { answers } = log;
  const first = answers.findLast(({ index }) => index === 0);
  if (first === undefined || isOfEmptyList(first) || isOnePageWhole(log)) return [];
  if (isOnePage(first)) return pagesToCount(first, log);
  // The list has moved.
  const claim = answers.findLast(isOnePage);
  return claim === undefined ? [] : [{ index: 0, size: claim.size }];
}

/**
 * The pages that can count a list on one page: the same records as a full page; or, if the service has no page of that size, the page behind
 * it and then the same one again.
 */
export function pagesToCount({ size, page }: Answer, { hasOneSize }: AnswerLog): PageAddress[] {
  if (!hasOneSize && page.count <= size) return [{ index: 0, size: page.count }];
  return [1, 0].map(index => ({ index, size }));
}
