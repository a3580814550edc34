import { proveByAgreement } from './agreement.ts';
import { openRanges, windowsOf } from './cover.ts';
import { checkTotal, countedAnswers } from './ends.ts';
import { readPlainly } from './plain.ts';
import { otherSizes, pagesAcross, pagesToConfirm } from './plan.ts';
import {
  type Asking,
  agreement,
  EndlessList,
  type ListFacts,
  Reading,
  readAroundFailed,
  type UnshownRow,
  type Verdict,
} from './reading.ts';
import { type Evidence, type Fate, fateOf } from './removal.ts';
import { type Answer, allKeys, beginOf, keysOf } from './window.ts';
import { planOf, proveByWindows, readAcross, verdictOf, weigh } from './windows.ts';

/** The result of a full sync: what is proven, and the fate of each row that no answer has shown. */
export interface Proof {
  readonly verdict: Verdict;
  readonly answers: readonly Answer[];
  readonly rows: readonly (UnshownRow & { readonly fate: Fate })[];
  readonly isSuddenlyEmpty: boolean;
  /** Whether rows stay because the service seems to list its newest records only. */
  readonly isOfNewest: boolean;
  /** Pages that can't be read, although the service answers others. */
  readonly failed: readonly Answer[];
}

/** Second looks by windows, and complete readings, for rows that would go. */
const looksMax = 3;
const furtherReadingsMax = 3;
/** A total that stands at a multiple of this can be a limit. */
const roundTotal = 1_000;

/**
 * Reads a whole list until its records are proven, and then looks a second time for rows that would go. Four rules can prove it, in this
 * order: one page shows all; windows on keys; two complete readings in a row that agree; three that show one stable order.
 */
export function* prove(list: ListFacts): Asking<Proof> {
  const run = new Reading(list);
  let verdict = agreement('the list changes faster than it can be read');
  try {
    verdict = yield* proveByWindows(run);
    yield* readAroundFailed(run);
    if (verdict.rule !== 'agreement' && run.failed.length > 0) verdict = reweighed(run);
    if (!verdict.isProven && (verdict.rule === 'agreement' || mayReadPlainly(run))) {
      const plain = yield* proveByAgreement(run, verdict.reason as string);
      if (plain.isProven || verdict.rule === 'agreement') verdict = plain;
    }
    return yield* confirm(run, verdict);
  } catch (error) {
    if (!(error instanceof EndlessList)) throw error;
    return proofOf(run, verdict, false);
  }
}

/** The windows again, with those of pages that were asked for meanwhile. */
function reweighed(run: Reading): Verdict {
  const windows = windowsOf(run.heard, run.list.learnt, run.list.identity);
  return windows === null ? agreement('a page is out of order') : verdictOf(windows, run);
}

/**
 * Whether plain readings can prove more than windows. If all answers state the same total, the list seems not to change: more records
 * might have one key than are on a page. If an answer does not fit its own total, the list might go on after the end that it states.
 */
function mayReadPlainly({ heard, failed }: Reading): boolean {
  if (failed.length > 0) return false;
  const isStill = heard.every(({ total }) => total === heard[0]?.total);
  const isTotalWrong = (answer: Answer) =>
    checkTotal(answer) === 'contradicts' || (answer.page.count > 0 && beginOf(answer) >= answer.total);
  return isStill || countedAnswers(heard).some(isTotalWrong);
}

