import { isContradicted } from './claims.ts';
import type { AnswerLog, AskOptions } from './log.ts';
import type { Asking } from './questions.ts';
import { type Answer, addressText } from './window.ts';

/** At most this many answers that contradict their total are asked for once more. */
const askedAgainMax = 12;
/** Answers of one address that contradict their totals, at most. */
const sameAddressMax = 4;

/** Asks once more for pages that contradict their totals, unless they are more than that share: then the service does something else. */
export function* askedAgain(
  log: AnswerLog,
  answers: readonly Answer[],
  share: number,
  options: AskOptions,
): Asking<readonly Answer[]> {
  // A total that was counted at another moment is another one in the next answer; a total that is kept is the same.
  const isOpen = (answer: Answer) => {
    const same = answers.filter(other => addressText(other) === addressText(answer));
    const [last, before] = same.toSorted((one, other) => other.asked - one.asked);
    // A page that is not there has no total, but that of the answer before it.
    const isOfBefore = answer.page.count === 0 && answer.total !== log.total;
    const isMoving = before?.total !== answer.total || before.page.count !== answer.page.count || isOfBefore;
    return last === answer && same.filter(isContradicted).length < sameAddressMax && isMoving;
  };
  const odd = answers.filter(answer => isContradicted(answer) && isOpen(answer));
  const most = Math.min(askedAgainMax, Math.ceil(answers.length * share));
  return odd.length > most ? [] : yield* log.ask(odd, options);
}
