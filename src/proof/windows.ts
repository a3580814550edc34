import { contentBytes, Sum } from '../contract/sum.ts';
import { isWhole, type KeyWindows, openRanges, windowsOf } from './cover.ts';
import { checkTotal, contradictedOnce, isOnePageWhole } from './ends.ts';
import { ContentNumbers } from './numbers.ts';
import { type KeyOrder, orderOf } from './order.ts';
import { pagesBeyondMax } from './plain.ts';
import { overlapOf, Plan, pagesAcross, repairsOf, sizesOf, type Tie } from './plan.ts';
import { type Asking, agreement, isWrong, type Reading, type Verdict } from './reading.ts';
import {
  type Answer,
  addressText,
  beginOf,
  endOf,
  inOrder,
  isIn,
  keysOf,
  type PageAddress,
  PageItems,
  reachOf,
} from './window.ts';

/** At most this many answers that contradict their total are asked for once more. */
const askedAgainMax = 12;
/** The least number of pages that close gaps; a longer list can have as many as it has pages. */
const repairsMin = 12;
/** What repairs would cost is looked at after so many pages, or this share of the list's. */
const probedMin = 6;
const probedShare = 1 / 5;
/** If repairs take so many times the pages that they follow, two plain readings are cheaper. */
const repairsShare = 1.5;

/** The plan for a list's order, as earlier runs and the answers so far have shown it. */
export function planOf({ list, heard }: Reading): Plan {
  const { largest, identity, learnt, overlap = overlapOf(largest, identity) } = list;
  return new Plan(largest, overlap + (orderOf(heard, learnt, largest)?.stretch ?? 0));
}

/** Reads the list by pages that overlap, until windows prove it, or a page shows that they can't. */
export function* proveByWindows(run: Reading): Asking<Verdict> {
  const { learnt, largest } = run.list;
  let plan = planOf(run);
  let next = 0;
  let digest: string | null = null;
  const isFirstAgain = ({ index, size, page }: Answer) =>
    index > 0 && page.count >= size && page.count > 1 && page.digest === digest;
  const isCut = (answer: Answer) => answer.page.count > answer.size;
  const isOdd = (answer: Answer) =>
    isWrong(answer) || isFirstAgain(answer) || isCut(answer) || orderOf([answer], learnt, largest) === null;
  for (;;) {
    if (next === 1) plan = planOf(run);
    // The first page and then the second one show most of what can be wrong with a service.
    const total = run.total;
    const needed = plan.countFor(total) ?? 0;
    const probed = Math.max(probedMin, Math.floor(needed * probedShare));
    const count = next < 2 ? next + 1 : next < probed ? Math.min(probed, needed) : needed;
    const pages: PageAddress[] = [];
    for (; next < count; next++) {
      const page = plan.at(next);
      const before = next === 0 ? null : plan.at(next - 1);
      if (page === null || (before !== null && (beginOf(page) >= total || reachOf(before) > total))) break;
      pages.push(page);
    }
    if (pages.length === 0) break;
    const came = yield* run.ask(pages, { stop: isOdd });
    const [first] = run.heard;
    digest ??= first?.page.digest ?? null;
    const wrong = came.find(isWrong);
    if (wrong !== undefined) return agreement(wrong.reason ?? 'the service serves pages of one size only');
    if (came.some(isFirstAgain)) return agreement('a page of the list is the first one again');
    if (came.some(isCut)) return agreement(cutReason);
    if (next === probed && probed < needed / 2 && isCostly(run, next)) return agreement(costlyReason);
    if (first !== undefined && checkTotal(first) === 'contradicts' && next === 1) {
      yield* run.ask([first]);
      if (run.heard.every(answer => checkTotal(answer) === 'contradicts')) return agreement(cutReason);
    }
    // If a page alone seems to be out of order, the rest was not asked for, but all of them might be in order.
    const left = pages.findIndex(page => !came.some(answer => addressText(answer) === addressText(page)));
    if (left >= 0) next -= pages.length - left;
    const verdict = yield* weigh(run, plan, next);
    if (verdict !== null) return withoutTwinsApart(run, verdict);
  }
  return withoutTwinsApart(run, (yield* weigh(run, plan, Number.POSITIVE_INFINITY)) as Verdict);
}

