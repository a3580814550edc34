import { count, counted, duration } from './numbers.ts';

/** How far the reading of one list is. */
export interface ReadingState {
  readonly resource: string;
  /** Which reading of the list it is, from 1. */
  readonly walk: number;
  readonly pages: number;
  readonly pageCount: number;
  /** Pages a second, lately; null while that is not known. */
  readonly pagesPerS: number | null;
  /** How long this reading still takes, in milliseconds; null while that is not known. */
  readonly leftMs: number | null;
  /** Until when the service asked to be left alone, in milliseconds since 1970; null where it did not. */
  readonly waitsUntilMs: number | null;
  /** How the list ended, in a word or two; null while it is read. */
  readonly ended: string | null;
}

const nameWidth = 16;
const gap = '  ';

/** A list's reading as one line with a bar, no wider than a terminal is; what does not fit is left out, the least important first. */
export function progressLine(state: ReadingState, nowMs: number, width: number): string {
  const name = state.resource.padEnd(nameWidth);
  const start = `${name}${gap}${bar(shareOf(state), barWidthOf(width))}${gap}`;
  const tail = tailsOf(state, nowMs).find(text => start.length + text.length <= width) ?? '';
  return `${start}${tail}`.trimEnd().slice(0, width);
}

/** By the terminal alone: a bar whose length follows the text beside it would jump. */
function barWidthOf(width: number): number {
  if (width < 70) return 6;
  return width < 100 ? 12 : 24;
}

/** How much of this reading is done, from 0 to 1. */
export function shareOf({ pages, pageCount, ended }: ReadingState): number {
  if (ended !== null) return 1;
  return pageCount < 1 ? 0 : Math.min(1, pages / pageCount);
}

function bar(share: number, width: number): string {
  const full = Math.round(share * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

/** What stands behind the bar, the fullest first. */
function tailsOf(state: ReadingState, nowMs: number): string[] {
  const { pages, pageCount, walk, ended } = state;
  const share = `${Math.floor(shareOf(state) * 100)} %`.padStart(5);
  const reading = walk > 1 ? `reading ${walk}` : '';
  const pagesText = `${count(pages)}/${counted(Math.max(pages, pageCount), 'page')}`;
  // An incremental sync reads the edges alone, which is no walk.
  const read = pages > 0 ? counted(pages, 'page') : '';
  if (ended !== null) return texts([[ended, read, reading], [ended]]);
  const { pace, rest, restInShort } = timesOf(state, nowMs);
  return texts([
    [share, pagesText, pace, rest, reading],
    [share, pagesText, rest, reading],
    [share, rest, reading],
    [share, rest],
    [share, restInShort],
    [share],
  ]);
}

function timesOf({ waitsUntilMs, pagesPerS, leftMs }: ReadingState, nowMs: number) {
  if (waitsUntilMs !== null && waitsUntilMs > nowMs) {
    const until = new Date(waitsUntilMs).toISOString().slice(11, 19);
    const wait = inSeconds(waitsUntilMs - nowMs);
    return { pace: '', rest: `waits until ${until} UTC, as asked (${wait})`, restInShort: `waits ${wait}` };
  }
  const rest = leftMs === null ? '' : `${inSeconds(leftMs)} left`;
  return {
    pace:
      pagesPerS === null ? '' : `${pagesPerS < 10 ? pagesPerS.toFixed(1) : count(Math.round(pagesPerS))}/s`,
    rest,
    restInShort: rest,
  };
}

function texts(tails: readonly (readonly string[])[]): string[] {
  return tails.map(parts => parts.filter(part => part !== '').join(gap));
}

function inSeconds(ms: number): string {
  return ms <= 60_000 ? `${Math.ceil(ms / 1000)} s` : duration(ms);
}
