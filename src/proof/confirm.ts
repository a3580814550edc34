import { readAcross } from './across.ts';
import { proveByAgreement } from './agreement.ts';
import { type Proof, proofOf } from './conclude.ts';
import type { KeyWindows } from './cover.ts';
import { closeGaps, partsMax } from './gaps.ts';
import type { AnswerLog } from './log.ts';
import { readPlainly } from './plain-reading.ts';
import type { Asking } from './questions.ts';
import { pagesAcross, pagesToConfirm } from './repairs.ts';
import { type Verdict, verdictByKey } from './verdict.ts';
import type { PageAddress } from './window.ts';
import { newestClaim, pageOfWitness } from './witnesses.ts';

/** Second looks by windows, and complete readings, for rows that would go. A list that moves is looked at more often. */
const looksMax = { still: 3, moving: 12 };
const furtherReadingsMax = 3;

/** Looks a second time for the rows that would go, in the same run and by other addresses. */
export function* confirm(log: AnswerLog, found: Verdict, repairsBefore: number | null = null): Asking<Proof> {
  const { list } = log;
  yield* readAroundFailed(log);
  let verdict = found.windows !== undefined && log.failed.length > 0 ? verdictByKey(log) : found;
  // Readings that agree, or show one order, are two absences already.
  let isReadAgain = verdict.rule === 'order' || verdict.rule === 'agreement';
  let [looks, readings, openBefore] = [0, 0, Number.POSITIVE_INFINITY];
  for (;;) {
    const proof = yield* proofOf(log, verdict, isReadAgain);
    const open = proof.rows.filter(({ fate }) => fate === 'unconfirmed');
    if (open.length === 0) return proof;
    const { windows } = verdict;
    if (windows !== undefined && !log.hasOneSize && looks < looksMax[log.isMoving ? 'moving' : 'still']) {
      const keys = open.map(({ key }) => key).filter(key => !Number.isNaN(key));
      const isStuck = open.length >= openBefore;
      // Other sizes than those of the look before.
      const hasAsked = yield* lookAround(log, windows, keys, { runNo: list.run + 17 * looks, isStuck });
      if (!log.isMoving || isStuck) looks++;
      openBefore = open.length;
      if (hasAsked) {
        // Windows of sizes that the service does not serve say nothing.
        if (!log.hasOneSize)
          verdict = yield* closeGaps(log, { isSecondLook: true, isFrontSeen: true, repairsBefore });
        if (verdict.rule === 'agreement') {
          // A page of a second look can be the first that is out of order.
          verdict = yield* proveByAgreement(log, verdict.findings);
          isReadAgain = verdict.isProven;
        }
        continue;
      }
    }
    if (!verdict.isProven || readings++ >= furtherReadingsMax) return proof;
    const size = log.hasOneSize ? list.largest : sizeFor(log, readings);
    const { problem } = yield* readPlainly(log, size, {
      isSecondLook: true,
      isOtherwise: true,
      isCut: log.isMoving,
    });
    isReadAgain ||= problem === null; // guard: a further reading is complete
  }
}

/** Asks for pages around keys, if others than before can show them. If that is stuck, a second end can have a witness, too. */
function* lookAround(
  log: AnswerLog,
  windows: KeyWindows,
  keys: readonly number[],
  { runNo, isStuck }: { readonly runNo: number; readonly isStuck: boolean },
): Asking<boolean> {
  const { list, answers, total, isUsed, isMoving } = log;
  const { pages, across } = pagesToConfirm(windows, keys, total, { ...list, run: runNo }, isUsed);
  const claim = isMoving && isStuck ? newestClaim(answers) : null;
  const witness = claim && pageOfWitness(claim, answers, list, isUsed);
  const part = pages.slice(0, Math.max(log.partMax, answers.length / partsMax));
  yield* log.ask(witness === null ? part : [...part, witness], { isSecondLook: true });
  for (const tie of across) if (!log.hasOneSize) yield* readAcross(log, windows, tie, { isSecondLook: true });
  return pages.length + across.length > 0 || witness !== null;
}

/** The size of one more reading: one that shows the whole list on its page, or one by addresses that the run has not used. */
function sizeFor(log: AnswerLog, at: number): number {
  const isUnused = (size: number) =>
    !pagesAcross({ from: 0, to: log.total }, size, log.total).some(log.isUsed);
  const { largest } = log.list;
  const sizes = log.otherSizes;
  // If all sizes are used by which the list is on one page, one is left that the service cuts down to its largest.
  const whole = log.total < largest && log.ignoresSizes ? largest : null;
  const unused = sizes.find(size => size > log.total && isUnused(size)) ?? whole ?? sizes.find(isUnused);
  return unused ?? (sizes[at % sizes.length] as number);
}

/** A page that fails is read by so many smaller ones. */
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