/** One of two identical records can be a stray: then no page need show both, and plain readings must count them. */
function withoutTwinsApart({ heard, list }: Reading, verdict: Verdict): Verdict {
  if (verdict.rule !== 'key' || verdict.windows.strays === 0 || list.identity === 'id') return verdict;
  const apartMin = (list.overlap ?? overlapOf(list.largest, list.identity)) + verdict.windows.stretch;
  const numbers = new ContentNumbers();
  const places: number[] = [];
  for (const answer of heard)
    for (let at = 0; at < answer.page.count; at++) {
      const number = numbers.numberOf(answer.page.contents, at * contentBytes);
      places[number] ??= beginOf(answer) + at;
      const moved = Math.abs((places[number] as number) - beginOf(answer) - at);
      if (moved > apartMin) return agreement('identical records are on two pages'); // guard: strays that are twins
    }
  return verdict;
}

const costlyReason = 'more records share a time than pages overlap by';
const cutReason = 'the service sends pages of another size than it was asked for';

/**
 * Everything that was asked for has arrived: is that enough, and if not, what else helps?
 *
 * @param next the number of the plan's next page.
 * @returns null if the plan has more pages to ask for first.
 */
export function* weigh(run: Reading, plan: Plan, next: number): Asking<Verdict | null> {
  const { identity, learnt, largest } = run.list;
  let repairs = 0;
  let beyond = 0;
  for (;;) {
    const again = contradictedOnce(run.heard);
    if (again.length > 0 && again.length <= askedAgainMax && next > 1) {
      yield* run.ask(again, { isSecondLook: again.every(answer => answer.isSecondLook) });
      continue;
    }
    if (isOnePageWhole(run.heard)) return { rule: 'page', isProven: true, reason: null };
    const windows = windowsOf(run.heard, learnt, identity);
    const verdict = windows && verdictOf(windows, run);
    if (verdict?.isProven) return verdict;
    if (windows === null || verdict === null) return agreement('a page is out of order');
    const needed = plan.countFor(run.total);
    if (needed === null) return agreement('pages are too small for a plan of pages that overlap');
    if (next < needed) return null;
    // If the last page is full, the list might go on, whatever the totals say.
    const page = plan.at(needed + beyond);
    const last = plan.at(needed + beyond - 1);
    const end = last && run.heard.findLast(answer => addressText(answer) === addressText(last));
    if (page !== null && end != null && end.page.count >= end.size && beyond < pagesBeyondMax) {
      beyond++;
      yield* run.ask([page]);
      continue;
    }
    if (run.failed.length > 0) return verdict;
    const most = Math.max(repairsMin, needed);
    const isSecondLook = run.heard.some(answer => answer.isSecondLook);
    const { pages, across } = repairsOf(windows, run.total, largest, run.isUsed);
    const before = repairs;
    repairs += (yield* run.ask(pages.slice(0, Math.max(0, most - repairs)), { isSecondLook })).length;
    for (const tie of across) {
      if (repairs >= most || run.hasOneSize) break;
      repairs += yield* readAcross(run, windows, tie, isSecondLook);
    }
    if (repairs === before || run.hasOneSize) return verdict;
  }
}

/** Whether it takes so many repairs to close the gaps between the pages so far that plain readings are cheaper. */
function isCostly({ heard, list, isUsed }: Reading, pageCount: number): boolean {
  const windows = windowsOf(heard, list.learnt, list.identity);
  if (windows === null) return false;
  const end = Math.max(...heard.map(endOf));
  const { pages, across } = repairsOf(windows, end, list.largest, isUsed);
  const costs = across.map(tie => 2 * pagesAcross(tie, list.largest, end).length);
  // A batch that goes on beyond these pages is no gap between them.
  const inBatches = heard.filter(({ page, size }) => page.count === size && page.least === page.greatest);
  const cost = Math.max(
    2 * inBatches.length,
    costs.reduce((sum, each) => sum + each, 0),
  );
  // One of the pages is for the end, where the list goes on.
  return pages.length - 1 + cost > repairsShare * pageCount;
}

