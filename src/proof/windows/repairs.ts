import type { Chain } from './cover.ts';
import { openRanges } from './cover.ts';
import type { PlaceRange } from './overlap.ts';
import { beginOf, type PageAnswer } from './page.ts';
import type { Window } from './window.ts';

/** The most pages that are asked for to close gaps. A list that needs more changes too fast to be proven. */
export const repairsMax = 12;

/**
 * The places of the list that are still open: between two chains of windows, at a key that is only at the edges of
 * windows, or after the last window. Places are those in the answers; the list might have moved since.
 *
 * @param newestTotal by the newest answer: the list ends there.
 */
export function placesToRepair(chains: readonly Chain[], newestTotal: number): PlaceRange[] {
  const places: PlaceRange[] = [];
  let before: Chain | null = null;
  for (const chain of chains) {
    const first = chain.windows[0] as Window;
    if (before !== null) places.push(between(endOf(before.last.answer), beginOf(first.answer)));
    else if (first.from !== Number.NEGATIVE_INFINITY) places.push(between(0, beginOf(first.answer)));
    places.push(...placesOfTies(chain));
    before = chain;
  }
  if (before === null) return [{ from: 0, to: newestTotal }];
  if (before.last.to !== Number.POSITIVE_INFINITY)
    places.push(between(Math.min(endOf(before.last.answer), newestTotal), newestTotal));
  return places;
}

/** The places of keys that several records can share, and that are at the edge of every window that shows them. */
function placesOfTies({ windows, last }: Chain): PlaceRange[] {
  const [first] = windows as readonly [Window];
  const within = { from: first.from, to: last.to, isFromIn: false, isToIn: false };
  return openRanges(windows, within).flatMap(({ from, to }) => {
    const ending = windows.find(window => window.to === from);
    const beginning = windows.find(window => window.from === to);
    const edges = [
      ...(ending === undefined ? [] : [endOf(ending.answer)]),
      ...(beginning === undefined ? [] : [beginOf(beginning.answer)]),
    ];
    return edges.length === 0 ? [] : [between(Math.min(...edges), Math.max(...edges))];
  });
}

function endOf(answer: PageAnswer): number {
  return beginOf(answer) + answer.summary.count;
}

function between(a: number, b: number): PlaceRange {
  return { from: Math.min(a, b), to: Math.max(a, b) };
}
