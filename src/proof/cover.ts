import { checkTotal, countedAnswers, endingAnswers, isOfEmptyList } from './ends.ts';
import { Groups } from './numbers.ts';
import { type KeyOrder, type LearntOrder, orderOf } from './order.ts';
import {
  type Answer,
  allKeys,
  type Identity,
  isSameRecord,
  type KeyRange,
  type PageItems,
} from './window.ts';

/** The keys that an answer covers. */
export interface Window extends KeyRange {
  readonly answer: Answer;
}

/** The windows of a run on the keys of a list, and how they are linked. */
export interface KeyWindows extends KeyOrder {
  readonly windows: readonly Window[];
  readonly chains: readonly Chain[];
}

/** The windows of a list whose answers are in the order of a key; null if they are not. */
export function windowsOf(
  answers: readonly Answer[],
  learnt: LearntOrder,
  identity: Identity,
): KeyWindows | null {
  const order = orderOf(answers, learnt);
  if (order === null) return null;
  const counted = countedAnswers(answers);
  const ending = endingAnswers(counted);
  const windows = counted.flatMap(answer => windowOf(answer, ending.has(answer), order, identity) ?? []);
  return { ...order, windows, chains: chainsOf(windows, identity) };
}

function windowOf(
  answer: Answer,
  ends: boolean,
  { direction, slack, strays }: KeyOrder,
  identity: Identity,
): Window | null {
  if (isOfEmptyList(answer)) return ends ? { ...allKeys, answer } : null;
  if (answer.page.count === 0 || checkTotal(answer) === 'silent') return null;
  const isFirst = answer.index === 0;
  const areEdgesIn = identity === 'id' && slack === 0 && strays === 0; // guard: ties at the edges
  const [least, greatest] = answer.page.edges(direction, strays);
  const from = isFirst ? allKeys.from : least + slack; // guard: slack before a page
  const to = ends ? allKeys.to : greatest - slack; // guard: slack after a page
  if (from > to) return null;
  return { answer, from, to, isFromIn: isFirst || areEdgesIn, isToIn: ends || areEdgesIn };
}

/** Whether windows that are linked with each other cover all keys. */
export function isWhole({ chains }: KeyWindows): boolean {
  const [first] = chains;
  return first !== undefined && openRanges(first.windows).length === 0;
}

/** The parts of `within` that no window covers, in their order. */
export function openRanges(windows: readonly KeyRange[], within: KeyRange = allKeys): KeyRange[] {
  const open: KeyRange[] = [];
  // All keys before `reach` are covered; `isReachIn` tells whether the key there is, too.
  let reach = within.from;
  let isReachIn = !within.isFromIn;
  // A page whose records all share one key covers nothing if that key can also be outside the page.
  const sorted = windows
    .filter(({ from, to, isFromIn, isToIn }) => from < to || (isFromIn && isToIn))
    .sort(byFrom);
  const rest = { from: within.to, to: allKeys.to, isFromIn: !within.isToIn, isToIn: true };
  for (const { from, to, isFromIn, isToIn } of [...sorted, rest]) {
    const touches = from < reach || (from === reach && (isFromIn || isReachIn));
    if (!touches) {
      const isInside = from < within.to;
      const isEndOpen = isInside || from === within.to ? !isFromIn : true;
      const end = isInside ? from : within.to;
      open.push({
        from: reach,
        to: end,
        isFromIn: !isReachIn,
        isToIn: isEndOpen && (isInside || within.isToIn),
      });
      if (!isInside) return open;
    }
    if (to > reach) {
      reach = to;
      isReachIn = isToIn;
    } else if (to === reach) isReachIn ||= isToIn;
    if (reach > within.to || (reach === within.to && (isReachIn || !within.isToIn))) return open;
  }
  return open;
}

/** Windows that are linked because each shares a record with another, in the order of their keys. */
export interface Chain {
  readonly windows: readonly Window[];
  /** The window that reaches furthest. */
  readonly last: Window;
}

/** Windows before a window that are searched for a record in both. More overlap only if pages repeat. */
const neighboursMax = 6;

/** The chains of windows, in the order of their first keys. A chain inside the keys of others is left out. */
function chainsOf(windows: readonly Window[], identity: Identity): Chain[] {
  const sorted = windows.toSorted(byFrom);
  const groups = new Groups(sorted.length);
  let furthest = 0;
  for (const [at, window] of sorted.entries()) {
    const join = (other: number) => {
      const earlier = sorted[other] as Window;
      if (groups.of(other) === groups.of(at)) return;
      const areLinked = shareRecord(earlier.answer.page, window.answer.page, identity); // guard: neighbours share a record
      if (areLinked) groups.join(other, at);
    };
    for (let other = Math.max(0, at - neighboursMax); other < at; other++) join(other);
    if (furthest < at) join(furthest);
    if (window.to >= (sorted[furthest] as Window).to) furthest = at;
  }
  const chains = Map.groupBy(sorted.keys(), at => groups.of(at));
  const outer: Chain[] = [];
  for (const places of chains.values()) {
    const own = places.map(at => sorted[at] as Window);
    const reaching = own.reduce((best, window) => (window.to > best.to ? window : best));
    const before = outer.at(-1);
    if (before !== undefined && reaching.to <= before.last.to) continue;
    // If two chains begin at the first page, the one that reaches further counts.
    if (before !== undefined && own[0]?.from === allKeys.from) outer.pop();
    outer.push({ windows: own, last: reaching });
  }
  return outer;
}

function byFrom(a: KeyRange, b: KeyRange): number {
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.isFromIn !== b.isFromIn) return a.isFromIn ? -1 : 1;
  return a.to < b.to ? -1 : a.to > b.to ? 1 : 0;
}

/** Whether two pages show the same record. Only the keys that both can have are looked at. */
function shareRecord(a: PageItems, b: PageItems, identity: Identity): boolean {
  if (a === b) return a.count > 0;
  const [least, greatest] = [Math.max(a.least, b.least), Math.min(a.greatest, b.greatest)];
  if (least > greatest) return false;
  const inBoth = (key: number) => key >= least && key <= greatest;
  const places = new Map<number, number[]>();
  for (let at = 0; at < a.count; at++) {
    const key = a.keys[at] as number;
    if (inBoth(key)) places.set(key, [...(places.get(key) ?? []), at]);
  }
  for (let at = 0; at < b.count; at++) {
    const others = inBoth(b.keys[at] as number) ? places.get(b.keys[at] as number) : undefined;
    if (others?.some(other => isSameRecord(a, other, b, at, identity))) return true;
  }
  return false;
}
