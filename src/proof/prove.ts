import { joinReadings, readAcross } from './across.ts';
import { proveByAgreement } from './agreement.ts';
import { checkTotal, countedAnswers, isFull, sizesServed } from './claims.ts';
import { type KeyWindows, openRanges, type Window } from './cover.ts';
import { type Finding, insteadOf } from './findings.ts';
import { readPlainly } from './plain-reading.ts';
import {
  type Asking,
  askUnshown,
  EndedEarly,
  type ListFacts,
  pagesBeyondMax,
  Reading,
  readAroundFailed,
  type UnshownRow,
  type Verdict,
} from './reading.ts';
import { type Evidence, type Fate, fateOf } from './removal.ts';
import { openTies, pagesAcross, pagesToConfirm } from './repairs.ts';
import { type Retained, retainedOf } from './retained.ts';
import { areShort, causeInTotals, copiesIn } from './totals.ts';
import { type Answer, addressText, allKeys, beginOf, countsOf, keysOf, type PageAddress } from './window.ts';
import { isWholeButForWitness, partsMax, proveByWindows, verdictByKey, verdictOf, weigh } from './windows.ts';

/** The result of a full sync: what is proven, and the fate of each row that no answer has shown. */
export interface Proof {
  readonly verdict: Verdict;
  readonly answers: readonly Answer[];
  readonly rows: readonly (UnshownRow & { readonly fate: Fate })[];
  /** Rows at the growing end that stay; null if none do. */
  readonly retained: Retained | null;
  /** The pages that ties had a part in planning; null if they had none. */
  readonly planned: readonly PageAddress[] | null;
  /** Why the list is not proven, or rows of the mirror could not be decided; none if neither is so. */
  readonly findings: readonly Finding[];
}

/** Second looks by windows, and complete readings, for rows that would go. A list that moves is looked at more often. */
const looksMax = { still: 3, moving: 12 };
const furtherReadingsMax = 3;
/** A total that stands at a multiple of this can be a limit. */
const roundTotal = 1_000;

/** Reads a whole list until one of the four rules of docs/proof.md proves it, and then looks a second time for rows that would go. */
export function* prove(list: ListFacts): Asking<Proof> {
  const run = new Reading(list);
  try {
    let verdict = yield* withFront(run, yield* proveByWindows(run));
    if (!verdict.isProven && (verdict.rule === 'agreement' || mayReadPlainly(run, verdict))) {
      const plain = yield* proveByAgreement(run, verdict.findings);
      const other = plain.isProven ? plain : yield* closeGaps(run);
      if (other.isProven) verdict = other;
      else if (verdict.rule === 'agreement') verdict = plain;
    }
    return yield* confirm(run, verdict);
  } catch (error) {
    if (!(error instanceof EndedEarly)) throw error;
    // A window says what it says, whether or not others follow.
    yield* run.look();
    return yield* proofOf(run, { ...verdictOf(run), isProven: false, findings: [error.finding] }, false);
  }
}

/** If the newest are first, their front is read again before windows prove the list. */
function* withFront(run: Reading, verdict: Verdict): Asking<Verdict> {
  const isWhole = verdict.isProven || isWholeButForWitness(run);
  if (isWhole && verdict.windows?.direction === 'down')
    // guard: the front again
    return yield* lookAtFront(run, verdict.windows);
  return verdict;
}

/** The pages of readings that do not agree are windows, too. If few keys are open, for example where the order of ties changes, others show these. */
function* closeGaps(run: Reading): Asking<Verdict> {
  const verdict = verdictByKey(run);
  // Ids are never shared, and one that readings have shown twice is in the list twice.
  const isPointless = run.list.identity === 'id' || run.hasOneSize || run.failed.length > 0;
  if (verdict.windows === undefined || isPointless) return { ...verdict, isProven: false };
  joinReadings(run, verdict.windows, openTies(verdict.windows, run.total));
  run.isReadPlainly = true;
  run.isFrontSeen = false;
  run.repairsBefore = run.repairs;
  return yield* withFront(run, yield* weigh(run));
}

/** A record that gets a new time moves to the front. So the front is read again, by another size, to what the first answer has shown. */
function* lookAtFront(run: Reading, { slack }: KeyWindows): Asking<Verdict> {
  const [first] = run.heard;
  const [size] = run.otherSizes;
  const known = (first?.page.greatest ?? Number.NEGATIVE_INFINITY) - slack;
  for (let index = 0; index <= pagesBeyondMax && run.list.largest > 1 && size !== undefined; index++) {
    const [answer] = yield* run.ask([{ index, size }]);
    const goesOn = answer !== undefined && answer.wrong === null && isFull(answer);
    if (!goesOn || answer.page.least <= known) break;
  }
  run.isFrontSeen = true;
  return yield* weigh(run);
}

