import { agree } from './agreement.ts';
import type { ItemsOf } from './answer.ts';
import { type Doubt, doubtOfCuts, repeatsReason } from './cuts.ts';
import { doubtOfEnd, type EndProbe, otherSizeOf } from './end.ts';
import { type FinishedWalk, isWithoutRepeats, reasonAgainst, sizeOf, soundStrip } from './finished-walk.ts';
import { findGrowth, type Growth } from './growth.ts';
import { acceptedSum } from './parts.ts';
import { rejectionsRepeat } from './repeats.ts';
import type { Standing } from './standing.ts';
import type { Places, Strip } from './strip.ts';
import type { WalkAccount } from './walk-account.ts';

/** What of a proven walk the mirror may not have: nothing, the records at some places, which are all new, or anything. */
export type Changed = 'nothing' | 'anything' | Places;

/** What the walks so far come to. */
export type Verdict =
  /** The last walk is the list. */
  | { readonly kind: 'proven'; readonly changed: Changed }
  /** The last walk is the list, if what an earlier reading does not cover is the same when it is read once more. */
  | { readonly kind: 'confirm'; readonly growth: Growth; readonly changed: Changed }
  | { readonly kind: 'again'; readonly reason: string; readonly next: NextWalk }
  | { readonly kind: 'unproven' | 'pagination_ignored'; readonly reason: string };

/** A verdict by which nothing is proven. */
type Undecided = Exclude<Verdict, { readonly kind: 'proven' | 'confirm' }>;

/** How the next walk is to read. */
export interface NextWalk {
  /** Whether pages that are known from the last proven sweep may be left unread. */
  readonly isTrusting: boolean;
  /** The numbers of records a page to ask for, until the service serves one that is new; none for the first walk's. */
  readonly pageSizes: readonly number[];
}

/** What the run allows the verdict. */
export interface Bounds {
  /** Requests that the list has cost so far. */
  readonly requests: number;
  /** True where the service was asked for another page size and sent one that was used before. */
  readonly isSizeFixed: boolean;
}

/** The most walks over a list: where contents stand on two pages, one more; and more while the list has cost few requests. */
const walksMax = 3;
const walksMaxWithRepeats = 4;
const walksMaxWhileCheap = 8;
const cheapRequestsMax = 20;

/** The golden section keeps the cuts of two page sizes apart; the third size is kept apart from both. */
const otherSizes = [0.618, 0.79, 0.5, 0.4] as const;
/** What a service may allow that allows some sizes only. */
const usualSizes = [100, 50, 25, 20, 10, 5] as const;

/** Decides what the walks of a run come to; pure. The last walk is the newest. */
export function judge(
  walks: readonly FinishedWalk[],
  standing: Standing,
  bounds: Bounds,
  itemsOf: ItemsOf,
): Verdict {
  const last = walks.at(-1) as FinishedWalk;
  const strip = soundStrip(last);
  if (strip === null) return disagreement(walks, reasonAgainst(last), standing, bounds);
  // A walk that was taken up is only ever a first reading.
  if (walks.length === 1 && !last.isTakenUp) {
    const verdict = judgeByMirror(last, strip, standing, itemsOf);
    if (verdict !== null) return verdict;
  }
  let difference = walks.length === 1 ? 'one reading alone proves nothing' : 'the readings differ';
  let doubt: Doubt | null = null;
  let growth: Growth | null = null;
  for (const partner of walks.slice(0, -1).reverse()) {
    const earlier = soundStrip(partner);
    if (earlier === null) continue;
    const agreement = agree(earlier, strip, itemsOf);
    if (agreement.kind === 'agrees') {
      const found = doubtOfEnd([partner, last], walks) ?? doubtOfCuts(partner, last, walks, itemsOf);
      if (found === null && agreement.growth === null) return { kind: 'proven', changed: 'anything' };
      if (found === null) growth ??= agreement.growth;
      doubt ??= found;
    } else if (agreement.kind !== 'unread') difference = agreement.reason;
  }
  if (growth !== null) return { kind: 'confirm', growth, changed: 'anything' };
  if (doubt !== null) return again(walks, doubt, standing, bounds);
  return disagreement(walks, difference, standing, bounds);
}

/** Decides what the walks come to where the growth of the last one was not the same when it was read once more. */
export function judgeRefuted(walks: readonly FinishedWalk[], standing: Standing, bounds: Bounds): Undecided {
  const reason = 'the new records were not there any more when they were read again';
  return again(walks, { reason }, standing, bounds);
}

/**
 * Decides what walks that agree come to where their end is open, by a look at it; null where it is the end. Where the last page is full
 * and there is one more by `pageCount`, a look is not enough: all of the list must be read by another page size.
 */
export function judgeEnd(
  walks: readonly FinishedWalk[],
  probe: EndProbe,
  standing: Standing,
  bounds: Bounds,
): Undecided | null {
  const { account } = walks.at(-1) as FinishedWalk;
  // Whether a page is full can't be told where its size is only echoed.
  const mayFollow = isFull(account) || probe === 'one-unknown-size';
  const isDenied = mayFollow && walks.some(walk => walk.account.isEndDenied);
  if (probe === 'one-size' || probe === 'one-unknown-size')
    return isDenied ? { kind: 'unproven', reason: deniedEndReason } : null;
  if (probe === 'holds' && !isDenied) return null;
  const reason = probe === 'holds' ? fullEndReason : openEndReason;
  return again(walks, { reason, pageSize: otherSizeOf(account) }, standing, bounds);
}