/** Looks a second time for the rows that would go, in the same run and by other addresses. */
export function* confirm(run: Reading, found: Verdict): Asking<Proof> {
  const { list } = run;
  const plan = planOf(run);
  let verdict = found;
  // Readings that agree, or show one order, are two absences already.
  let isReadAgain = verdict.rule === 'order' || verdict.rule === 'agreement';
  let readings = 0;
  for (let looks = 0; ; ) {
    const proof = proofOf(run, verdict, isReadAgain);
    const open = proof.rows.filter(({ fate }) => fate === 'unconfirmed');
    if (open.length === 0) return proof;
    if (verdict.rule === 'key' && !run.hasOneSize && looks < looksMax) {
      const keys = open.map(({ key }) => key).filter(key => !Number.isNaN(key));
      const look = { ...list, run: list.run + looks * 17, total: run.total, isUsed: run.isUsed };
      const { pages, across } = pagesToConfirm(verdict.windows, keys, look);
      looks++;
      if (pages.length + across.length > 0) {
        yield* run.ask(pages, { isSecondLook: true });
        for (const tie of across) if (!run.hasOneSize) yield* readAcross(run, verdict.windows, tie, true);
        // Windows of sizes that the service does not serve say nothing.
        if (!run.hasOneSize) verdict = (yield* weigh(run, plan, Number.POSITIVE_INFINITY)) as Verdict;
        if (verdict.rule === 'agreement') {
          // A page of a second look can be the first that is out of order.
          verdict = yield* proveByAgreement(run, verdict.reason as string);
          isReadAgain = verdict.isProven;
        }
        continue;
      }
    }
    if (!verdict.isProven || readings >= furtherReadingsMax) return proof;
    const sent = run.hasOneSize && run.ignoresSizes ? run.ignoredSize(++readings) : null;
    const size = run.hasOneSize ? list.largest : sizeFor(run, readings);
    if (sent === null) readings++;
    const result = yield* readPlainly(run, size, { isSecondLook: true, again: null, sent });
    if (sent !== null && result.kind === 'contradicted' && result.isSizeRefused) run.ignoresSizes = false;
    isReadAgain ||= result.kind === 'complete'; // guard: a further reading is complete
  }
}

/** The size of one more reading: one that shows the whole list on its page, or one by addresses that the run has not used, if there is any. */
function sizeFor(run: Reading, at: number): number {
  const sizes = otherSizes(run.list.largest, run.list.run);
  const isUnused = (size: number) =>
    !pagesAcross({ from: 0, to: run.total }, size, run.total).some(run.isUsed);
  return sizes.find(size => size > run.total) ?? sizes.find(isUnused) ?? run.otherSize(at);
}

/** What the answers so far prove, with the fates of the rows that none of them has shown. */
export function proofOf(run: Reading, verdict: Verdict, isReadAgain: boolean): Proof {
  const { list, heard, failed } = run;
  const repeated = verdict.rule === 'agreement' && verdict.isProven ? verdict.repeated : [];
  const unshown = list.unshown(repeated);
  const isEmpty = heard.every(({ page }) => page.count === 0);
  const isSuddenlyEmpty = isEmpty && unshown.length > 0 && list.totalBefore !== 0;
  const stands = run.total > 0 && run.total % roundTotal === 0 && run.total === list.totalBefore;
  const oldestListed = stands
    ? heard.reduce((least, { page }) => Math.min(least, page.least), Number.POSITIVE_INFINITY)
    : Number.NEGATIVE_INFINITY;
  const evidence: Evidence = {
    isProven: verdict.isProven,
    isReadAgain: isReadAgain && failed.length === 0,
    isSuddenlyEmpty,
    oldestListed,
    byKey: verdict.rule === 'key' ? rangesOf(run, verdict) : null,
  };
  const rows = unshown.map(row => ({ ...row, fate: fateOf(row.key, evidence) }));
  const isOfNewest = unshown.some(({ key }) => key < oldestListed);
  return { verdict, answers: heard, rows, isSuddenlyEmpty, isOfNewest, failed };
}

/** The keys of a list by windows that are not covered, and those that a second look has not covered. */
function rangesOf({ list }: Reading, verdict: Verdict & { readonly rule: 'key' }): Evidence['byKey'] {
  const { windows, isProven } = verdict;
  const { direction, slack, strays } = windows;
  const { learnt } = list;
  // A slack that no run before has seen can still be too small, and a stray can be anywhere: then only a list that is proven as a whole
  // loses rows.
  const isSlackKnown = strays === 0 && slack <= (learnt === null || learnt === 'none' ? 0 : learnt.slack);
  const open = isSlackKnown || isProven ? verdict.open : [allKeys]; // guard: removals by a new slack
  const openIn = (isSecondLook: boolean) => {
    const own = windows.windows.filter(({ answer }) => answer.isSecondLook === isSecondLook);
    return openRanges(own).map(range => keysOf(range, direction));
  };
  const unconfirmed = [true, false].flatMap(openIn); // guard: a second look
  return { open, unconfirmed };
}
