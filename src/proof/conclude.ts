// Phase 7, the conclusion: what the answers prove, why not more, and the decision on each row that none of them has shown.

import { leastOf } from '../contract/extremes.ts';
import { openRanges, type Verdict, type Window } from './cover.ts';
import { type Finding, insteadOf } from './findings.ts';
import type { AnswerLog, ListFacts } from './log.ts';
import { type AbsentRow, type Asking, askAbsent } from './questions.ts';
import { type Retained, retainedOf } from './retained.ts';
import { causeInTotals, copiesIn } from './totals.ts';
import {
  type Answer,
  allKeys,
  beginOf,
  countsOf,
  isAt,
  isIn,
  isOfRun,
  type KeyRange,
  keysOf,
  mostOf,
  type PageAddress,
} from './window.ts';

/** The decision on a row that no answer has shown: removed, to be looked for once more, or left as it is. */
export type Decision = 'gone' | 'unconfirmed' | 'undecided';

/** The result of a full sync: what is proven, and the decision on each row that no answer has shown. */
export interface Proof {
  readonly verdict: Verdict;
  readonly answers: readonly Answer[];
  readonly rows: readonly (AbsentRow & { readonly decision: Decision })[];
  /** Rows at the growing end that stay; null if none do. */
  readonly retained: Retained | null;
  /** The pages that ties had a part in planning; null if they had none. */
  readonly planned: readonly PageAddress[] | null;
  /** Why the list is not proven, or rows of the mirror could not be decided; none if neither is so. */
  readonly findings: readonly Finding[];
}

/** A total that stays at a multiple of this can be a limit. */
const roundTotal = 1_000;

/** What the answers so far prove, with the decisions on the rows that none of them has shown. */
export function* proofOf(log: AnswerLog, found: Verdict, isReadAgain: boolean): Asking<Proof> {
  const { list, answers, failed, total } = log;
  const cause = found.isProven ? null : causeInTotals(answers);
  const copies = cause === null ? copiesIn(answers) : null;
  // Both answers for a removal could be of an old copy, and a reading of two copies is of no one moment.
  const why = cause ?? (copies && { code: 'copies_differ' as const, totals: copies, count: null });
  const findings = why === null ? found.findings : insteadOf(found.findings, why);
  const verdict: Verdict =
    copies === null ? { ...found, findings } : { rule: found.rule, isProven: false, findings };
  const absent = yield* askAbsent([...log.merged, ...(verdict.repeated ? [verdict.repeated] : [])]);
  const isEmpty = answers.every(({ page }) => page.count === 0);
  const isSuddenlyEmpty = isEmpty && absent.length > 0 && list.totalBefore !== 0;
  const isStuck = total > 0 && total % roundTotal === 0 && total === list.totalBefore;
  // A record that went can have a key that is later, by as much as keys can be behind.
  const leeway = 2 * (verdict.windows?.lateness ?? 0);
  const oldestListed = isStuck
    ? leastOf(answers.map(({ page }) => page.least)) + leeway
    : Number.NEGATIVE_INFINITY;
  const evidence: Evidence = {
    isProven: verdict.isProven,
    isReadAgain: isReadAgain && failed.length === 0,
    isSuddenlyEmpty,
    oldestListed,
    byKey: rangesOf(list, verdict),
  };
  const decisions = absent.map(row => ({ ...row, decision: decisionOf(row.key, evidence) }));
  const gone = decisions.filter(({ decision }) => decision === 'gone');
  const retained = retainedOf(log, verdict, gone, decisions.length - gone.length);
  const rows = decisions.map(row =>
    retained?.rows.has(row) ? { ...row, decision: 'undecided' as const } : row,
  );
  const planned = log.plan.byTies;
  return { verdict, answers, rows, retained, planned, findings: whyUnproven() };

  function whyUnproven(): readonly Finding[] {
    if (failed.length > 0) return insteadOf(verdict.findings, failedPages(failed, list.largest));
    if (!verdict.isProven) return verdict.findings;
    const count = rows.filter(({ decision }) => decision !== 'gone').length;
    if (count === 0) return [];
    if (isSuddenlyEmpty) return [{ code: 'list_emptied', count }];
    if (absent.some(({ key }) => key <= oldestListed)) return [{ code: 'newest_only', total, count }];
    if (retained?.why === 'copy')
      return [{ code: 'copies_differ', totals: [retained.counted, retained.other], count }];
    return [{ code: retained?.why === 'filled' ? 'list_refilled' : 'not_confirmed', count }];
  }
}