/** Whether plain readings can prove more than windows: if all totals are the same, or a page can be denser than its slack. */
function mayReadPlainly({ heard, failed, hasOneSize }: Reading, { windows }: Verdict): boolean {
  if (areShort(heard)) return false;
  const isDense = windows !== undefined && windows.slack > 0 && !hasOneSize;
  const isStill = heard.every(({ total }) => total === heard[0]?.total);
  const sizes = sizesServed(heard);
  // A page of another size can be one of a service that ignores sizes in silence.
  const isWrong = (answer: Answer) => checkTotal(answer) === 'contradicts' && sizes.has(answer.size);
  const isTotalWrong = countedAnswers(heard).some(isWrong);
  return failed.length === 0 && (isStill || isDense) && !isTotalWrong;
}

/** Looks a second time for the rows that would go, in the same run and by other addresses. */
export function* confirm(run: Reading, found: Verdict): Asking<Proof> {
  const { list } = run;
  yield* readAroundFailed(run);
  let verdict = found.windows !== undefined && run.failed.length > 0 ? verdictByKey(run) : found;
  // Readings that agree, or show one order, are two absences already.
  let isReadAgain = verdict.rule === 'order' || verdict.rule === 'agreement';
  run.isSecondLook = true;
  run.isFrontSeen = true;
  let [looks, readings, openBefore] = [0, 0, Number.POSITIVE_INFINITY];
  for (;;) {
    const proof = yield* proofOf(run, verdict, isReadAgain);
    const open = proof.rows.filter(({ fate }) => fate === 'unconfirmed');
    if (open.length === 0) return proof;
    const { windows } = verdict;
    if (windows !== undefined && !run.hasOneSize && looks < looksMax[run.isMoving ? 'moving' : 'still']) {
      const keys = open.map(({ key }) => key).filter(key => !Number.isNaN(key));
      // Other sizes than those of the look before.
      const facts = { ...list, run: list.run + 17 * looks };
      const { pages, across } = pagesToConfirm(windows, keys, run.total, facts, run.isUsed);
      if (!run.isMoving || open.length >= openBefore) looks++;
      openBefore = open.length;
      if (pages.length + across.length > 0) {
        const part = Math.max(run.partMax, run.heard.length / partsMax);
        yield* run.ask(pages.slice(0, part), { isSecondLook: true });
        for (const tie of across) if (!run.hasOneSize) yield* readAcross(run, windows, tie, true);
        // Windows of sizes that the service does not serve say nothing.
        if (!run.hasOneSize) verdict = yield* weigh(run);
        if (verdict.rule === 'agreement') {
          // A page of a second look can be the first that is out of order.
          verdict = yield* proveByAgreement(run, verdict.findings);
          isReadAgain = verdict.isProven;
        }
        continue;
      }
    }
    if (!verdict.isProven || readings++ >= furtherReadingsMax) return proof;
    const size = run.hasOneSize ? list.largest : sizeFor(run, readings);
    const { problem } = yield* readPlainly(run, size, {
      isSecondLook: true,
      isOtherwise: true,
      isCut: run.isMoving,
    });
    isReadAgain ||= problem === null; // guard: a further reading is complete
  }
}

/** The size of one more reading: one that shows the whole list on its page, or one by addresses that the run has not used. */
function sizeFor(run: Reading, at: number): number {
  const isUnused = (size: number) =>
    !pagesAcross({ from: 0, to: run.total }, size, run.total).some(run.isUsed);
  const sizes = run.otherSizes;
  return sizes.find(size => size > run.total) ?? sizes.find(isUnused) ?? (sizes[at % sizes.length] as number);
}

