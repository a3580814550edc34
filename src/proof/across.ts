// Phase 3, gaps: reads records that share a key across pages, if no page has them all inside.

import { greatestOf } from '../contract/extremes.ts';
import { type Answer, areDuplicatesApart } from './answers.ts';
import type { KeyWindows } from './cover.ts';
import { inOrder, isIn } from './keys.ts';
import type { Across, AnswerLog, AskOptions } from './log.ts';
import type { KeyOrder } from './order.ts';
import { areSameRecords, itemsOf, mergePages } from './page-items.ts';
import { sizesBetween, sizesOf, smallestShare } from './plan.ts';
import type { Asking } from './questions.ts';
import { openTies, pagesAcross, type Tie } from './repairs.ts';

const sizesAtOnce = 2;

/**
 * Reads records that share a key across pages, until those of two sizes show the same (*If exports share a time* in docs/proof.md). It asks
 * for pages of two more sizes at most; of none if that does not help.
 */
export function* readAcross(log: AnswerLog, order: KeyOrder, tie: Tie, look: AskOptions): Asking<void> {
  const { isSecondLook = false } = look;
  let sizes = 0;
  for (const size of sizesAcross(log, tie, isSecondLook)) {
    const pages = pagesAcross(tie, size, log.total);
    const together = isSecondLook ? null : log.together(pages);
    if (together === null && (sizes++ === sizesAtOnce || log.hasOneSize)) break;
    const came = together ?? (yield* log.ask(pages, look));
    if (came.length === pages.length && mergeAcross(log, order, tie, came)) break;
  }
}

/** Merges the pages of scans that do not overlap, at keys whose records two of them show alike. */
export function mergeScans(log: AnswerLog, windows: KeyWindows): void {
  for (const tie of openTies(windows, log))
    for (const size of [log.list.largest, ...log.otherSizes]) {
      const together = log.together(pagesAcross(tie, size, log.total));
      if (together !== null && mergeAcross(log, windows, tie, together)) break;
    }
}

/** Notes what pages of one size show of records that share a key. If those of another size show the same, they count as one answer. */
function mergeAcross(log: AnswerLog, order: KeyOrder, tie: Tie, came: readonly Answer[]): boolean {
  const now = acrossOf(log, order, tie, came);
  if (now === null) return false;
  const name = `${tie.keys.from} ${tie.keys.to}`;
  const before = log.across(name);
  // Pages that have come already say nothing new.
  const isOfSize = ({ answer }: Across) => answer.size === now.answer.size;
  if (before.some(other => isOfSize(other) && other.answer.asked === now.answer.asked)) return false;
  const isSame = (other: Across) => !isOfSize(other) && areSameRecords([other.within], [now.within]);
  const doAgree = now.answer.isSecondLook || before.some(isSame); // guard: two readings across agree
  log.merge(name, now, doAgree);
  return doAgree;
}

/** The sizes to read by, the best ones first: those with the fewest pages. A second look has one that this run has not used. */
function sizesAcross(log: AnswerLog, tie: Tie, isSecondLook: boolean): readonly number[] {
  const { total, otherSizes, isUsed } = log;
  const { largest, run } = log.list;
  const countOf = (size: number) => pagesAcross(tie, size, total).length;
  const byCount = (sizes: readonly number[]) => sizes.toSorted((a, b) => countOf(a) - countOf(b));
  if (isSecondLook) {
    // No cache can have kept a page that this run has not asked for.
    const unused = sizesOf(largest, run).filter(size => !pagesAcross(tie, size, total).some(isUsed));
    return [byCount(unused)[0] ?? (otherSizes.at(-1) as number)];
  }
  const first = [largest, ...otherSizes];
  const large = sizesBetween(Math.ceil(largest * smallestShare), largest);
  return [...first, ...byCount(large.filter(size => !first.includes(size)))];
}

/** What pages of one size show together of records that share a key; null if they are not of one moment. */
function acrossOf(log: AnswerLog, order: KeyOrder, tie: Tie, answers: readonly Answer[]): Across | null {
  const { direction, lateness, outliers } = order;
  const came = [...answers].sort((a, b) => a.index - b.index);
  const [first] = came;
  const isConnected = came.every(({ total, wrong, page, size }, at) => {
    const isFull = at === came.length - 1 || page.count === size;
    return wrong === null && total === first?.total && isFull;
  });
  if (first === undefined || !isConnected) return null;
  // Of identical records that are on two pages, no page shows all.
  if (areDuplicatesApart(came, 0)) return null; // guard: duplicates on two pages
  // A record between two of these pages can be late behind one that is late behind these keys.
  const [from, to] = [tie.keys.from - 3 * lateness, tie.keys.to + 3 * lateness];
  const isWithin = (key: number) => isIn(inOrder(key, direction), { from, to, isFromIn: true, isToIn: true });
  const { identity } = log.list;
  const items = itemsOf(came.map(answer => answer.page));
  const page = mergePages(items, identity);
  if (page.lateness(direction, outliers) > lateness) return null;
  const itemsWithin = items.filter(item => isWithin(item.page.keys[item.at] as number));
  const within = mergePages(itemsWithin, identity);
  const arrived = greatestOf(came.map(answer => answer.arrived));
  // A record of another key can have moved from one page to another.
  return { answer: { ...first, page, arrived, pageCount: null, only: tie.keys }, within };
}
