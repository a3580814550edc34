// Phase 7, the conclusion: what the answers prove, why not more, and the decision on each row that none of them has shown.

import { greatestOf, leastOf } from '../contract/extremes.ts';
import { type Answer, beginOf, endOf, inTime, isAt, isOfRun, type PageAddress } from './answers.ts';
import { openRanges, type Verdict, type Window } from './cover.ts';
import { type Finding, insteadOf } from './findings.ts';
import { allKeys, type Direction, isIn, type KeyRange, keysOf } from './keys.ts';
import type { AnswerLog, KeysBeyond, ListFacts } from './log.ts';
import { type KeyOrder, orderOf } from './order.ts';
import { countsOf, mostOf } from './page-items.ts';
import { type AbsentRow, type Asking, askOne } from './questions.ts';
import { causeInTotals, copiesIn, copyStepMin, haveStep, totalsInTime } from './totals.ts';

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
  const merged = [...log.merged, ...(verdict.repeated ? [verdict.repeated] : [])];
  const { rows: absent } = yield* askOne({ kind: 'absent', merged });
  const isEmpty = answers.every(({ page }) => page.count === 0);
  const isSuddenlyEmpty = isEmpty && absent.length > 0 && list.totalBefore !== 0;
  const isStuck = total > 0 && total % roundTotal === 0 && total === list.totalBefore;
  // A record that went can have a key that is later, by as much as keys can be behind.
  const leeway = 2 * (verdict.windows?.lateness ?? 0);
  const oldestListed = isStuck
    ? leastOf(answers.map(({ page }) => page.least)) + leeway
    : Number.NEGATIVE_INFINITY;
  const byAnswers = decisionsBy(list, verdict, isReadAgain && failed.length === 0);
  const isKept = (key: number) =>
    isSuddenlyEmpty || // guard: a list that is suddenly empty
    key <= oldestListed; // guard: a list of the newest
  const decisionOf = (key: number): Decision => (isKept(key) ? 'undecided' : byAnswers(key));
  const decisions = absent.map(row => ({ ...row, decision: decisionOf(row.key) }));
  const gone = decisions.filter(({ decision }) => decision === 'gone');
  const retained = yield* retainedOf(log, verdict, gone);
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

/**
 * The decision on an absent row by its key: it goes only if two answers of this run, at two addresses, say so. NaN is in no window.
 * `isReadAgain` says whether one more complete reading by other pages has not shown such rows either.
 */
