import { Groups } from './groups.ts';
import type { Identity, ItemsOf } from './page.ts';
import { shareRecord } from './share.ts';
import { allKeys, type KeyRange, type Window } from './window.ts';

/**
 * The number of windows before a window that are searched for a record in both. More windows overlap only if pages
 * repeat.
 */
const neighboursMax = 6;

/** The parts of `within` that no window covers, in their order. */
export function openRanges(windows: readonly KeyRange[], within: KeyRange = allKeys): KeyRange[] {
  const open: KeyRange[] = [];
  // All keys before `reach` are covered; `isReachIn` tells whether the key there is, too.
  let reach = within.from;
  let isReachIn = !within.isFromIn;
  const sorted = windows.filter(speaks).sort(byFrom);
  for (const { from, to, isFromIn, isToIn } of [...sorted, rest(within)]) {
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

/** A page whose records all share one key covers nothing if that key can also be outside the page. */
function speaks({ from, to, isFromIn, isToIn }: KeyRange): boolean {
  return from < to || (isFromIn && isToIn);
}

/** The keys after a range, as a window that closes it. */
function rest({ to, isToIn }: KeyRange): KeyRange {
  return { from: to, to: Number.POSITIVE_INFINITY, isFromIn: !isToIn, isToIn: true };
}

/** Windows that are linked because each shares a record with another, in the order of their keys. */
export interface Chain {
  readonly windows: readonly Window[];
  /** The window that reaches furthest. */
  readonly last: Window;
}

/** The chains of windows, in the order of their first keys. A chain inside the keys of others is left out. */
export function chainsOf(windows: readonly Window[], identity: Identity, itemsOf: ItemsOf): Chain[] {
  const sorted = windows.toSorted(byFrom);
  const groups = new Groups(sorted.length);
  let furthest = 0;
  for (const [at, window] of sorted.entries()) {
    const join = (other: number) => {
      if (!groups.areOne(other, at) && hangTogether(sorted[other] as Window, window, identity, itemsOf))
        groups.join(other, at);
    };
    for (let other = Math.max(0, at - neighboursMax); other < at; other++) join(other);
    if (furthest < at) join(furthest);
    if (window.to >= (sorted[furthest] as Window).to) furthest = at;
  }
  const chains = new Map<number, Window[]>();
  for (const [at, window] of sorted.entries()) {
    const chain = chains.get(groups.of(at));
    if (chain === undefined) chains.set(groups.of(at), [window]);
    else chain.push(window);
  }
  return withoutInner([...chains.values()]);
}

function hangTogether(earlier: Window, later: Window, identity: Identity, itemsOf: ItemsOf): boolean {
  if (later.from > earlier.to) return false;
  return shareRecord(earlier, later, identity, itemsOf); // guard: neighbours share a record
}

function withoutInner(chains: readonly Window[][]): Chain[] {
  const outer: Chain[] = [];
  for (const windows of chains) {
    const last = windows.reduce((best, window) => (window.to > best.to ? window : best));
    const before = outer.at(-1);
    const isFirstPage = (windows[0] as Window).from === Number.NEGATIVE_INFINITY;
    if (before === undefined || last.to > before.last.to) {
      // If two chains begin at the first page, the one that reaches further counts.
      if (before !== undefined && isFirstPage) outer.pop();
      outer.push({ windows, last });
    }
  }
  return outer;
}

function byFrom(a: KeyRange, b: KeyRange): number {
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.isFromIn !== b.isFromIn) return a.isFromIn ? -1 : 1;
  return a.to < b.to ? -1 : a.to > b.to ? 1 : 0;
}
