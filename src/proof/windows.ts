import { areTwinsApart, readAcross } from './across.ts';
import { checkTotal, countedAnswers, endShown, isFull, pagesBeforeEmpty } from './claims.ts';
import { openRanges, windowsOf } from './cover.ts';
import type { Finding } from './findings.ts';
import { orderOf } from './order.ts';
import { Plan } from './plan.ts';
import {
  type Asking,
  agreement,
  askedAgain,
  isWrong,
  pagesBeyondMax,
  type Reading,
  type Verdict,
} from './reading.ts';
import { pagesAcross, repairsOf } from './repairs.ts';
import { pagesAtEnd, shortPages } from './totals.ts';
import { type Answer, allKeys, endOf, type PageAddress, reachOf } from './window.ts';
import { isOnePageWhole, newestClaim, pageOfOlderClaim, pageOfWitness, pagesOfOnePage } from './witnesses.ts';

/** How often a list on one page is asked for once more, and how often a witness is looked for. */
const onePageTriesMax = 4;
const witnessTriesMax = 12;
/** At most this many pages are asked for because the page behind each is empty. */
const pagesBeforeEmptyMax = 3;
/** How often the end of a list is looked for whose totals are wrong. */
const endTriesMax = 3;
/** The least number of pages that close gaps; a longer list can have as many as it has pages. */
const repairsMin = 12;
/** So many parts at most, because all windows are looked at after each. */
export const partsMax = 500;
/** What repairs would cost is looked at after so many pages, or this share of the list's. */
const probedMin = 6;
const probedShare = 1 / 5;
/** If repairs take so many times the pages that they follow, two plain readings are cheaper. */
const repairsShare = 1.5;

/** Reads the list by pages that overlap, until windows prove it, or a page shows that they can't. */
export function* proveByWindows(run: Reading): Asking<Verdict> {
  const { learnt, largest } = run.list;
  const oddityOf = (answer: Answer): Finding | null => {
    const { index, size, page } = answer;
    if (answer.wrong !== null && isWrong(answer)) return answer.wrong.finding;
    if (page.count > size && isFull(answer))
      return { code: 'page_size_ignored', asked: size, served: page.count };
    const isFirst = index > 0 && page.count >= size && page.count > 1;
    return isFirst && page.digest === run.heard[0]?.page.digest
      ? { code: 'page_number_ignored', asked: index + 1, answered: null }
      : null;
  };
  const isOdd = (answer: Answer) => oddityOf(answer) !== null || orderOf([answer], learnt, largest) === null;
  const tooLong: Finding = { code: 'ties_too_long', records: run.list.overlap };
  let needed = 0;
  let shift: number | null = null;
  for (let batch = 0; ; batch++) {
    if (batch < 2) run.plan = planOf(run, () => shift);
    if (batch === 1 && run.plan.to(run.extent) !== null && areTiesCostly(run)) return agreement(tooLong);
    if (batch === 2) needed = run.plan.to(run.extent)?.length ?? 0;
    // The first page and then the second one show most of what can be wrong with a service; some more show what repairs cost.
    const probed = Math.max(probedMin, Math.floor(needed * probedShare));
    const most = [1, 2, probed - 2][batch] ?? partOf(run, needed);
    const missing = run.plan.take(run.extent, most).filter(page => !run.isUsed(page));
    if (missing.length === 0) return yield* weigh(run);
    const isPart = batch > 2 && reachOf(missing.at(-1) as PageAddress) <= run.extent;
    const came = yield* run.ask(missing, { stop: isOdd, mayRecall: true, isPart });
    const odd = came.map(oddityOf).find(each => each !== null);
    if (odd != null) return agreement(odd);
    if (batch === 2 && probed < needed / 2 && isCostly(run)) return agreement(tooLong);
    const [first] = run.heard;
    if (batch === 0 && first !== undefined && checkTotal(first) === 'contradicts') {
      yield* run.ask([first]);
      // A total that is less cuts nothing off.
      const isCut = (answer: Answer) => checkTotal(answer) === 'contradicts' && answer.total > endOf(answer);
      // Windows say what they say. Without a key, readings show all that can be seen.
      if (run.heard.every(isCut) && orderOf(run.heard, learnt, largest) === null)
        return agreement(shortPages(run.heard));
    }
    if (batch === 0) yield* lookAgainAtOnePage(run);
    shift = shiftBy(run, came) ?? shift;
    if (batch > 2 && !came.some(isOdd)) continue;
    yield* run.look();
    const verdict = verdictOf(run);
    if (verdict.isProven || verdict.windows === undefined) return verdict;
  }
}

