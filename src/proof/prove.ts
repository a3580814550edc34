// A full sync of one list, told phase by phase: windows, the gaps between them, the front, full scans, the second look, the conclusion.
// Phase 4, the front, and the requests of phase 6 are in this file. docs/proof.md has the same order.

import { mergeScans, readAcross } from './across.ts';
import { proveByAgreement } from './agreement.ts';
import { type Answer, isAt, type PageAddress } from './answers.ts';
import { type Proof, proofOf } from './conclude.ts';
import { isWholeButForWitness, type KeyWindows, type Verdict, verdictByKey, verdictOf } from './cover.ts';
import { scanFully } from './full-scan.ts';
import { closeGaps, partsMax } from './gaps.ts';
import { AnswerLog, type ListFacts, pagesBeyondMax } from './log.ts';
import { type Asking, EndedEarly } from './questions.ts';
import { pagesAcross, pagesToConfirm } from './repairs.ts';
import { areShort, isContradicted, isFull, sizesServed } from './totals.ts';
import { proveByWindows } from './windows.ts';
import { lookUpRows, newestClaim, pageOfWitness } from './witnesses.ts';

/** Reads a whole list until one of the four rules of docs/proof.md proves it, and then looks a second time for rows that would go. */
export function* prove(list: ListFacts): Asking<Proof> {
  const log = new AnswerLog(list);
  try {
    let verdict = yield* withFront(log, yield* proveByWindows(log));
    if (!verdict.isProven && (verdict.rule === 'agreement' || mayScanFully(log, verdict))) {
      const byScans = yield* proveByAgreement(log, verdict.findings);
      const closed = byScans.isProven ? null : yield* closeGapsOfScans(log);
      if (byScans.isProven || verdict.rule === 'agreement') verdict = byScans;
      if (closed?.isProven) verdict = closed;
    }
    return yield* confirm(log, verdict);
  } catch (error) {
    if (!(error instanceof EndedEarly)) throw error;
    // A window says what it says, whether or not others follow.
    yield* lookUpRows(log);
    return yield* proofOf(log, { ...verdictOf(log), isProven: false, findings: [error.finding] }, false);
  }
}

/** If the newest are first, their front is read again before windows prove the list. */
function* withFront(log: AnswerLog, verdict: Verdict): Asking<Verdict> {
  const { windows } = verdict;
  const isWhole = verdict.isProven || isWholeButForWitness(log);
  if (!isWhole || windows?.direction !== 'down') return verdict; // guard: the front again
  yield* lookAtFront(log, windows);
  return yield* closeGaps(log, 'front');
}

/**
 * The pages of scans that do not agree are windows, too. If few keys are open, for example where the order of ties changes, others show
 * these. Null if there are none, or if that would be pointless.
 */
function* closeGapsOfScans(log: AnswerLog): Asking<Verdict | null> {
  const { windows } = verdictByKey(log);
  // Ids are never shared, and one that scans have shown twice is in the list twice.
  const isPointless = log.list.identity === 'id' || log.hasOneSize || log.failed.length > 0;
  if (windows === undefined || isPointless) return null;
  mergeScans(log, windows);
  log.repairsBefore = log.repairs;
  return yield* withFront(log, yield* closeGaps(log, 'first'));
}

/** A record that gets a new time moves to the front. So the front is read again, by another size, to what the first answer has shown. */
function* lookAtFront(log: AnswerLog, { lateness }: KeyWindows): Asking<void> {
  const [first] = log.answers;
  const size = log.otherSizes.find(each => !log.isUsed({ index: 0, size: each })) ?? log.otherSizes[0];
  const known = (first?.page.greatest ?? Number.NEGATIVE_INFINITY) - lateness;
  for (let index = 0; index <= pagesBeyondMax && log.list.largest > 1 && size !== undefined; index++) {
    const [answer] = yield* log.ask([{ index, size }]);
    const goesOn = answer !== undefined && answer.wrong === null && isFull(answer);
    if (!goesOn || answer.page.least <= known) break;
  }
}

/** Whether full scans can prove more than windows: if all totals are the same, or a page can be denser than its lateness. */
function mayScanFully(
  { list, answers, counted, failed, hasOneSize }: AnswerLog,
  { windows }: Verdict,
): boolean {
  if (areShort(answers)) return false;
  const isDense = windows !== undefined && windows.lateness > 0 && !hasOneSize;
  const isStill = answers.every(({ total }) => total === answers[0]?.total);
  const sizes = sizesServed(answers);
  // A page of another size can be one of a service that ignores sizes in silence.
  const isServed = ({ size }: Answer) => (hasOneSize ? size === list.largest : sizes.has(size));
  const isTotalWrong = counted.filter(isContradicted).some(isServed);
  return failed.length === 0 && (isStill || isDense) && !isTotalWrong;
}

/** Second looks by windows, and complete scans, for rows that would go. A list that moves is looked at more often. */
const looksMax = { still: 3, moving: 12 };

