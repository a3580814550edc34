import { countedAnswers, isOfEmptyList } from './claims.ts';
import { type KeyOrder, type LearntOrder, orderOf } from './order.ts';
import { type Answer, allKeys, type Identity, type KeyRange, type PageItems } from './window.ts';
import { endingAnswers, endsClaimed } from './witnesses.ts';

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
export function windowsOf(
  heard: readonly Answer[],
  learnt: LearntOrder,
  by: Identity,
  ends: 'witnessed' | 'claimed' = 'witnessed',
  isKnown: (end: Answer) => boolean = () => false,
): KeyWindows | null {
  const order = orderOf(heard, learnt);
  if (order === null) return null;
  const { direction, slack, strays } = order;
  const counted = countedAnswers(heard);
  const ending = ends === 'claimed' ? endsClaimed(counted) : endingAnswers(counted, direction, isKnown);
  const windows = counted.flatMap(answer => windowOf(answer, ending.has(answer)) ?? []);
  return { ...order, windows, chains: chainsOf(windows) };

  function windowOf(answer: Answer, ends: boolean): Window | null {
    if (isOfEmptyList(answer)) return ends ? { ...allKeys, answer } : null;
    if (answer.page.count === 0) return null;
    const isFirst = answer.index === 0;
    const areEdgesIn = by === 'id' && slack === 0 && strays === 0; // guard: ties at the edges
    const [least, greatest] = answer.page.edges(direction, strays);
    const from = isFirst ? allKeys.from : least + slack; // guard: slack before a page
    const to = ends ? allKeys.to : greatest - slack; // guard: slack after a page
    if (from > to) return null;
    const range = { from, to, isFromIn: isFirst || areEdgesIn, isToIn: ends || areEdgesIn };
    const covered = answer.only === undefined ? range : common(range, answer.only); // guard: pages read across say nothing of other keys
    return covered && { answer, ...covered };
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

/** The keys that are in two ranges; null if there are none. */
function common(one: KeyRange, other: KeyRange): KeyRange | null {
  const [from, to] = [[one, other].map(beginOfRange), [one, other].map(endOfRange)];
  const begin = from.reduce((a, b) => (compare(a, b) < 0 ? b : a));
  const end = to.reduce((a, b) => (compare(a, b) < 0 ? a : b));
  return compare(begin, end) < 0 ? between(begin, end) : null;
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

/** Windows before a window that are searched for a record in both. More overlap only if pages repeat. */
const neighboursMax = 6;

/** The chains of windows, in the order of their first keys. A chain inside the keys of others is left out. */
function chainsOf(all: readonly Window[]): Chain[] {
  const sorted = all.toSorted(byBegin);
  const groups = new Groups(sorted.length);
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
  const recordsIn = ({ keys, records }: PageItems) =>
    records.filter((_, at) => (keys[at] as number) >= least && (keys[at] as number) <= greatest);
  const shown = new Set(recordsIn(a));
  return recordsIn(b).some(record => shown.has(record));
}

/** Things that are joined into groups; each is named by one of its members. */
export class Groups {
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
