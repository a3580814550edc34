// Phase 3, gaps: asks for what windows leave open: pages of two moments, a witness of the end, the rest of the plan, the end itself, and
// gaps between pages, in this order. After each answer all is looked at again.

import { greatestOf } from '../contract/extremes.ts';
import { readAcross } from './across.ts';
import { type Answer, endOf, inTime, isAt, type PageAddress } from './answers.ts';
import { isWholeButForWitness, type KeyWindows, needsFullScans, type Verdict, verdictOf } from './cover.ts';
import { allKeys } from './keys.ts';
import { type AnswerLog, type AskOptions, pagesBeyondMax } from './log.ts';
import type { Asking } from './questions.ts';
import { repairsOf } from './repairs.ts';
import {
  areShort,
  copyStepMin,
  endShown,
  isContradicted,
  isFull,
  pagesAtEnd,
  pagesBeforeEmpty,
} from './totals.ts';
import { lookUpRows, newestClaim, pageOfWitness } from './witnesses.ts';

const witnessTriesMax = 12;
/** At most this many pages are asked for because the page behind each is empty. */
const pagesBeforeEmptyMax = 3;
/** How often the end of a list is looked for whose totals are wrong. */
const endTriesMax = 3;
/** The least number of pages that close gaps; a longer list can have as many as it has pages. */
const repairsMin = 12;
/** After full scans few gaps should be left: those of such a share of the list's pages. */
const repairsShare = 1 / 5;
/** So many parts at most, because all windows are looked at after each. */
export const partsMax = 500;

/** When gaps are closed: first; after the front of a list of the newest was read again; or when rows that would go are looked for. */
export type Look = 'first' | 'front' | 'second';
const isSecond = (look: Look) => ({ isSecondLook: look === 'second' });

/** How often it was asked for what has a limit. */
type Tries = Record<'witnesses' | 'further' | 'ends', number>;

/** What a step has done: it has asked for something, so that all is looked at again, or it has an end. Null if there is nothing to do. */
type Step = 'asked' | Verdict | null;

/** Everything that was asked for has arrived: asks for what else helps, and says what is proven then. */
export function* closeGaps(log: AnswerLog, look: Look): Asking<Verdict> {
  const tries: Tries = { witnesses: 0, further: 0, ends: 0 };
  for (;;) {
    if (yield* askOfOneMoment(log, look)) continue;
    yield* lookUpRows(log);
    const verdict = verdictOf(log);
    const { windows } = verdict;
    if (verdict.isProven || windows === undefined) return verdict;
    const open = { ...verdict, windows };
    const step: Step =
      (yield* askForWitness(log, open, look, tries)) ??
      (yield* askForRest(log, open, tries)) ??
      (yield* askForEnd(log, open, look, tries)) ??
      (yield* askForRepairs(log, open, look));
    if (step !== 'asked' && step !== null) return step;
  }
}

type OpenVerdict = Verdict & { readonly windows: KeyWindows };

/** Asks for pages that contradict their totals, and for those before empty ones, which can have their few records. */
function* askOfOneMoment(log: AnswerLog, look: Look): Asking<boolean> {
  if ((yield* askedAgain(log, log.answers, 1, isSecond(look))).length > 0) return true;
  const before = pagesBeforeEmpty(log.counted).filter(page => !log.isUsed(page));
  if (before.length === 0 || before.length > pagesBeforeEmptyMax) return false;
  yield* log.ask(before, isSecond(look));
  return true;
}

/** If nothing else is open, asks for a page that can be the witness of the end. */
function* askForWitness(log: AnswerLog, verdict: OpenVerdict, look: Look, tries: Tries): Asking<Step> {
  if (!isWholeButForWitness(log) || log.hasOneSize) return null;
  // A look at the front can be the witness.
  if (verdict.windows.direction === 'down' && look === 'first') return verdict;
  const claim = newestClaim(log);
  const page = claim && pageOfWitness(claim, log);
  if (page != null && tries.witnesses++ < witnessTriesMax) {
    // Of rows behind the end it is the second answer.
    yield* log.ask([page], { isSecondLook: true });
    return 'asked';
  }
  if (!log.isWitnessMissed) {
    log.isWitnessMissed = true;
    return 'asked';
  }
  const end = claim === null ? endShown(log.answers) : endOf(claim);
  return { ...verdict, findings: [{ code: 'end_not_shown', total: end, end }] };
}