/** Looks a second time for the rows that would go, in the same run and by other addresses. */
export function* confirm(log: AnswerLog, found: Verdict): Asking<Proof> {
  yield* readAroundFailed(log);
  let verdict = found.windows !== undefined && log.failed.length > 0 ? verdictByKey(log) : found;
  // Scans that agree, or show one order, are two absences already.
  let isReadAgain = verdict.isProven && (verdict.rule === 'order' || verdict.rule === 'agreement');
  let [looks, scans, openBefore] = [0, 0, Number.POSITIVE_INFINITY];
  let isFrontSeen = false;
  for (;;) {
    const proof = yield* proofOf(log, verdict, isReadAgain);
    const open = proof.rows.filter(({ decision }) => decision === 'unconfirmed');
    const { windows } = verdict;
    if (open.length === 0) {
      if (isFrontSeen || windows?.direction !== 'down' || !canFrontShow(proof)) return proof;
      isFrontSeen = true;
      yield* lookAtFront(log, windows);
      verdict = yield* closeGaps(log, 'second');
      continue;
    }
    if (windows !== undefined && !log.hasOneSize && looks < looksMax[log.isMoving ? 'moving' : 'still']) {
      const keys = open.map(({ key }) => key).filter(key => !Number.isNaN(key));
      const isStuck = open.length >= openBefore;
      // Sizes from another place on, if the look before has not helped.
      const hasAsked = yield* lookAround(log, windows, keys, { runNo: log.list.run + 17 * looks, isStuck });
      if (!log.isMoving || isStuck) looks++;
      openBefore = open.length;
      if (hasAsked) {
        // Windows of sizes that the service does not serve say nothing.
        if (!log.hasOneSize) verdict = yield* closeGaps(log, 'second');
        if (verdict.rule === 'agreement') {
          // A page of a second look can be the first that is out of order.
          verdict = yield* proveByAgreement(log, verdict.findings);
          isReadAgain = verdict.isProven;
        }
        continue;
      }
    }
    // A list that was on one page is soon read.
    const scansMax = looksMax[verdict.rule === 'page' && log.isMoving ? 'moving' : 'still'];
    if (!verdict.isProven || scans++ >= scansMax) return proof;
    const size = log.hasOneSize ? log.list.largest : sizeOfNextScan(log, scans);
    const options = { isSecondLook: true, hasOtherAddresses: true, isCut: log.isMoving };
    const { problem } = yield* scanFully(log, size, options);
    isReadAgain ||= problem === null; // guard: a further reading is complete
  }
}

/** Whether one more look at the front can show the records that a greater total has counted. */
const canFrontShow = ({ verdict, retained }: Proof): boolean => verdict.isProven && retained?.why === 'copy';

/** Asks for pages around keys, if others than before can show them. If that is stuck, a second end can have a witness, too. */
function* lookAround(
  log: AnswerLog,
  windows: KeyWindows,
  keys: readonly number[],
  { runNo, isStuck }: { readonly runNo: number; readonly isStuck: boolean },
): Asking<boolean> {
  const { pages, across } = pagesToConfirm(windows, keys, log, runNo);
  const claim = log.isMoving && isStuck ? newestClaim(log) : null;
  const witness = claim && pageOfWitness(claim, log);
  const part = pages.slice(0, Math.max(log.partMax, log.answers.length / partsMax));
  // Of two answers that are under way together, none is later than the other.
  const others = part.filter(page => witness === null || !isAt(page, witness));
  yield* log.ask(witness === null ? others : [...others, witness], { isSecondLook: true });
  for (const tie of across) if (!log.hasOneSize) yield* readAcross(log, windows, tie, { isSecondLook: true });
  return pages.length + across.length > 0 || witness !== null;
}

/** The size of one more scan: one that shows the whole list on its page, or one by addresses that the run has not used. */
function sizeOfNextScan(log: AnswerLog, at: number): number {
  const isUnused = (size: number) =>
    !pagesAcross({ from: 0, to: log.total }, size, log.total).some(log.isUsed);
  const { largest } = log.list;
  const sizes = log.otherSizes;
  // If all sizes are used by which the list is on one page, one is left that the service cuts down to its largest.
  const whole = log.total < largest && log.ignoresSizes ? largest : null;
  const unused = sizes.find(size => size > log.total && isUnused(size)) ?? whole ?? sizes.find(isUnused);
  return unused ?? (sizes[at % sizes.length] as number);
}

const partsOfFailed = 6;

/** A page that fails for good is read by ever smaller pages, so that all of its records are shown but those that make it fail. */
export function* readAroundFailed(log: AnswerLog): Asking<void> {
  for (const broken of [...log.failed]) {
    let { index, size } = broken;
    while (size > 1 && !log.hasOneSize) {
      const smaller = Math.ceil(size / partsOfFailed);
      const pages: PageAddress[] = [];
      for (let at = Math.floor((index * size) / smaller); at * smaller < (index + 1) * size; at++)
        pages.push({ index: at, size: smaller });
      const came = yield* log.ask(pages, { stop: answer => answer.wrong?.kind === 'size' });
      const failed = came.filter(({ wrong }) => wrong?.kind === 'failed');
      const [one] = failed;
      if (one === undefined || failed.length > 1) break;
      ({ index, size } = one);
    }
  }
}