/** The pages that overlap. If keys are in order without exceptions, they are planned by what the mirror knows of records that share keys. */
function planOf(run: Reading, shift: () => number | null): Plan {
  const { learnt, largest, overlap, ties, planned = [] } = run.list;
  const order = orderOf(run.heard, learnt, largest);
  if (order === null) return new Plan(largest, overlap);
  const { direction, slack, stretch, strays } = order;
  if (slack > 0 || strays > 0) return new Plan(largest, overlap + stretch);
  return new Plan(largest, overlap, {
    isStill: () => !run.isMoving && (shift() ?? run.total - (run.list.totalBefore ?? 0)) === 0,
    tieAt: place => ties?.around(place, direction, run.total, shift() ?? 0) ?? null,
    planned,
  });
}

/** How many pages are asked for by one plan. Where ties have a part in it, the next ones are planned by where these have shown them. */
function partOf({ plan, partMax }: Reading, needed: number): number {
  if (plan.byTies === null) return Number.POSITIVE_INFINITY;
  return Math.max(plan.fixedLeft, Math.min(partMax, Math.ceil(needed * probedShare)));
}

/** By how many places ties are further behind than the mirror says, by the last page that shows one; null if none does. */
function shiftBy({ list, heard }: Reading, came: readonly Answer[]): number | null {
  const { learnt, largest, ties } = list;
  const order = ties == null ? null : orderOf(heard.slice(0, 1), learnt, largest);
  if (ties == null || order === null) return null;
  for (const answer of came.toSorted((a, b) => endOf(b) - endOf(a))) {
    const shift = ties.shiftOn(answer, order.direction);
    if (shift !== null) return shift;
  }
  return null;
}

/** The pages by which records of one key are read across, at least, if no page has these inside. */
const pagesAcrossMin = 4;

/** Whether the ties that the mirror knows make windows so costly that plain readings are cheaper. */
function areTiesCostly({ plan, list, total }: Reading): boolean {
  const least = new Plan(list.largest, list.overlap).to(total)?.length ?? 0;
  const more = plan.byTies === null ? 0 : plan.byTies.length - least;
  return more + pagesAcrossMin * plan.unheld > repairsShare * least;
}

/** If the first page says that it is the whole list, another one has to say so, too. */
function* lookAgainAtOnePage(run: Reading): Asking<void> {
  for (let tries = 0; tries < onePageTriesMax; tries++) {
    yield* run.look();
    yield* run.ask(pagesOfOnePage(run.heard, run.onePage), { stop: () => false });
  }
}

/** What the answers so far prove without plain readings. */
export function verdictOf(run: Reading): Verdict {
  return isOnePageWhole(run.heard, run.onePage)
    ? { rule: 'page', isProven: true, findings: [] }
    : verdictByKey(run);
}

/** The same by windows alone. */
export function verdictByKey(run: Reading): Verdict {
  const { heard, failed, list } = run;
  const isKnown = (end: Answer) => isEndKnown(end, run);
  const windows = windowsOf(heard, list.learnt, list.identity, 'witnessed', isKnown);
  if (windows === null) return agreement({ code: 'not_in_order' });
  const odd = countedAnswers(heard).findLast(answer => checkTotal(answer) === 'contradicts');
  const finding: Finding =
    odd === undefined
      ? { code: 'changes_too_fast' }
      : { code: 'end_not_shown', total: odd.total, end: endShown(heard) };
  const isWhole = openRanges(windows.chains[0]?.windows ?? []).length === 0;
  if (!isWhole || failed.length > 0) return { rule: 'key', isProven: false, findings: [finding], windows };
  // One of two records of one identity can be a stray: then no page need show both, and plain readings must count them.
  const mayBeStrays = windows.strays > 0; // guard: strays that are twins
  if (mayBeStrays && areTwinsApart(heard, list.overlap + windows.stretch))
    return agreement({ code: 'records_repeated' });
  return { rule: 'key', isProven: true, findings: [], windows };
}

/**
 * Whether the oldest row of a mirror that was proven is the last record of a list of the newest: older records do not come. That
 * counts only if no witness was found, because the list grows with each answer.
 */
function isEndKnown(end: Answer, run: Reading): boolean {
  const { isWitnessMissed, unshown, list } = run;
  const { page } = end;
  if (
    !isWitnessMissed ||
    unshown === null ||
    list.isSettled !== true ||
    page.count === 0 ||
    page.slack('down', 0) > 0
  )
    return false;
  const isNew = end.oldestNewKeys.some(key => key <= page.least);
  return !isNew && unshown.every(({ key }) => key > page.least); // guard: the oldest row ends a list of the newest
}

