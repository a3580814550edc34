import { contentBytes, Sum } from '../../contract/sum.ts';
import type { PageItems } from './page.ts';
import type { Window } from './window.ts';

/**
 * The sum of the records of a page whose keys its window covers. If the mirror's rows with these keys have the same
 * sum, a page that is known from the last proven full sync needs no parsing. Records at an edge that the window does
 * not cover are left out.
 *
 * @returns null if more records share a key at an edge than the page's summary contains: then the page has to be read.
 */
export function sumSpokenOf({ answer, isFromIn, isToIn }: Window): Sum | null {
  const { sum, head, tail, count, firstKey, lastKey } = answer.summary;
  const left = new Sum().plus(sum);
  if (isFromIn && isToIn) return left;
  const isTold = (items: PageItems, key: number) =>
    items.keys.length === count || items.keys.some(other => other !== key);
  if (!isFromIn && !isTold(head, firstKey)) return null;
  if (!isToIn && !isTold(tail, lastKey)) return null;
  if (!isFromIn) takeAway(left, head, firstKey);
  // If all records share one key, it is at both edges, and they are already subtracted.
  if (!isToIn && (isFromIn || firstKey !== lastKey)) takeAway(left, tail, lastKey);
  return left;
}

function takeAway(sum: Sum, { keys, contents }: PageItems, key: number): void {
  for (const [at, other] of keys.entries()) if (other === key) sum.subtract(contents, at * contentBytes);
}