const openEndReason =
  'a page came again for the one after the last, and pages of another size did not end with the same record';
const fullEndReason = 'a page came again for the one after the last, which there is by pageCount';
const deniedEndReason =
  'a page came again for the one after the last, which there is by pageCount, and the service allows no other page size';

/** The mirror counts as the first reading: nothing has changed, or the list has only grown at its learnt end. */
function judgeByMirror(
  walk: FinishedWalk,
  strip: Strip,
  standing: Standing,
  itemsOf: ItemsOf,
): Verdict | null {
  if (!standing.isReading) return null;
  const sum = acceptedSum(strip, itemsOf);
  if (isByteForByte(strip, standing)) return { kind: 'proven', changed: 'nothing' };
  const mayRepeat = walk.repeats?.onTwoPages ?? (standing.mayRepeat || rejectionsRepeat(strip, itemsOf));
  if (sum?.equals(standing.sum) && !mayRepeat) return { kind: 'proven', changed: 'nothing' };
  const growth = mayRepeat ? null : findGrowth(strip, standing, itemsOf);
  return growth && { kind: 'confirm', growth, changed: growth.bonus };
}

/** Every page is what it was in the last proven sweep, byte for byte and in its place. */
function isByteForByte(strip: Strip, { pageDigests, sum }: Standing): boolean {
  return (
    pageDigests !== null &&
    strip.counting === null &&
    strip.covered === sum.count &&
    strip.segments.length === pageDigests.length &&
    strip.segments.every(({ answer }) => pageDigests[answer.index] === answer.digest)
  );
}

/** What readings come to that don't agree. */
function disagreement(
  walks: readonly FinishedWalk[],
  reason: string,
  standing: Standing,
  bounds: Bounds,
): Undecided {
  const ignored = reasonOfIgnoring(walks);
  if (ignored !== null) return { kind: 'pagination_ignored', reason: ignored };
  return again(walks, { reason }, standing, bounds);
}

function again(
  walks: readonly FinishedWalk[],
  { reason, pageSize }: Doubt,
  standing: Standing,
  bounds: Bounds,
): Undecided {
  const mayRepeat = walks.some(
    walk => soundStrip(walk) !== null && !isWithoutRepeats(walk) && !walk.isTrusting,
  );
  if (bounds.isSizeFixed && mayRepeat && reason === repeatsReason) {
    return { kind: 'unproven', reason: `${reason}, and the service serves none that was not tried` };
  }
  const usual = mayRepeat ? walksMaxWithRepeats : walksMax;
  const most = bounds.requests < cheapRequestsMax ? walksMaxWhileCheap : usual;
  if (walks.length >= most)
    return { kind: 'unproven', reason: `${reason}; ${walks.length} readings came to no proof` };
  return {
    kind: 'again',
    reason,
    next: {
      isTrusting: false,
      pageSizes: pageSize === undefined ? nextSizes(walks, standing, bounds) : [pageSize],
    },
  };
}

/** Where contents stand on two pages, or all pages are alike, the next walk cuts the list in another way. */
function nextSizes(
  walks: readonly FinishedWalk[],
  standing: Standing,
  { isSizeFixed }: Bounds,
): readonly number[] {
  const last = walks.at(-1) as FinishedWalk;
  const mayRepeat = (last.repeats?.onTwoPages ?? standing.mayRepeat) || last.account.isAllAlike;
  if (!mayRepeat || isSizeFixed) return [];
  const used = new Set(walks.map(sizeOf));
  const first = sizeOf(walks[0] as FinishedWalk);
  const shares = otherSizes.map(share => Math.max(1, Math.round(first * share)));
  const sizes = new Set([...shares, first + 1, first + 2, ...usualSizes]);
  return [...sizes].filter(size => !used.has(size));
}

/** Evidence that the service sends the same page whatever it is asked for; null where there is none. */
function reasonOfIgnoring(walks: readonly FinishedWalk[]): string | null {
  const last = walks.at(-1) as FinishedWalk;
  const before = walks.at(-2);
  if (before === undefined) return null;
  const isServedOtherwise = before.account.strayCount > 0 || before.account.isEndRepeated;
  if (last.account.strayCount > 0 && isServedOtherwise) {
    return (
      last.account.contradictions.find(words => words.includes('the service answered with page')) ??
      'the same page came again'
    );
  }
  const accounts = [before.account, last.account];
  const isAlike = accounts.every(account => account.isAllAlike || isOnlyPageRepeated(account));
  // A page that is not full, and came again, is no cut of a longer list: that list is short, and moved.
  const isCut = accounts.some(account => account.isAllAlike || isFull(account));
  if (isAlike && isCut && sizeOf(last) !== sizeOf(before))
    return 'whatever page was asked for, all of them held the same records';
  // Records that are all alike fill pages that are alike, too; but such a list contradicts neither its total nor itself by an id.
  const isRepeated = [before, last].every(
    walk => walk.account.seen.areMostlyRepeated && soundStrip(walk) === null,
  );
  return isRepeated ? `pages held the same records as others, and ${reasonAgainst(last)}` : null;
}

/** Whether no other page came than one, which came again for the one after it. */
function isOnlyPageRepeated({ isEndRepeated, seen, pageCount }: WalkAccount): boolean {
  return isEndRepeated && seen.areOne && pageCount === 1;
}

/** Whether the last page of a walk is full. */
function isFull({ newestTotal, envelope }: WalkAccount): boolean {
  return newestTotal % envelope.pageSize === 0;
}
