import type { Output } from './io.ts';

/** The width of a terminal, in characters; infinite if there is none, or its width is unknown. */
export function widthOf({ columns }: Output): number {
  return columns || Number.POSITIVE_INFINITY;
}

const widthElsewhere = 120;

/** The width for changes. Without a terminal their lines are cut, too, because a record can be long. */
export function changesWidth(width: number): number {
  return Number.isFinite(width) ? width : widthElsewhere;
}

const summaryWidthMax = 76;

/** The width for summaries: on a terminal easy to read; elsewhere infinite, because broken lines are hard to search. */
export function summaryWidth(width: number): number {
  return Number.isFinite(width) ? Math.min(width, summaryWidthMax) : width;
}