/** What the answers so far prove, with the fates of the rows that none of them has shown. */
export function* proofOf(run: Reading, found: Verdict, isReadAgain: boolean): Asking<Proof> {
  const { list, heard, failed, total } = run;
  const cause = found.isProven ? null : causeInTotals(heard);
  const copies = cause === null ? copiesIn(heard) : null;
  // Both answers for a removal could be of an old copy, and a reading of two copies is of no one moment.
  const why = cause ?? (copies && { code: 'copies_differ' as const, totals: copies, count: null });
  const findings = why === null ? found.findings : insteadOf(found.findings, why);
  const verdict: Verdict =
    copies === null ? { ...found, findings } : { rule: found.rule, isProven: false, findings };
  const unshown = yield* askUnshown([...run.joined, ...(verdict.repeated ? [verdict.repeated] : [])]);
  const isEmpty = heard.every(({ page }) => page.count === 0);
  const isSuddenlyEmpty = isEmpty && unshown.length > 0 && list.totalBefore !== 0;
  const stands = total > 0 && total % roundTotal === 0 && total === list.totalBefore;
  // A record that went can have a key that is later, by as much as keys can be behind.
  const leeway = 2 * (verdict.windows?.slack ?? 0);
  const oldestListed = stands
    ? Math.min(...heard.map(({ page }) => page.least)) + leeway
    : Number.NEGATIVE_INFINITY;
  const evidence: Evidence = {
    isProven: verdict.isProven,
    isReadAgain: isReadAgain && failed.length === 0,
    isSuddenlyEmpty,
    oldestListed,
    byKey: rangesOf(list, verdict),
  };
  const fates = unshown.map(row => ({ ...row, fate: fateOf(row.key, evidence) }));
  const gone = fates.filter(({ fate }) => fate === 'gone');
  const retained = retainedOf(run, verdict, gone, fates.length - gone.length);
  const rows = fates.map(row => (retained?.rows.has(row) ? { ...row, fate: 'undecided' as const } : row));
  const planned = run.plan.byTies;
  return { verdict, answers: heard, rows, retained, planned, findings: whyUnproven() };

  function whyUnproven(): readonly Finding[] {
    if (failed.length > 0) return insteadOf(verdict.findings, failedPages(failed, list.largest));
    if (!verdict.isProven) return verdict.findings;
    const count = rows.filter(({ fate }) => fate !== 'gone').length;
    if (count === 0) return [];
    if (isSuddenlyEmpty) return [{ code: 'list_emptied', count }];
    if (unshown.some(({ key }) => key <= oldestListed)) return [{ code: 'newest_only', total, count }];
    if (retained?.why === 'copy')
      return [{ code: 'copies_differ', totals: [retained.counted, retained.other], count }];
    return [{ code: retained?.why === 'filled' ? 'list_refilled' : 'not_confirmed', count }];
  }
}

/** So many numbers of failed pages are named. */
const failedNamedMax = 20;

/** The pages of the list's own size in which something fails for good. */
function failedPages(failed: readonly Answer[], pageSize: number): Finding {
  const pages = new Set(failed.map(answer => Math.floor(beginOf(answer) / pageSize) + 1));
  const named = [...pages].slice(0, failedNamedMax);
  return { code: 'page_failed', pages: named, count: pages.size, pageSize };
}

/** The answers that a proof rests on. If readings prove it, one of an earlier run counts if it alone shows as many of some record. */
export function answersInUse({ answers, verdict }: Pick<Proof, 'answers' | 'verdict'>): readonly Answer[] {
  if (verdict.rule === 'key' || !answers.some(({ isRecalled }) => isRecalled)) return answers;
  const most = new Map<number, number>();
  for (const { page, isRecalled } of answers)
    for (const [record, count] of isRecalled ? [] : countsOf([page]))
      most.set(record, Math.max(count, most.get(record) ?? 0));
  const isAlone = ([record, count]: readonly [number, number]) => count > (most.get(record) ?? 0); // guard: records that only an earlier run has shown
  return answers.filter(({ page, isRecalled }) => !isRecalled || [...countsOf([page])].some(isAlone));
}

/**
 * The windows of the first look and those of the second one. A witness of the end is a second look; if only such answers show the end, from
 * several addresses, one of them counts as the first.
 */
function looksOf(windows: readonly Window[]): readonly (readonly Window[])[] {
  const isOfEnd = ({ to }: Window) => to === allKeys.to;
  const first = windows.filter(({ answer }) => !answer.isSecondLook);
  const second = windows.filter(({ answer }) => answer.isSecondLook);
  const [one, ...others] = second.filter(isOfEnd);
  const isElsewhere = ({ answer }: Window) => addressText(answer) !== addressText((one as Window).answer);
  if (one === undefined || first.some(isOfEnd) || !others.some(isElsewhere)) return [first, second];
  return [[...first, one], second.filter(window => window !== one)];
}

/** The keys of a list by windows that are not covered, and those that a second look has not covered. */
function rangesOf({ learnt }: ListFacts, { windows, isProven }: Verdict): Evidence['byKey'] {
  if (windows === undefined) return null;
  const { direction, slack, strays } = windows;
  const openIn = (some: readonly Window[]) => openRanges(some).map(range => keysOf(range, direction));
  const unconfirmed = looksOf(windows.windows).flatMap(openIn); // guard: a second look
  // A slack that no run before has seen can be too small, and a stray can be anywhere: then only a list that is proven loses rows.
  const isSlackKnown = strays === 0 && slack <= (learnt === null || learnt === 'none' ? 0 : learnt.slack);
  const mayGo = isSlackKnown || isProven; // guard: removals by a new slack
  return { open: mayGo ? openIn(windows.windows) : [allKeys], unconfirmed };
}