function decisionsBy(list: ListFacts, verdict: Verdict, isReadAgain: boolean): (key: number) => Decision {
  const byKey = rangesOf(list, verdict);
  const isIncluded = (key: number, ranges: readonly KeyRange[]) => ranges.some(range => isIn(key, range));
  return key => {
    const hasKey = byKey !== null && !Number.isNaN(key);
    const isCovered = hasKey ? !isIncluded(key, byKey.open) : verdict.isProven; // guard: only what a window covers goes
    if (!isCovered) return 'undecided';
    const isConfirmed = isReadAgain || (hasKey && !isIncluded(key, byKey.unconfirmed)); // guard: two answers for a removal
    return isConfirmed ? 'gone' : 'unconfirmed';
  };
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

/** Keys that no window covers, and those that no window of a later look at other addresses covers; null if the proof is not by key. */
function rangesOf({ learnt }: ListFacts, { windows, isProven }: Verdict) {
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

// A copy of the list that lags lacks its newest records, and so does a table that is emptied each night and being filled again. Two answers
// of it are no sign of a deletion. But a total moves by several records at once if the next answer comes from another copy, and while a
// table is filled all totals rise.

/** So many rows at the growing end, and this share of the list, can be those that are not filled in yet. */
const filledMin = 10;
const filledShare = 1 / 10;
/** For each of these rows so many later records can be listed, because they have just arrived, or the copy got them first. */
const lateShare = { copy: 1 / 2, filled: 1 / 10 } as const;
/** If later ones are listed, this share of all rows that would go has to be at the end of a list that is being filled. */
const atEndShare = 3 / 4;

/** Rows that stay at the growing end: an earlier total counted them, or the list seems to be being filled. */
export type Retained = { readonly rows: ReadonlySet<AbsentRow> } & (
  | { readonly why: 'copy'; readonly counted: number; readonly other: number }
  | { readonly why: 'filled'; readonly end: KeysBeyond }
);

/**
 * The rows at the growing end that stay; null if none need to.
 *
 * @param gone rows that two answers do not show.
 */
function* retainedOf(log: AnswerLog, verdict: Verdict, gone: readonly AbsentRow[]): Asking<Retained | null> {
  if (gone.length === 0) return null;
  const { list, answers, misplaced } = log;
  const fresh = inTime(answers.filter(isOfRun));
  const totals = [...(list.totalsTried ?? []), ...totalsInTime([...fresh, ...misplaced])]; // guard: totals of pages by another size
  const order = verdict.windows ?? orderOf(answers, list.learnt);
  const seen: Seen = { fresh, totals, order, gone };
  const asOfCopy = haveStep(totals) ? yield* retainedAsOfCopy(log, seen) : null;
  return asOfCopy ?? retainedAsFilled(list.retained ?? null, seen);
}

/** What a run has seen of a list from which rows would go. */
interface Seen {
  readonly fresh: readonly Answer[];
  /** In the order in which they were asked for. */
  readonly totals: readonly number[];
  /** Null if no order is seen. */
  readonly order: KeyOrder | null;
  readonly gone: readonly AbsentRow[];
}

/** The rows that stay because another copy can have them: a total fell, or one counted more than was shown. */
function* retainedAsOfCopy({ answers }: AnswerLog, seen: Seen): Asking<Retained | null> {
  const { fresh, totals, order } = seen;
  const [most, least] = [greatestOf(totals), leastOf(totals)];
  const shown = [...mostOf(answers.map(({ page }) => page)).values()].reduce((sum, count) => sum + count, 0);
  // What came or went meanwhile can hide what a copy lacks, so after a fall no count says that all is shown.
  const hasFallen = totals.some((total, at) => (totals[at - 1] ?? total) - total >= copyStepMin); // guard: a total that fell
  if (!hasFallen && most <= shown) return null; // guard: rows that an earlier total counted
  const added = hasFallen && order !== null ? (yield* askOne({ kind: 'added' })).count : 0;
  // A row can be out of order, so that its place is before one that the copy lacks, too.
  const more = hasFallen ? added + 1 : 0;
  const upTo = leastEndOf(fresh, order?.direction ?? 'up');
  const { rows } = rowsAtEnd(seen, { upTo, share: lateShare.copy, more });
  return rows.length === 0 ? null : { why: 'copy', counted: most, other: least, rows: new Set(rows) };
}

/** The rows that stay because the list seems to be being filled; not those `before`, which the last run let stay. */
function retainedAsFilled(before: KeysBeyond | null, seen: Seen): Retained | null {
  const { totals, order, gone } = seen;
  const upTo = Number.POSITIVE_INFINITY;
  const { end, rows: atEnd, newer } = rowsAtEnd(seen, { upTo, share: lateShare.filled, more: 0 });
  const rows = atEnd.filter(row => before === null || !isAtEnd(row, before)); // guard: rows that were retained before
  const [first = 0, last = 0] = [totals[0], totals.at(-1)];
  // Requests that are under way together are answered in any order.
  const isRising = totals.every((total, at) => total > (totals[at - 1] ?? 0) - copyStepMin) && last > first;
  const least = Math.max(filledMin, filledShare * (last + atEnd.length));
  // But for newer ones, the list rises by rows that were not filled in before.
  const filled = order === null ? 0 : Math.max(0, last - first - newer);
  // Rows that have gone from everywhere are also gone from the end.
  const areThere = newer === 0 || atEnd.length >= atEndShare * gone.length;
  const isFilled = isRising && areThere && rows.length > 0 && rows.length + filled >= least; // guard: a list that is being filled
  return isFilled ? { why: 'filled', end, rows: new Set(rows) } : null;
}

interface EndOptions {
  /** Listed records with greater keys do not count. */
  readonly upTo: number;
  /** So many later records can be listed for each row. */
  readonly share: number;
  /** So many more can be listed: as many as are new, for example. */
  readonly more: number;
}

/** The rows at the end, with only a few listed records between them, and how many these are; all rows if no order is seen. */
function rowsAtEnd({ fresh, order, gone }: Seen, { upTo, share, more }: EndOptions) {
  if (order === null) return { end: { beyond: null }, rows: gone, newer: 0 };
  const sorted = gone.filter(({ key }) => !Number.isNaN(key)).sort((a, b) => b.key - a.key);
  const all = keysAbove(fresh, sorted.at(-1)?.key ?? Number.POSITIVE_INFINITY);
  const keys = all.filter(key => key <= upTo);
  // New records have the newest keys.
  const moreHere = Math.max(0, more - (all.length - keys.length));
  let [listed, newer, beyond] = [0, 0, Number.POSITIVE_INFINITY];
  for (const [at, { key }] of sorted.entries()) {
    while ((keys[listed] ?? key) > key + order.lateness) listed++;
    if (listed <= moreHere + share * (at + 1)) [newer, beyond] = [listed, key]; // guard: rows before a few late ones
  }
  return { end: { beyond }, rows: sorted.filter(row => isAtEnd(row, { beyond })), newer };
}

// Several records can share the newest key.
const isAtEnd = ({ key }: AbsentRow, { beyond }: KeysBeyond): boolean => beyond === null || key >= beyond;

/** The keys of the records that answers show, each once, if they are above one; the greatest first. */
function keysAbove(answers: readonly Answer[], least: number): Float64Array {
  const keys = new Map<number, number>();
  for (const { page } of answers)
    if (page.greatest > least)
      for (const [at, key] of page.keys.entries()) if (key > least) keys.set(page.records[at] as number, key);
  return Float64Array.from(keys.values()).sort().reverse();
}

/** The greatest key of one answer of the growing end: of the one that shows the fewest; infinite if there is none. */
function leastEndOf(answers: readonly Answer[], direction: Direction): number {
  const isOfEnd = (answer: Answer) =>
    direction === 'down' ? answer.index === 0 : endOf(answer) === answer.total;
  const ends = answers.filter(answer => answer.page.count > 0 && isOfEnd(answer));
  return leastOf(ends.map(({ page }) => page.greatest));
}
