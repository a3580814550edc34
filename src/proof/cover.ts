// Phase 2, windows: which keys the answers cover, and what that proves. Each later phase asks it again.

import { type Answer, areDuplicatesApart, type Shown } from './answers.ts';
import type { Finding } from './findings.ts';
import { allKeys, type KeyRange } from './keys.ts';
import type { AnswerLog } from './log.ts';
import { type KeyOrder, orderOf } from './order.ts';
import type { PageItems } from './page-items.ts';
import { endShown, isContradicted } from './totals.ts';
import { endingAnswers, endsClaimed, isOnePageWhole } from './witnesses.ts';

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

/** Windows can't prove the list, and the finding says why; full scans might. */
export const needsFullScans = (finding: Finding): Verdict => ({
  rule: 'agreement',
  isProven: false,
  findings: [finding],
});

/** What the answers so far prove without full scans. */
export function verdictOf(log: AnswerLog): Verdict {
  return isOnePageWhole(log) ? { rule: 'page', isProven: true, findings: [] } : verdictByKey(log);
}

/** The same by windows alone. */
export function verdictByKey(log: AnswerLog): Verdict {
  const { answers, failed, list } = log;
  const windows = windowsOf(log, 'witnessed');
  if (windows === null) return needsFullScans({ code: 'not_in_order' });
  const odd = log.counted.findLast(isContradicted);
  const finding: Finding =
    odd === undefined
      ? { code: 'changes_too_fast' }
      : { code: 'end_not_shown', total: odd.total, end: endShown(answers) };
  if (openRanges(firstChain(windows)).length > 0 || failed.length > 0)
    return { rule: 'key', isProven: false, findings: [finding], windows };
  // One of two records of one identity can be an outlier: then no page need show both, and full scans must count them.
  const mayBeOutliers = windows.outliers > 0; // guard: outliers that are duplicates
  if (mayBeOutliers && areDuplicatesApart(answers, list.overlap + windows.extraOverlap))
    return needsFullScans({ code: 'records_repeated' });
  return { rule: 'key', isProven: true, findings: [], windows };
}

/**
 * Whether the oldest row of a mirror that was proven is the last record of a list of the newest: older records do not come. That
 * counts only if no witness was found, because the list grows with each answer.
 */
function isEndKnown(end: Answer, log: AnswerLog): boolean {
  const { isWitnessMissed, absent, list } = log;
  const { page } = end;
  if (!isWitnessMissed || absent === null || list.isAfterCleanRun !== true) return false;
  if (page.count === 0 || page.lateness('down', 0) > 0) return false;
  const isNew = end.oldestNewKeys.some(key => key <= page.least);
  return !isNew && absent.every(({ key }) => key > page.least); // guard: the oldest row ends a list of the newest
}

/** Whether nothing is open but for a witness of the end. */
export function isWholeButForWitness(log: AnswerLog): boolean {
  return log.failed.length === 0 && openRanges(firstChain(windowsOf(log, 'claimed'))).length === 0;
}

/** The keys that an answer covers. */
export interface Window extends KeyRange {
  readonly answer: Answer;
}

/** The windows of a run on the keys of a list, and how they are linked. */
export interface KeyWindows extends KeyOrder {
  readonly windows: readonly Window[];
  readonly chains: readonly Chain[];
}

/** The windows of a list whose answers are in the order of a key; null if they are not. `ends` says whether an end needs a witness. */
export function windowsOf(log: AnswerLog, ends: 'witnessed' | 'claimed'): KeyWindows | null {
  const { answers, counted, list } = log;
  const order = orderOf(answers, list.learnt);
  if (order === null) return null;
  const { direction, lateness, outliers } = order;
  const isKnown = (end: Answer) => isEndKnown(end, log);
  const ending = ends === 'claimed' ? endsClaimed(counted) : endingAnswers(counted, direction, isKnown);
  const windows = counted.flatMap(answer => windowOf(answer, ending.has(answer)) ?? []);
  return { ...order, windows, chains: chainsOf(windows) };

  function windowOf(answer: Answer, ends: boolean): Window | null {
    if (answer.page.count === 0 && !ends) return null;
    const isFirst = answer.index === 0;
    const areEdgesIn = list.identity === 'id' && lateness === 0 && outliers === 0; // guard: ties at the edges
    const [least, greatest] = answer.page.edges(direction, outliers);
    const from = isFirst ? allKeys.from : least + lateness; // guard: lateness before a page
    const to = ends ? allKeys.to : greatest - lateness; // guard: lateness after a page
    if (from > to) return null;
    const range = { from, to, isFromIn: isFirst || areEdgesIn, isToIn: ends || areEdgesIn };
    if (answer.only === undefined) return { answer, ...range };
    const [covered] = openRanges(openRanges([range], answer.only), answer.only); // guard: pages read across say nothing of other keys
    return covered === undefined ? null : { answer, ...covered };
  }
}

