// Phase 3, gaps, and phase 6, the second look: which pages have a gap or a row inside. It asks for nothing.

import { greatestOf, leastOf } from '../contract/extremes.ts';
import { type Answer, beginOf, endOf, inTime, isAt, type PageAddress, reachOf } from './answers.ts';
import { type Chain, type KeyWindows, openRanges, type Window } from './cover.ts';
import { allKeys, inOrder, type KeyRange } from './keys.ts';
import type { AnswerLog } from './log.ts';
import type { KeyOrder } from './order.ts';
import { type IsUsed, type PlaceRange, Plan, sizesBetween, sizesOf, smallestShare } from './plan.ts';

/** The pages that close gaps between chains, keys that are only at edges, and the end of the list, or of the part up to the place `end`. */
export function repairsOf(windows: KeyWindows, log: AnswerLog, end = log.total): Repairs {
  const { largest } = log.list;
  const least = Math.floor(largest * smallestShare) + 1;
  const places = openPlaces(windows, log, end);
  return pagesFor(places, sizesBetween(least, largest), end, log.isUsed);
}

/** The records that share a key which no window covers. */
export function openTies(windows: KeyWindows, log: AnswerLog): Tie[] {
  return openPlaces(windows, log, log.total).filter(place => 'keys' in place);
}

/** The pages of a second look for rows: around them, or of the whole list if those are more than half of it, or records can be anywhere. */
export function pagesToConfirm(
  windows: KeyWindows,
  keys: readonly number[],
  { list: { largest, overlap, identity }, total, isUsed }: AnswerLog,
  run: number,
): Repairs {
  // Of a list on small pages all others can be used up.
  const sizes = [...sizesOf(largest, run), ...sizesBetween(smallestMin, Math.floor(largest / 2))];
  const whole = new Plan(sizes[0] as number, overlap + windows.extraOverlap, { isUsed }).to(total) ?? [];
  if (windows.outliers > 0) return { pages: whole, across: [] };
  const ordered = keys.map(key => inOrder(key, windows.direction));
  const found = pagesFor(placesOf(windows, ordered, total), sizes, total, isUsed);
  const areMany = whole.length > 0 && found.pages.length > Math.max(1, whole.length / 2);
  return areMany && identity === 'id' ? { ...found, pages: whole } : found;
}

/** The places of records that share keys, and these keys, in the order of the list. */
export interface Tie extends PlaceRange {
  readonly keys: KeyRange;
}

/** Pages that have places of interest inside and, for records of one key that no page has inside, what has to be read across. */
export interface Repairs {
  readonly pages: readonly PageAddress[];
  readonly across: readonly Tie[];
}

/** The pages of one size that together have a range of places inside, and at least one record on both sides. */
export function pagesAcross({ from, to }: PlaceRange, size: number, total: number): PageAddress[] {
  const first = Math.max(0, Math.floor((from - 1) / size));
  const end = Math.ceil(Math.min(to + 1, total) / size);
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => ({ index: first + at, size }));
}

/** Pages of fewer records have none to spare on both sides of a place. */
const smallestMin = 4;

/** Records on both sides of a place by which a page must reach beyond it, if it can. The list might have moved. */
const marginMax = 10;
const marginShare = 1 / 4;

/** A page with a range of places inside: the first size with enough records on both sides, or the one with the most; null if none has. */
function pageAround({ from, to }: PlaceRange, sizes: readonly number[], isUsed: IsUsed): PageAddress | null {
  let best: PageAddress | null = null;
  let bestRoom = 0;
  for (const size of sizes) {
    const margin = Math.min(marginMax, Math.floor(size * marginShare));
    const middle = Math.floor(Math.max(0, (from + to) / 2 - size / 2) / size);
    for (const index of [middle, middle + 1]) {
      const page = { index, size };
      // There is nothing before the first page.
      const before = index === 0 ? Number.POSITIVE_INFINITY : from - beginOf(page);
      const room = Math.min(margin, before, reachOf(page) - to);
      if (room <= bestRoom || isUsed(page)) continue;
      best = page;
      bestRoom = room;
    }
    if (bestRoom >= margin) return best;
  }
  return best;
}

function pagesFor(
  places: readonly (PlaceRange | Tie)[],
  sizes: readonly number[],
  total: number,
  isUsed: IsUsed,
): Repairs {
  const pages: PageAddress[] = [];
  const across: Tie[] = [];
  const isTaken = (page: PageAddress) => isUsed(page) || pages.some(other => isAt(other, page));
  for (const place of places) {
    // A page that is asked for already can have two places inside.
    const isInside = (page: PageAddress) =>
      (page.index === 0 || beginOf(page) < place.from) && (reachOf(page) > place.to || reachOf(page) > total);
    if (pages.some(isInside)) continue;
    const page = pageAround(place, sizes, isTaken);
    if (page !== null) pages.push(page);
    else if ('keys' in place && place.from < place.to) across.push(place);
  }
  return { pages, across };
}

