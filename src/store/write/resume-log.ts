// The answers of a reading that ended early: which of them are noted, and which still count when the next run goes on.

import { type Answer, addressText, type PageAddress } from '../../proof/answers.ts';
import type { Proof } from '../../proof/conclude.ts';
import { checkTotal } from '../../proof/totals.ts';

/** An answer of a reading that ended early. Its page is among those that are remembered. */
export interface LoggedAnswer extends PageAddress, Pick<Answer, 'total' | 'at'> {
  readonly digest: string;
}

/** The answers of a reading that ended early, with which the next run can go on. */
export interface ResumeLog {
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** The total that the run before the reading found; null if there was none. */
  readonly totalBefore: number | null;
  /** The pages that the reading planned when it began, by rows that have changed since; left out if it plans the same again. */
  readonly planned?: readonly PageAddress[];
  readonly answers: readonly LoggedAnswer[];
}

/** How long answers are good enough: a job of each night that ends early every time must get further. */
const ageMsMax = 7 * 24 * 3_600_000;

/** The answers of a resume log that still count if the list has this first page, the oldest first. */
export function answersIn(
  log: ResumeLog | null | undefined,
  { firstPageNo, pageSize }: Pick<ResumeLog, 'firstPageNo' | 'pageSize'>,
  nowMs: number,
): readonly LoggedAnswer[] {
  const isSame = log?.firstPageNo === firstPageNo && log.pageSize === pageSize;
  if (!isSame) return [];
  const isYoung = ({ at }: LoggedAnswer) => nowMs - at < ageMsMax && at <= nowMs; // guard: answers that are too old
  return log.answers.filter(isYoung).sort((a, b) => a.at - b.at);
}

/** The answers with which the next run can go on: full pages by key whose totals fit, and those of `older` not asked for again. */
export function resumable({ verdict, answers }: Proof, older: readonly LoggedAnswer[]): LoggedAnswer[] {
  if (verdict.rule !== 'key') return [];
  const isKept = (answer: Answer) =>
    answer.index > 0 &&
    answer.page.count >= answer.size &&
    checkTotal(answer) === 'agrees' &&
    !answer.isSecondLook &&
    answer.requestedSize === null;
  const kept = new Map(older.map(answer => [addressText(answer), answer]));
  for (const answer of answers) kept.delete(addressText(answer));
  for (const answer of answers.filter(isKept)) {
    const { index, size, total, page } = answer;
    kept.set(addressText(answer), { index, size, total, at: Math.round(answer.at), digest: page.digest });
  }
  return [...kept.values()];
}