/** What the answers of a run say of rows that none of them has shown. */
interface Evidence {
  readonly isProven: boolean;
  /** True if the list had records and seems to be empty all at once: that is believed only the second time. */
  readonly isSuddenlyEmpty: boolean;
  /** Rows with no greater keys stay, because the service seems to list its newest records only; minus infinity if it does not. */
  readonly oldestListed: number;
  /** Whether one more complete reading by other pages has not shown these rows either. */
  readonly isReadAgain: boolean;
  /** Keys that no window covers, and that no window of a later look at other addresses covers; null if the proof is not by key. */
  readonly byKey: { readonly open: readonly KeyRange[]; readonly unconfirmed: readonly KeyRange[] } | null;
}

/** The decision on an absent row by its key: it goes only if two answers of this run, at two addresses, say so. NaN is in no window. */
function decisionOf(key: number, evidence: Evidence): Decision {
  const { isProven, isReadAgain, byKey } = evidence;
  if (evidence.isSuddenlyEmpty) return 'undecided'; // guard: a list that is suddenly empty
  if (key <= evidence.oldestListed) return 'undecided'; // guard: a list of the newest
  const isIncluded = (ranges: readonly KeyRange[]) => ranges.some(range => isIn(key, range));
  const hasKey = byKey !== null && !Number.isNaN(key);
  const isCovered = hasKey ? !isIncluded(byKey.open) : isProven; // guard: only what a window covers goes
  if (!isCovered) return 'undecided';
  const isConfirmed = isReadAgain || (hasKey && !isIncluded(byKey.unconfirmed)); // guard: two answers for a removal
  return isConfirmed ? 'gone' : 'unconfirmed';
}

const failedNamedMax = 20;

/** The pages of the list's own size in which something fails for good. */
function failedPages(failed: readonly Answer[], pageSize: number): Finding {
  const pages = new Set(failed.map(answer => Math.floor(beginOf(answer) / pageSize) + 1));
  const named = [...pages].slice(0, failedNamedMax);
  return { code: 'page_failed', pages: named, count: pages.size, pageSize };
}

/** The answers that a proof rests on. If readings prove it, one of an earlier run counts if it alone shows as many of some record. */
export function answersInUse({ answers, verdict }: Pick<Proof, 'answers' | 'verdict'>): readonly Answer[] {
  if (verdict.rule === 'key' || answers.every(isOfRun)) return answers;
  const most = mostOf(answers.filter(isOfRun).map(({ page }) => page));
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
  const isElsewhere = ({ answer }: Window) => !isAt(answer, (one as Window).answer);
  if (one === undefined || first.some(isOfEnd) || !others.some(isElsewhere)) return [first, second];
  return [[...first, one], second.filter(window => window !== one)];
}

/** The keys of a list by windows that are not covered, and those that a second look has not covered. */
function rangesOf({ learnt }: ListFacts, { windows, isProven }: Verdict): Evidence['byKey'] {
  if (windows === undefined) return null;
  const { direction, lateness, outliers } = windows;
  const openIn = (some: readonly Window[]) => openRanges(some).map(range => keysOf(range, direction));
  const unconfirmed = looksOf(windows.windows).flatMap(openIn); // guard: a second look
  // If no run before has seen the lateness, it can be too small, and an outlier can be anywhere: then only a list that is proven loses rows.
  const isLatenessKnown =
    outliers === 0 && lateness <= (learnt === null || learnt === 'none' ? 0 : learnt.lateness);
  const mayGo = isLatenessKnown || isProven; // guard: removals by a new lateness
  return { open: mayGo ? openIn(windows.windows) : [allKeys], unconfirmed };
}