/** Whether windows prove the list, and what they leave open. */
export function verdictOf(windows: KeyWindows, { failed }: Reading): Verdict & { readonly rule: 'key' } {
  const isProven = isWhole(windows) && failed.length === 0;
  const reason =
    'the pages do not cover all keys: the list changes faster than it can be read, or its totals do not fit its pages';
  const open = openRanges(windows.windows).map(range => keysOf(range, windows.direction));
  return { rule: 'key', isProven, reason: isProven ? null : reason, open, windows };
}

/**
 * Reads records that share a key and that no page has inside, with those before and after them, as a plain reading does: by the pages
 * of one size, and once more by those of another one. If both agree, they are one window. A second look needs one more reading.
 *
 * @returns how many pages were asked for.
 */
export function* readAcross(
  run: Reading,
  { direction, slack, strays }: KeyOrder,
  tie: Tie,
  isSecondLook: boolean,
): Asking<number> {
  const { largest, identity } = run.list;
  // A record between two of these pages can be a slack behind one that is a slack behind these keys.
  const [from, to] = [tie.keys.from - 3 * slack, tie.keys.to + 3 * slack];
  const isWithin = (key: number) => isIn(inOrder(key, direction), { from, to, isFromIn: true, isToIn: true });
  let count = 0;
  const found: { answer: Answer; sum: Sum }[] = [];
  // No cache can have kept a page that this run has not asked for.
  const isUnused = (size: number) => !pagesAcross(tie, size, run.total).some(run.isUsed);
  const unused = sizesOf(largest, run.list.run).find(isUnused) ?? run.otherSize(1);
  for (const size of isSecondLook ? [unused] : [largest, run.otherSize(0)]) {
    const pages = pagesAcross(tie, size, run.total);
    const came = [...(yield* run.ask(pages, { isSecondLook }))].sort((a, b) => a.index - b.index);
    count += pages.length;
    const [first] = came;
    const isConnected = came.every(({ total, wrong, page }, at) => {
      const isFull = at === came.length - 1 || page.count === size;
      return wrong === null && total === first?.total && isFull;
    });
    if (first === undefined || came.length < pages.length || !isConnected) return count;
    // Of identical records that are on two pages, no page shows all.
    if (hasTwinsApart(came)) return count; // guard: twins on two pages
    const keys = Float64Array.from(came.flatMap(({ page }) => [...page.keys]));
    const page = new PageItems('', keys, Buffer.concat(came.map(answer => answer.page.contents)), identity);
    if (page.slack(direction, strays) > slack) return count;
    const sum = new Sum();
    for (const [at, key] of keys.entries()) if (isWithin(key)) sum.add(page.contents, at * contentBytes);
    const arrived = Math.max(...came.map(answer => answer.arrived));
    found.push({ answer: { ...first, page, arrived }, sum });
  }
  const [one, other] = found;
  const doAgree = one !== undefined && (other === undefined || one.sum.equals(other.sum)); // guard: two readings across agree
  if (doAgree) run.heard.push(one.answer);
  return count;
}

/** Whether a content is on more than one of these pages. */
function hasTwinsApart(answers: readonly Answer[]): boolean {
  const numbers = new ContentNumbers();
  const pages: number[] = [];
  for (const [place, { page }] of answers.entries()) {
    for (let at = 0; at < page.count; at++) {
      const number = numbers.numberOf(page.contents, at * contentBytes);
      pages[number] ??= place;
      if (pages[number] !== place) return true;
    }
  }
  return false;
}
