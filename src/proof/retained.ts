import { orderOf } from './order.ts';
import type { KeysBeyond, Reading, UnshownRow, Verdict } from './reading.ts';
import { type Answer, countsOf, type Direction, endOf, type PageItems } from './window.ts';

// Rows at the end where a list grows, which stay although two answers do not show them.
//
// A copy of the list that lags lacks its newest records, and so does a table that is emptied each night and being filled again. Two answers
// of it are no sign of a deletion. But a total moves by several records at once if the next answer comes from another copy, and while a
// table is filled all totals rise.

/** A total that moves by so many records from one answer to the next can be that of another copy. */
const copyStepMin = 3;
/** So many rows at the growing end, and this share of the list, can be those that are not filled in yet. */
const filledMin = 10;
const filledShare = 1 / 10;

/** Rows that stay at the growing end: an earlier total counted them, or the list seems to be being filled. */
export type Retained = { readonly rows: ReadonlySet<UnshownRow> } & (
  | { readonly why: 'copy'; readonly counted: number; readonly other: number }
  | { readonly why: 'filled'; readonly end: KeysBeyond }
);

/**
 * The rows at the growing end that stay; null if none need to.
 *
 * @param gone rows that two answers do not show.
 * @param staying how many other rows stay that no answer shows.
 */
export function retainedOf(
  { list, heard, misplaced, joined }: Reading,
  verdict: Verdict,
  gone: readonly UnshownRow[],
  staying: number,
): Retained | null {
  if (gone.length === 0) return null;
  const fresh = heard.filter(({ isRecalled }) => !isRecalled).sort((a, b) => a.asked - b.asked);
  const order = verdict.windows ?? orderOf(heard, list.learnt);
  const goneBeyond = (key: number) => {
    const end = { beyond: order === null ? null : key - order.slack };
    return { end, rows: gone.filter(row => isAtEnd(row, end)) };
  };
  const newest = newestOf(fresh);
  const { rows: atEnd } = goneBeyond(
    order === null ? newest : (leastEndOf(fresh, order.direction) ?? newest),
  );
  if (atEnd.length === 0) return null;

  const totals = [...fresh, ...misplaced].sort((a, b) => a.asked - b.asked).map(({ total }) => total);
  const hasMoved = totals.some((total, at) => Math.abs((totals[at - 1] ?? total) - total) >= copyStepMin);
  if (hasMoved) {
    const counted = totals.reduce((most, total) => Math.max(most, total));
    const other = totals.reduce((least, total) => Math.min(least, total));
    const shown = shownOn([...heard, ...joined].map(({ page }) => page));
    const isCopy = counted > shown + staying; // guard: rows that an earlier total counted
    if (isCopy) return { why: 'copy', counted, other, rows: new Set(atEnd) };
  }

  // A newer record that is listed shows that the rows before it are gone.
  const beyond = goneBeyond(newest);
  const before = list.retained ?? null;
  const rows = beyond.rows.filter(row => before === null || !isAtEnd(row, before)); // guard: rows that were retained before
  // Requests that are under way together are answered in any order.
  const isRising =
    totals.every((total, at) => total > (totals[at - 1] ?? 0) - copyStepMin) &&
    (totals.at(-1) ?? 0) > (totals[0] ?? 0);
  const least = Math.max(filledMin, filledShare * ((totals.at(-1) ?? 0) + beyond.rows.length));
  // If nothing newer is listed, the list rises by rows that were not filled in before.
  const filled = order === null ? 0 : (totals.at(-1) ?? 0) - (totals[0] ?? 0);
  const isFilled = isRising && rows.length > 0 && rows.length + filled >= least; // guard: a list that is being filled
  return isFilled ? { why: 'filled', end: beyond.end, rows: new Set(rows) } : null;
}

// Several records can share the newest key.
const isAtEnd = ({ key }: UnshownRow, { beyond }: KeysBeyond): boolean => beyond === null || key >= beyond;

/** The greatest key of the records that answers show. */
function newestOf(answers: readonly Answer[]): number {
  const shown = answers.filter(({ page }) => page.count > 0);
  return shown.reduce((most, { page }) => Math.max(most, page.greatest), Number.NEGATIVE_INFINITY);
}

/** The same of one answer of the growing end: of the one that shows the fewest; null if there is none. */
function leastEndOf(answers: readonly Answer[], direction: Direction): number | null {
  const isOfEnd = (answer: Answer) =>
    direction === 'down' ? answer.index === 0 : endOf(answer) === answer.total;
  const ends = answers.filter(answer => answer.page.count > 0 && isOfEnd(answer));
  return ends.length === 0 ? null : Math.min(...ends.map(answer => newestOf([answer])));
}

/** How many records pages show, each as often as one of them does. */
function shownOn(pages: readonly PageItems[]): number {
  const most = new Map<number, number>();
  for (const page of pages)
    for (const [record, count] of countsOf([page])) most.set(record, Math.max(count, most.get(record) ?? 0));
  return [...most.values()].reduce((sum, count) => sum + count, 0);
}