/** The parts of `within` that no window covers, in their order. */
export function openRanges(windows: readonly KeyRange[], within: KeyRange = allKeys): KeyRange[] {
  const open: KeyRange[] = [];
  const end = endOfRange(within);
  /** All keys before this edge are covered. */
  let reach = beginOfRange(within);
  for (const window of windows.toSorted(byBegin)) {
    const [from, to] = [beginOfRange(window), endOfRange(window)];
    // A page whose records all share one key covers nothing if that key can also be outside the page.
    if (compare(from, to) >= 0) continue;
    if (compare(from, end) >= 0) break;
    if (compare(from, reach) > 0) open.push(between(reach, from));
    if (compare(to, reach) > 0) reach = to;
  }
  if (compare(reach, end) < 0) open.push(between(reach, end));
  return open;
}

/** The edge of a range: before a key, or behind it. */
type Edge = readonly [key: number, isBehind: boolean];
const beginOfRange = ({ from, isFromIn }: KeyRange): Edge => [from, !isFromIn];
const endOfRange = ({ to, isToIn }: KeyRange): Edge => [to, isToIn];
const between = (a: Edge, b: Edge): KeyRange => ({ from: a[0], isFromIn: !a[1], to: b[0], isToIn: b[1] });
const compare = (a: Edge, b: Edge): number => (a[0] === b[0] ? Number(a[1]) - Number(b[1]) : a[0] - b[0]);
const byBegin = (a: KeyRange, b: KeyRange): number =>
  compare(beginOfRange(a), beginOfRange(b)) || a.to - b.to || 0;

/** Windows that are linked because each shares a record with another, in the order of their keys. */
export interface Chain {
  readonly windows: readonly Window[];
  /** The window that reaches furthest. */
  readonly last: Window;
}

/** The windows that begin first, and are linked. */
const firstChain = (windows: KeyWindows | null): readonly Window[] => windows?.chains[0]?.windows ?? [];

/** Windows before a window that are searched for a record in both. More overlap only if pages repeat. */
const neighboursMax = 6;

/** The chains of windows, in the order of their first keys. A chain inside the keys of others is left out. */
function chainsOf(all: readonly Window[]): Chain[] {
  const sorted = all.toSorted(byBegin);
  const groups = new DisjointSet(sorted.length);
  let furthest = 0;
  for (const [at, window] of sorted.entries()) {
    const join = (other: number) => {
      const earlier = sorted[other] as Window;
      if (groups.of(other) === groups.of(at)) return;
      const areLinked = shareRecord(earlier.answer.page, window.answer.page); // guard: neighbours share a record
      if (areLinked) groups.join(other, at);
    };
    for (let other = Math.max(0, at - neighboursMax); other < at; other++) join(other);
    if (furthest < at) join(furthest);
    if (window.to >= (sorted[furthest] as Window).to) furthest = at;
  }
  const places = Map.groupBy(sorted.keys(), at => groups.of(at));
  const chains = [...places.values()].map(its => {
    const own = its.map(at => sorted[at] as Window);
    return { windows: own, last: own.reduce((best, window) => (window.to > best.to ? window : best)) };
  });
  const beginOf = ({ windows }: Chain) => beginOfRange(windows[0] as Window);
  chains.sort((a, b) => compare(beginOf(a), beginOf(b)) || b.last.to - a.last.to || 0);
  return chains.filter(({ last }, at) => chains.slice(0, at).every(before => before.last.to < last.to));
}

/** Whether two pages show the same record. Only the keys that both can have are looked at. */
function shareRecord(a: PageItems, b: PageItems): boolean {
  const [least, greatest] = [Math.max(a.least, b.least), Math.min(a.greatest, b.greatest)];
  if (least > greatest) return false;
  const isInBoth = (key: number) => key >= least && key <= greatest;
  const shown = new Set<number>();
  for (const [at, key] of a.keys.entries()) if (isInBoth(key)) shown.add(a.records[at] as number);
  return b.keys.some((key, at) => isInBoth(key) && shown.has(b.records[at] as number));
}

/** Things that are joined into groups; each is named by one of its members. */
export class DisjointSet {
  readonly #parents: Int32Array;

  constructor(count: number) {
    this.#parents = new Int32Array(count).map((_, at) => at);
  }

  of(at: number): number {
    let group = at;
    while (this.#parents[group] !== group) group = this.#parents[group] as number;
    this.#parents[at] = group;
    return group;
  }

  join(a: number, b: number): void {
    this.#parents[this.of(b)] = this.of(a);
  }
}
