import { type Chain, chainsOf, openRanges } from './cover.ts';
import { countedAnswers, endingAnswers } from './end.ts';
import { type Direction, directionOf, isInverted, type LearntOrder } from './order.ts';
import type { Identity, ItemsOf, PageAnswer } from './page.ts';
import type { RepeatedRecord } from './plain-reading.ts';
import { type KeyRange, keysOf, type Window, windowOf } from './window.ts';

/** The result of the answers of a run. */
export type Verdict =
  /** One answer shows the whole list; its order does not matter. */
  | { readonly rule: 'page'; readonly isProven: true; readonly isConfirmed: boolean }
  | ByKey
  /**
   * The list is linked by records that pages share, in an order that nobody sees. So a row that is not shown is removed
   * only if the last run showed it gone, too.
   */
  | { readonly rule: 'overlap'; readonly isProven: true; readonly isConfirmed: boolean }
  /** Two complete readings agree. A row that is not shown is removed only if the last run showed it gone, too. */
  | {
      readonly rule: 'agreement';
      readonly isProven: true;
      readonly isConfirmed: true;
      /** Records that are on more than one page, and how often the list has them. */
      readonly repeated: readonly RepeatedRecord[];
    }
  /** Windows prove nothing here: two complete readings have to agree, and did not, or were not made yet. */
  | {
      readonly rule: 'agreement';
      readonly isProven: false;
      readonly reason: string;
      /** Whether each page was the same, for every page number. */
      readonly isPageNoIgnored?: boolean;
    };

/** Windows on keys. All ranges are of keys as the records have them, from the lower to the higher one. */
export interface ByKey {
  readonly rule: 'key';
  readonly isProven: boolean;
  readonly direction: Direction;
  /** Keys that no window covers: rows there stay as they are, and are undecided if no answer shows them. */
  readonly open: readonly KeyRange[];
  /** Keys that no second window covers, asked for later at an unused address: rows there can't be removed yet. */
  readonly unconfirmed: readonly KeyRange[];
  /** Why it is not proven; null if it is. */
  readonly reason: string | null;
}

/** The windows of a run on the keys of a list, and how they are linked. */
export interface KeyWindows {
  readonly direction: Direction;
  readonly windows: readonly Window[];
  readonly chains: readonly Chain[];
  readonly isProven: boolean;
}

/** Whether one answer shows the whole list, and whether a second one does. */
export function wholePages(answers: readonly PageAnswer[]): { isWhole: boolean; isConfirmed: boolean } {
  const whole = [...endingAnswers(countedAnswers(answers))].filter(
    ({ index, summary }) => index === 0 && !summary.isIdTwice,
  );
  return {
    isWhole: whole.length > 0,
    isConfirmed: whole.some(({ isSecondLook }) => isSecondLook) && whole.some(answer => !answer.isSecondLook),
  };
}

/** The windows of a list whose answers are in the order of a key; null if they are not. */
export function windowsByKey(
  answers: readonly PageAnswer[],
  learnt: LearntOrder,
  identity: Identity,
  itemsOf: ItemsOf,
): KeyWindows | null {
  const direction = directionOf(answers, learnt);
  if (direction === null || isInverted(answers, direction)) return null;
  const counted = countedAnswers(answers);
  const ending = endingAnswers(counted);
  const windows = counted.flatMap(answer => windowOf(answer, ending.has(answer), direction, identity) ?? []);
  const chains = chainsOf(windows, identity, itemsOf);
  const first = chains[0];
  const isProven = first !== undefined && openRanges(first.windows).length === 0;
  return { direction, windows, chains, isProven };
}

/** The result of windows on keys, for the writer of the mirror. */
export function verdictByKey({ direction, windows, isProven }: KeyWindows): ByKey {
  const asKeys = (range: KeyRange) => keysOf(range, direction);
  const [seconds, firsts] = [true, false].map(isSecond =>
    windows.filter(({ answer }) => answer.isSecondLook === isSecond),
  ) as [Window[], Window[]];
  return {
    rule: 'key',
    isProven,
    direction,
    open: openRanges(windows).map(asKeys),
    unconfirmed: [...openRanges(firsts), ...openRanges(seconds)].map(asKeys), // guard: a second look
    reason: isProven
      ? null
      : 'the pages do not cover all keys: the list changes faster than it can be read, or its totals do not fit its pages',
  };
}
