import { areTwinsApart } from './across.ts';
import { checkTotal, countedAnswers, endShown } from './claims.ts';
import { type KeyWindows, openRanges, windowsOf } from './cover.ts';
import type { Finding } from './findings.ts';
import type { AnswerLog } from './log.ts';
import type { Answer, Shown } from './window.ts';
import { isOnePageWhole } from './witnesses.ts';

/** How a list is proven, or why it is not. */
export interface Verdict {
  /** One page shows it all; windows on keys do; two complete readings agree, or have to; some whole readings show one order. */
  readonly rule: 'page' | 'key' | 'agreement' | 'order';
  readonly isProven: boolean;
  /** Why it is not proven; none if it is. */
  readonly findings: readonly Finding[];
  /** Only by key. */
  readonly windows?: KeyWindows;
  /** The records that are on several pages of a reading, if there are any. */
  readonly repeated?: Shown;
  /** True if all pages were the same. */
  readonly isPageNoIgnored?: boolean;
}

/** Windows can't prove the list; plain readings might. */
export const agreement = (finding: Finding): Verdict => ({
  rule: 'agreement',
  isProven: false,
  findings: [finding],
});

/** What the answers so far prove without plain readings. */
export function verdictOf(log: AnswerLog): Verdict {
  return isOnePageWhole(log.answers, log.onePage)
    ? { rule: 'page', isProven: true, findings: [] }
    : verdictByKey(log);
}

/** The same by windows alone. */
export function verdictByKey(log: AnswerLog): Verdict {
  const { answers, failed, list } = log;
  const isKnown = (end: Answer) => isEndKnown(end, log);
  const windows = windowsOf(answers, list.learnt, list.identity, 'witnessed', isKnown);
  if (windows === null) return agreement({ code: 'not_in_order' });
  const odd = countedAnswers(answers).findLast(answer => checkTotal(answer) === 'contradicts');
  const finding: Finding =
    odd === undefined
      ? { code: 'changes_too_fast' }
      : { code: 'end_not_shown', total: odd.total, end: endShown(answers) };
  const isWhole = openRanges(windows.chains[0]?.windows ?? []).length === 0;
  if (!isWhole || failed.length > 0) return { rule: 'key', isProven: false, findings: [finding], windows };
  // One of two records of one identity can be a stray: then no page need show both, and plain readings must count them.
  const mayBeStrays = windows.strays > 0; // guard: strays that are twins
  if (mayBeStrays && areTwinsApart(answers, list.overlap + windows.stretch))
    return agreement({ code: 'records_repeated' });
  return { rule: 'key', isProven: true, findings: [], windows };
}

/**
 * Whether the oldest row of a mirror that was proven is the last record of a list of the newest: older records do not come. That
 * counts only if no witness was found, because the list grows with each answer.
 */
function isEndKnown(end: Answer, log: AnswerLog): boolean {
  const { isWitnessMissed, unshown, list } = log;
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
export function isWholeButForWitness({ answers, failed, list }: AnswerLog): boolean {
  const windows = windowsOf(answers, list.learnt, list.identity, 'claimed');
  return failed.length === 0 && openRanges(windows?.chains[0]?.windows ?? []).length === 0;
}