/** Asks for what the plan has in addition by now. If the last page is full, the list might go on, whatever the totals say. */
function* askForRest(log: AnswerLog, verdict: OpenVerdict, tries: Tries): Asking<Step> {
  const needed = plannedPages(log);
  if (needed === null) return needsFullScans({ code: 'pages_too_small', size: log.list.largest });
  const missing = needed.filter(page => !log.isUsed(page));
  if (missing.length > 0 && tries.further++ < pagesBeyondMax) {
    yield* log.ask(missing);
    return 'asked';
  }
  return log.failed.length > 0 ? verdict : null;
}

function plannedPages(log: AnswerLog): PageAddress[] | null {
  const ends = log.answers.filter(isFull).map(endOf);
  return log.repairsBefore === null ? log.plan.to(Math.max(log.extent, greatestOf(ends))) : [];
}

/** Asks for pages that can show an end without a total. */
function* askForEnd(log: AnswerLog, { windows }: OpenVerdict, look: Look, tries: Tries): Asking<Step> {
  const isEndOpen = windows.windows.every(({ to }) => to !== allKeys.to);
  const pages = isEndOpen && tries.ends++ < endTriesMax ? pagesAtEnd(log.counted, endShown(log.answers)) : [];
  yield* log.ask(pages, isSecond(look));
  return pages.length > 0 ? 'asked' : null;
}

/** Asks for pages that have gaps inside, some at a time: the places of the others are known better once these have come. */
function* askForRepairs(log: AnswerLog, verdict: OpenVerdict, look: Look): Asking<Step> {
  const { list, total, repairs } = log;
  const options = { ...isSecond(look), isRepair: true };
  const few = Math.ceil((total / list.largest) * repairsShare);
  // A second look can have as many once more.
  const most = Math.max(repairsMin, plannedPages(log)?.length || few) * (look === 'second' ? 2 : 1);
  const part = Math.max(log.partMax, log.answers.length / partsMax);
  const end = Math.min((log.repairsBefore ?? 0) + most, repairs + part);
  const { windows } = verdict;
  const { pages, across } = repairsOf(windows, log);
  const answersBefore = log.answers.length;
  yield* log.ask(pages.slice(0, Math.max(0, end - repairs)), options);
  for (const tie of across) {
    if (log.repairs >= end || log.hasOneSize) break;
    yield* readAcross(log, windows, tie, options);
  }
  return log.answers.length === answersBefore || log.hasOneSize ? verdict : 'asked';
}

/** At most this many answers that contradict their total are asked for once more. */
const askedAgainMax = 12;
/** Answers of one address that contradict their totals, at most: by a few records, or by more. */
const sameAddressMax = { near: 6, far: 4 };

/** Asks once more for pages that contradict their totals, unless they are more than that share: then the service does something else. */
export function* askedAgain(
  log: AnswerLog,
  answers: readonly Answer[],
  share: number,
  options: AskOptions,
): Asking<readonly Answer[]> {
  // Pages that something is left out of are as short in the next answer.
  const areAsShort = areShort(answers);
  // A total that was counted at another moment is another one in the next answer; a total that is kept is the same.
  const isOpen = (answer: Answer) => {
    const same = inTime(answers.filter(other => isAt(other, answer)));
    const [before, last] = [same.at(-2), same.at(-1)];
    const isThere = answer.page.count > 0;
    // A total that differs by more is one of before, an estimate, or no count.
    const isNear = isThere && !areAsShort && Math.abs(answer.total - endOf(answer)) < copyStepMin;
    // A page that is not there has no total, but that of the answer before it.
    const hasMovedSince = answer.total !== log.total && (isNear || !isThere);
    const isMoving =
      before?.total !== answer.total || before.page.count !== answer.page.count || hasMovedSince;
    const most = sameAddressMax[isNear ? 'near' : 'far'];
    return last === answer && same.filter(isContradicted).length < most && isMoving;
  };
  const odd = answers.filter(answer => isContradicted(answer) && isOpen(answer));
  const oddMax = Math.min(askedAgainMax, Math.ceil(answers.length * share));
  return odd.length > oddMax ? [] : yield* log.ask(odd, options);
}