/** Whether nothing is open but for a witness of the end. */
export function isWholeButForWitness({ heard, failed, list }: Reading): boolean {
  const windows = windowsOf(heard, list.learnt, list.identity, 'claimed');
  return failed.length === 0 && openRanges(windows?.chains[0]?.windows ?? []).length === 0;
}

/** Everything that was asked for has arrived: asks for what else helps, and says what is proven then. */
export function* weigh(run: Reading): Asking<Verdict> {
  let [further, ends, witnesses] = [0, 0, 0];
  for (;;) {
    const { isSecondLook } = run;
    if ((yield* askedAgain(run, run.heard, 1, { isSecondLook })).length > 0) continue;
    // An empty page before the end can be one whose few records are on the page before it.
    const joined = pagesBeforeEmpty(countedAnswers(run.heard)).filter(page => !run.isUsed(page));
    if (joined.length > 0 && joined.length <= pagesBeforeEmptyMax) {
      yield* run.ask(joined, { isSecondLook });
      continue;
    }
    yield* run.look();
    const verdict = verdictOf(run);
    if (verdict.isProven || verdict.windows === undefined) return verdict;
    if (isWholeButForWitness(run) && !run.hasOneSize) {
      // A look at the front can be the witness.
      if (verdict.windows.direction === 'down' && !run.isFrontSeen) return verdict;
      const claim = newestClaim(run.heard);
      const older = claim && witnesses % 2 === 1 ? pageOfOlderClaim(claim, run.heard) : null;
      const page = older ?? (claim && pageOfWitness(claim, run.heard, run.list, run.isUsed));
      if (page == null || witnesses++ >= witnessTriesMax) {
        if (run.isWitnessMissed) {
          const end = claim === null ? endShown(run.heard) : endOf(claim);
          return { ...verdict, findings: [{ code: 'end_not_shown', total: end, end }] };
        }
        run.isWitnessMissed = true;
        continue;
      }
      // Of rows behind the end it is the second answer.
      yield* run.ask([page], { isSecondLook: true });
      continue;
    }
    // If the last page is full, the list might go on, whatever the totals say.
    const reached = run.heard.filter(isFull).map(endOf);
    const needed = run.isReadPlainly ? [] : run.plan.to(Math.max(run.extent, ...reached));
    if (needed === null) return agreement({ code: 'pages_too_small', size: run.list.largest });
    const missing = needed.filter(page => !run.isUsed(page));
    if (missing.length > 0 && further++ < pagesBeyondMax) {
      yield* run.ask(missing);
      continue;
    }
    if (run.failed.length > 0) return verdict;
    const isEndOpen = verdict.windows.windows.every(({ to }) => to !== allKeys.to);
    const atEnd = isEndOpen && ends++ < endTriesMax ? pagesAtEnd(run.heard) : [];
    if (atEnd.length > 0) {
      yield* run.ask(atEnd, { isSecondLook });
      continue;
    }
    // After plain readings few gaps should be left. A second look can have as many once more.
    const few = Math.ceil((run.total / run.list.largest) * probedShare);
    const most = run.repairsBefore + Math.max(repairsMin, needed.length || few) * (isSecondLook ? 2 : 1);
    const { pages, across } = repairsOf(
      verdict.windows,
      { total: run.total, largest: run.list.largest },
      run.isUsed,
    );
    const [before, heardBefore] = [run.repairs, run.heard.length];
    // The places of the others are known better once these have come.
    const partEnd = Math.min(most, before + Math.max(run.partMax, run.heard.length / partsMax));
    run.repairs += (yield* run.ask(pages.slice(0, Math.max(0, partEnd - before)), { isSecondLook })).length;
    for (const tie of across) {
      if (run.repairs >= partEnd || run.hasOneSize) break;
      run.repairs += yield* readAcross(run, verdict.windows, tie, isSecondLook);
    }
    if (run.heard.length === heardBefore || run.hasOneSize) return verdict;
  }
}

/** Whether it takes so many repairs to close the gaps between the pages so far that plain readings are cheaper. */
function isCostly(run: Reading): boolean {
  const { windows } = verdictOf(run);
  if (windows === undefined) return false;
  const { heard, list, total, isUsed } = run;
  const end = Math.max(...heard.map(endOf));
  const { pages, across } = repairsOf(windows, { total, end, largest: list.largest }, isUsed);
  const toReadAcross = across.flatMap(tie => pagesAcross(tie, list.largest, end)).length;
  // A batch that goes on beyond these pages is no gap between them.
  const inBatches = heard.filter(({ page, size }) => page.count === size && page.least === page.greatest);
  // One of the pages is for the end, where the list goes on.
  return pages.length - 1 + 2 * Math.max(inBatches.length, toReadAcross) > repairsShare * heard.length;
}
