import { count, counted, duration } from './numbers.ts';

/** The progress of reading one list. */
export interface ReadingState {
  readonly resource: string;
  /** The number of this reading of the list, from 1. */
  readonly walk: number;
  readonly pages: number;
  readonly pageCount: number;
  /** Pages a second, lately; null if that is not known yet. */
  readonly pagesPerS: number | null;
  /** The time that this reading still needs, in milliseconds; null if that is not known yet. */
  readonly leftMs: number | null;
  /** The end of a pause that the service asked for, in milliseconds since 1970; null if it asked for none. */
  readonly waitsUntilMs: number | null;
  /** How the list ended, in a word or two; null during the reading. */
  readonly ended: string | null;
}

const nameWidth = 16;
const gap = '  ';

/**
 * A list's reading as one line with a bar, no wider than the terminal. If it is too long, the least important parts are
 * left out first.
 */
export function progressLine(state: ReadingState, nowMs: number, width: number): string {
  const name = state.resource.padEnd(nameWidth);
  const start = `${name}${gap}${bar(shareOf(state), barWidthOf(width))}${gap}`;
  const tail = tailsOf(state, nowMs).find(text => start.length + text.length <= width) ?? '';
  return `${start}${tail}`.trimEnd().slice(0, width);
}

/** The width depends on the terminal alone: a bar that depends on the text beside it would jump. */
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

/** The texts after the bar, the longest first. */
function tailsOf(state: ReadingState, nowMs: number): string[] {
  const { pages, pageCount, walk, ended } = state;
  const share = `${Math.floor(shareOf(state) * 100)} %`.padStart(5);
  const reading = walk > 1 ? `reading ${walk}` : '';
  const pagesText = `${count(pages)}/${counted(Math.max(pages, pageCount), 'page')}`;
  // An incremental sync reads only one end of the list, so it shows no share.
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
