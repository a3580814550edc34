// An incremental sync, in the place of all phases: windows at the growing end alone.

import { readAcross } from './across.ts';
import { type Answer, beginOf, endOf } from './answers.ts';
import { type KeyWindows, openRanges, windowsOf } from './cover.ts';
import { allKeys, inOrder, type KeyRange } from './keys.ts';
import { AnswerLog, type ListFacts } from './log.ts';
import type { KeyOrder } from './order.ts';
import { type PlaceRange, Plan } from './plan.ts';
import { type Asking, askOne } from './questions.ts';
import { openTies } from './repairs.ts';

/** The start of an incremental sync: the mirror after the last run that was sure of the list. */
export interface KnownList extends Pick<ListFacts, 'identity' | 'largest' | 'overlap'> {
  readonly order: KeyOrder;
  /** The key of the newest record; if there are outliers, of the newest one that is surely none. */
  readonly newestKey: number;
  /** How many records have that key. */
  readonly newestCount: number;
  readonly count: number;
}

/** The end of an incremental sync: the growing end is proven if the newest known record was shown; or a full sync is needed. */
export type Growth =
  | { readonly kind: 'done'; readonly answers: readonly Answer[] }
  | { readonly kind: 'full'; readonly reason: string };

/** An incremental sync that needs more pages than this becomes a full sync. */
const growthPagesMax = 200;
/** And one that meets more ties than this that no page can hold reads on without them. */
const acrossMax = 4;

/** The same proof for the keys at the growing end: see *Incremental syncs* in docs/proof.md. Records that arrive meanwhile are included. */
export function* proveGrowth(list: KnownList): Asking<Growth> {
  const { order, largest, newestKey, newestCount, count } = list;
  const { direction, lateness, extraOverlap, outliers } = order;
  const full = (reason: string): Growth => ({ kind: 'full', reason });
  const log = new AnswerLog({ ...list, learnt: order, run: 0, totalBefore: count });
  const newest = inOrder(newestKey - lateness, direction);
  const within: KeyRange = direction === 'up' ? { ...allKeys, from: newest } : { ...allKeys, to: newest };
  // The newest known records and one before them, or some more if records come late.
  const place = direction === 'down' ? 0 : Math.max(0, count - newestCount - 1 - extraOverlap);
  // Pages come one after the other, so each shows where the next one has to begin.
  const tieAt = () => (lateness > 0 ? null : tieAtEnd(log.answers.at(-1), list.overlap));
  const plan = new Plan(largest, list.overlap + extraOverlap, { tieAt, from: place });
  const isDone = ({ chains }: KeyWindows) =>
    chains.some(chain => openRanges(chain.windows, within).length === 0);
  let across = 0;
  for (let number = 0; number < growthPagesMax; number++) {
    const page = plan.at(number);
    const last = log.answers.at(-1);
    const isPastEnd = last !== undefined && last.page.count < last.size;
    if (page === null || isPastEnd) return full('the pages do not reach a known record');
    const [answer] = yield* log.ask([page]);
    if (answer === undefined || answer.wrong !== null) return full('the service answered with another page');
    // The total has to be that of the mirror with what is new, so an end needs no other witness.
    const { counted } = log;
    let windows = windowsOf(log, 'claimed');
    if (windows !== null && !isDone(windows) && across < plan.unheld && across < acrossMax) {
      // No page has all records of a time inside.
      across = plan.unheld;
      for (const tie of openTies(windows, log)) yield* readAcross(log, windows, tie, {});
      windows = windowsOf(log, 'claimed');
    }
    if (windows === null) return full('a page is out of order');
    // An outlier can be new and have any key.
    const isOlder = ({ oldestNewKeys }: Answer) =>
      (oldestNewKeys[outliers] ?? newestKey) < newestKey - lateness;
    const isNewBelow = log.answers.some(isOlder); // guard: new records are newer
    if (isNewBelow) return full('a new record is older than the newest known one');
    if (!isDone(windows)) continue;
    // The page at the growing end has seen all new records, but none that came after it.
    const end = direction === 'down' ? counted.findLast(({ index }) => index === 0) : counted.at(-1);
    const added = yield* askOne({ kind: 'added' });
    if (count + added.count !== end?.total) return full('the total says that more has changed'); // guard: total of an incremental sync
    return { kind: 'done', answers: log.answers };
  }
  return full('the new records are on too many pages');
}

/** The places of the last records of a page that share a key, if they are at least so many. */
function tieAtEnd(answer: Answer | undefined, least: number): PlaceRange | null {
  if (answer === undefined || answer.page.count === 0) return null;
  const { keys } = answer.page;
  const from = beginOf(answer) + keys.indexOf(keys.at(-1) as number);
  const to = endOf(answer);
  return to - from >= least ? { from, to } : null;
}
