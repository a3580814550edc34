import { joinReadings } from './across.ts';
import { proveByAgreement } from './agreement.ts';
import { checkTotal, countedAnswers, isFull, sizesServed } from './claims.ts';
import { type Proof, proofOf } from './conclude.ts';
import { confirm } from './confirm.ts';
import type { KeyWindows } from './cover.ts';
import type { ListFacts } from './facts.ts';
import { closeGaps, type Look } from './gaps.ts';
import { AnswerLog, pagesBeyondMax } from './log.ts';
import { type Asking, EndedEarly } from './questions.ts';
import { openTies } from './repairs.ts';
import { areShort } from './totals.ts';
import { isWholeButForWitness, type Verdict, verdictByKey, verdictOf } from './verdict.ts';
import type { Answer } from './window.ts';
import { proveByWindows } from './windows.ts';

/**
 * Reads a whole list until one of the four rules of docs/proof.md proves it, and then looks a second time for rows that would go. Its phases,
 * in this order: windows by a plan and the gaps between them, the front of a list of the newest, plain readings and the gaps that these
 * leave, and the second look.
 */
export function* prove(list: ListFacts): Asking<Proof> {
  const log = new AnswerLog(list);
  try {
    let verdict = yield* withFront(log, yield* proveByWindows(log), null);
    let repairsBefore: number | null = null;
    if (!verdict.isProven && (verdict.rule === 'agreement' || mayReadPlainly(log, verdict))) {
      const plain = yield* proveByAgreement(log, verdict.findings);
      const { repairs } = log;
      const closed = plain.isProven ? null : yield* closeGapsOfReadings(log);
      if (closed !== null) repairsBefore = repairs;
      if (plain.isProven || verdict.rule === 'agreement') verdict = plain;
      if (closed?.isProven) verdict = closed;
    }
    return yield* confirm(log, verdict, repairsBefore);
  } catch (error) {
    if (!(error instanceof EndedEarly)) throw error;
    // A window says what it says, whether or not others follow.
    yield* log.lookUpRows();
    return yield* proofOf(log, { ...verdictOf(log), isProven: false, findings: [error.finding] }, false);
  }
}

/** If the newest are first, their front is read again before windows prove the list. */
function* withFront(log: AnswerLog, verdict: Verdict, repairsBefore: number | null): Asking<Verdict> {
  const { windows } = verdict;
  const isWhole = verdict.isProven || isWholeButForWitness(log);
  if (!isWhole || windows?.direction !== 'down') return verdict; // guard: the front again
  yield* lookAtFront(log, windows);
  return yield* closeGaps(log, { isSecondLook: false, isFrontSeen: true, repairsBefore });
}

/**
 * The pages of readings that do not agree are windows, too. If few keys are open, for example where the order of ties changes, others show
 * these. Null if there are none, or if that would be pointless.
 */
function* closeGapsOfReadings(log: AnswerLog): Asking<Verdict | null> {
  const { windows } = verdictByKey(log);
  // Ids are never shared, and one that readings have shown twice is in the list twice.
  const isPointless = log.list.identity === 'id' || log.hasOneSize || log.failed.length > 0;
  if (windows === undefined || isPointless) return null;
  joinReadings(log, windows, openTies(windows, log.total));
  const look: Look = { isSecondLook: false, isFrontSeen: false, repairsBefore: log.repairs };
  return yield* withFront(log, yield* closeGaps(log, look), look.repairsBefore);
}

/** A record that gets a new time moves to the front. So the front is read again, by another size, to what the first answer has shown. */
function* lookAtFront(log: AnswerLog, { slack }: KeyWindows): Asking<void> {
  const [first] = log.answers;
  const [size] = log.otherSizes;
  const known = (first?.page.greatest ?? Number.NEGATIVE_INFINITY) - slack;
  for (let index = 0; index <= pagesBeyondMax && log.list.largest > 1 && size !== undefined; index++) {
    const [answer] = yield* log.ask([{ index, size }]);
    const goesOn = answer !== undefined && answer.wrong === null && isFull(answer);
    if (!goesOn || answer.page.least <= known) break;
  }
}

/** Whether plain readings can prove more than windows: if all totals are the same, or a page can be denser than its slack. */
function mayReadPlainly({ list, answers, failed, hasOneSize }: AnswerLog, { windows }: Verdict): boolean {
  if (areShort(answers)) return false;
  const isDense = windows !== undefined && windows.slack > 0 && !hasOneSize;
  const isStill = answers.every(({ total }) => total === answers[0]?.total);
  const sizes = sizesServed(answers);
  // A page of another size can be one of a service that ignores sizes in silence.
  const isServed = ({ size }: Answer) => (hasOneSize ? size === list.largest : sizes.has(size));
  const isWrong = (answer: Answer) => checkTotal(answer) === 'contradicts' && isServed(answer);
  const isTotalWrong = countedAnswers(answers).some(isWrong);
  return failed.length === 0 && (isStill || isDense) && !isTotalWrong;
}