/** @param last where the list ends, or the part of it that is looked at. */
function openPlaces({ chains, ...order }: KeyWindows, log: AnswerLog, last: number): (PlaceRange | Tie)[] {
  const { list, total } = log;
  const places: (PlaceRange | Tie)[] = [];
  const add = (a: number, b: number) =>
    places.push({ from: Math.min(a, b) - order.extraOverlap, to: Math.max(a, b) + order.extraOverlap });
  const beginNow = ({ answer }: Window) => beginOf(answer) + movedSince(answer, order, total);
  const endNow = ({ answer }: Window) => endOf(answer) + movedSince(answer, order, total);
  let before: Chain | null = null;
  for (const chain of chains) {
    const head = chain.windows[0] as Window;
    if (before !== null) {
      const [end, begin, step] = [endNow(before.last), beginNow(head), list.largest / 2];
      const [isEndOld, isBeginOld] = [before.last.answer.isRecalled, head.answer.isRecalled];
      // The list has moved since the older one came, nobody knows how far: it is read on from the other one.
      if (isEndOld === isBeginOld) add(end, begin);
      else if (isEndOld) add(begin - step, begin);
      else add(end, end + step);
    } else if (head.from !== Number.NEGATIVE_INFINITY) add(0, beginNow(head));
    // Keys that several records can share, and that are at the edge of every window that shows them.
    const within = { from: head.from, to: chain.last.to, isFromIn: false, isToIn: false };
    for (const [keys, answers] of answersAt(openRanges(chain.windows, within), chain.windows)) {
      const { from, to } = placeNow(answers, keys, order, total);
      if (answers.length > 0) places.push({ from, to: Math.max(to, from + 1), keys });
    }
    before = chain;
  }
  if (before === null) return [{ from: 0, to: last }];
  if (before.last.to !== Number.POSITIVE_INFINITY)
    places.push({ from: Math.min(endNow(before.last), last) - order.extraOverlap, to: last });
  return places;
}

/** Ranges of keys, in their order, each with the answers whose windows it touches. */
function* answersAt(
  ranges: readonly KeyRange[],
  windows: readonly Window[],
): Generator<readonly [KeyRange, Answer[]]> {
  const sorted = windows.toSorted((a, b) => a.from - b.from);
  let [near, at]: [Window[], number] = [[], 0];
  for (const range of ranges) {
    for (let next = sorted[at]; next !== undefined && next.from <= range.to; next = sorted[++at])
      near.push(next);
    near = near.filter(({ to }) => to >= range.from);
    yield [range, near.map(({ answer }) => answer)];
  }
}

/** The places that records of some keys have by now, by the newest answers that show what is before and what is behind them. */
function placeNow(answers: readonly Answer[], keys: KeyRange, order: KeyOrder, total: number): PlaceRange {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [begin, end]: (number | null)[] = [null, null];
  for (const answer of inTime(answers)) {
    const [{ from, to }, moved] = [placesOn(answer, keys, order), movedSince(answer, order, total)];
    if (answer.index === 0 || from > beginOf(answer)) begin = Math.max(0, from + moved);
    if (to < endOf(answer)) end = Math.max(0, to + moved);
    if (from < to) [least, most] = [Math.min(least, from + moved), Math.max(most, to + moved)];
  }
  // What is seen at two moments can be the wrong way round.
  const edges = [begin ?? Math.min(least, end ?? most), end ?? Math.max(most, begin ?? least)];
  return { from: leastOf(edges), to: greatestOf(edges) };
}

/** By how many places the records of an answer have moved since: what has come since then is in front of them if the newest are first. */
const movedSince = (answer: Answer, { direction }: KeyOrder, total: number): number =>
  direction === 'down' ? total - answer.total : 0;

/** The places at which the list has, or can have, the records of a key, by windows that cover it; each once, in order. */
function placesOf({ windows, ...order }: KeyWindows, keys: readonly number[], total: number): Tie[] {
  const ranges = [...new Set(keys)].sort((a, b) => a - b).map(key => ({ ...allKeys, from: key, to: key }));
  const places = [...answersAt(ranges, windows)].flatMap(([keys, answers]) =>
    answers.length === 0 ? [] : { ...placeNow(answers, keys, order, total), keys },
  );
  return places.sort((a, b) => a.from - b.from);
}

/** The places of a page's records whose keys are in a range, or beyond it by the lateness; if there is none, the place where it would be. */
function placesOn(answer: Answer, { from, to }: KeyRange, { direction, lateness }: KeyOrder): PlaceRange {
  const { keys, count } = answer.page;
  const first = keys.findIndex(key => inOrder(key, direction) >= from - lateness);
  const end = keys.findLastIndex(key => inOrder(key, direction) <= to + lateness) + 1;
  const begin = beginOf(answer) + (first < 0 ? count : first);
  return { from: begin, to: Math.max(begin, beginOf(answer) + end) };
}
