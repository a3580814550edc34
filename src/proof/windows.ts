// Phase 2, windows: asks for the pages of the plan, the first ones alone, and stops if full scans are needed or cheaper.

import { greatestOf } from '../contract/extremes.ts';
import { type Answer, endOf, type PageAddress, reachOf } from './answers.ts';
import { needsFullScans, type Verdict, verdictOf } from './cover.ts';
import type { Finding } from './findings.ts';
import { closeGaps } from './gaps.ts';
import { type AnswerLog, isWrong } from './log.ts';
import { orderOf } from './order.ts';
import { Plan } from './plan.ts';
import type { Asking } from './questions.ts';
import { pagesAcross, repairsOf } from './repairs.ts';
import { isContradicted, isFull, shortPages } from './totals.ts';
import { lookUpRows, pagesOfOnePage } from './witnesses.ts';

const onePageTriesMax = 4;
/** What repairs would cost is looked at after so many pages, or this share of the list's. */
const probedMin = 6;
const probedShare = 1 / 5;
/** If repairs take so many times the pages that they follow, two full scans are cheaper. */
const repairsShare = 1.5;

/** Reads the list by pages that overlap, until windows prove it, or a page shows that they can't. */
export function* proveByWindows(log: AnswerLog): Asking<Verdict> {
  const { learnt, largest } = log.list;
  const problemOf = (answer: Answer): Finding | null => {
    const { index, size, page } = answer;
    if (answer.wrong !== null && isWrong(answer)) return answer.wrong.finding;
    if (page.count > size && isFull(answer))
      return { code: 'page_size_ignored', asked: size, served: page.count };
    const canBeFirst = index > 0 && page.count >= size && page.count > 1;
    return canBeFirst && page.digest === log.answers[0]?.page.digest
      ? { code: 'page_number_ignored', asked: index + 1, answered: null }
      : null;
  };
  const hasProblem = (answer: Answer) =>
    problemOf(answer) !== null || orderOf([answer], learnt, largest) === null;
  const tooLong: Finding = { code: 'ties_too_long', records: log.list.overlap };
  let needed = 0;
  let shift: number | null = null;
  for (let batch = 0; ; batch++) {
    if (batch < 2) log.plan = planOf(log, () => shift);
    if (batch === 1 && log.plan.to(log.extent) !== null && areTiesCostly(log)) return needsFullScans(tooLong);
    if (batch === 2) needed = log.plan.to(log.extent)?.length ?? 0;
    // The first page and then the second one show most of what can be wrong with a service; some more show what repairs cost.
    const probed = Math.max(probedMin, Math.floor(needed * probedShare));
    const most = [1, 2, probed - 2][batch] ?? partOf(log, needed);
    const missing = log.plan.take(log.extent, most).filter(page => !log.isUsed(page));
    if (missing.length === 0) return yield* closeGaps(log, 'first');
    const isPart = batch > 2 && reachOf(missing.at(-1) as PageAddress) <= log.extent;
    const came = yield* log.ask(missing, { stop: hasProblem, mayRecall: true, isPart });
    const problem = came.map(problemOf).find(each => each !== null);
    if (problem != null) return needsFullScans(problem);
    if (batch === 2 && probed < needed / 2 && isCostly(log)) return needsFullScans(tooLong);
    const [first] = log.answers;
    if (batch === 0 && first !== undefined && isContradicted(first)) {
      yield* log.ask([first]);
      // A total that is less cuts nothing off.
      const isCut = (answer: Answer) => isContradicted(answer) && answer.total > endOf(answer);
      // Windows say what they say. Without a key, readings show all that can be seen.
      if (log.answers.every(isCut) && orderOf(log.answers, learnt, largest) === null)
        return needsFullScans(shortPages(log.answers));
    }
    if (batch === 0) yield* lookAgainAtOnePage(log);
    shift = shiftBy(log, came) ?? shift;
    if (batch > 2 && !came.some(hasProblem)) continue;
    yield* lookUpRows(log);
    const verdict = verdictOf(log);
    if (verdict.isProven || verdict.windows === undefined) return verdict;
  }
}

/** The pages that overlap. If keys are in order without exceptions, they are planned by what the mirror knows of records that share keys. */
function planOf(log: AnswerLog, shift: () => number | null): Plan {
  const { learnt, largest, overlap, ties, planned = [] } = log.list;
  const order = orderOf(log.answers, learnt, largest);
  if (order === null) return new Plan(largest, overlap);
  const { direction, lateness, extraOverlap, outliers } = order;
  if (lateness > 0 || outliers > 0) return new Plan(largest, overlap + extraOverlap);
  return new Plan(largest, overlap, {
    isStill: () => !log.isMoving && (shift() ?? log.total - (log.list.totalBefore ?? 0)) === 0,
    tieAt: place => ties?.around(place, direction, log.total, shift() ?? 0) ?? null,
    planned,
  });
}

/** How many pages are asked for by one plan. Where ties have a part in it, the next ones are planned by where these have shown them. */
function partOf({ plan, partMax }: AnswerLog, needed: number): number {
  if (plan.byTies === null) return Number.POSITIVE_INFINITY;
  return Math.max(plan.fixedLeft, Math.min(partMax, Math.ceil(needed * probedShare)));
}

/** By how many places ties are further behind than the mirror says, by the last page that shows one; null if none does. */
function shiftBy({ list, answers }: AnswerLog, came: readonly Answer[]): number | null {
  const { learnt, largest, ties } = list;
  const order = ties == null ? null : orderOf(answers.slice(0, 1), learnt, largest);
  if (ties == null || order === null) return null;
  for (const answer of came.toSorted((a, b) => endOf(b) - endOf(a))) {
    const shift = ties.shiftOn(answer, order.direction);
    if (shift !== null) return shift;
  }
  return null;
}

/** The pages by which records of one key are read across, at least, if no page has these inside. */
const pagesAcrossMin = 4;

/** Whether the ties that the mirror knows make windows so costly that full scans are cheaper. */
function areTiesCostly({ plan, list, total }: AnswerLog): boolean {
  const least = new Plan(list.largest, list.overlap).to(total)?.length ?? 0;
  const more = plan.byTies === null ? 0 : plan.byTies.length - least;
  return more + pagesAcrossMin * plan.unheld > repairsShare * least;
}

/** If the first page says that it is the whole list, another one has to say so, too. */
function* lookAgainAtOnePage(log: AnswerLog): Asking<void> {
  for (let tries = 0; tries < onePageTriesMax; tries++) {
    yield* lookUpRows(log);
    yield* log.ask(pagesOfOnePage(log), { stop: () => false });
  }
}

/** Whether it takes so many repairs to close the gaps between the pages so far that full scans are cheaper. */
function isCostly(log: AnswerLog): boolean {
  const { windows } = verdictOf(log);
  if (windows === undefined) return false;
  const { answers, list } = log;
  const end = greatestOf(answers.map(endOf));
  const { pages, across } = repairsOf(windows, log, end);
  const toReadAcross = across.flatMap(tie => pagesAcross(tie, list.largest, end)).length;
  // A batch that goes on beyond these pages is no gap between them.
  const inBatches = answers.filter(({ page, size }) => page.count === size && page.least === page.greatest);
  // One of the pages is for the end, where the list goes on.
  return pages.length - 1 + 2 * Math.max(inBatches.length, toReadAcross) > repairsShare * answers.length;
}
