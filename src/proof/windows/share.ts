import { type Identity, type ItemsOf, isSameRecord, type PageItems } from './page.ts';
import type { Window } from './window.ts';

/**
 * Whether two windows show the same record. `later` begins where `earlier` begins, or after it, in the order of the
 * list. Most neighbours show it at their edges; if they do not, all items are compared.
 */
export function shareRecord(earlier: Window, later: Window, identity: Identity, itemsOf: ItemsOf): boolean {
  const a = earlier.answer.summary;
  const b = later.answer.summary;
  if (a.count === 0 || b.count === 0) return false;
  if (a.digest === b.digest) return true;
  if (haveCommon(a.tail, b.head, identity)) return true;
  const all = itemsOf(earlier.answer);
  const others = itemsOf(later.answer);
  if (all === null && others === null) return areBothKnown(earlier, later, identity);
  if (all !== null && haveCommon(all, b.head, identity)) return true;
  if (others !== null && haveCommon(a.tail, others, identity)) return true;
  return all !== null && others !== null && haveCommon(all, others, identity);
}

/**
 * Two pages that were known and not read: their records are the mirror's rows in their windows. So the last record of
 * the earlier one is on both, because the later one covers its key.
 */
function areBothKnown(earlier: Window, later: Window, identity: Identity): boolean {
  return identity === 'id' ? later.from <= earlier.to : later.from < earlier.to;
}

/** Both are in order. Falling keys are compared like rising ones. */
function haveCommon(a: PageItems, b: PageItems, identity: Identity): boolean {
  const isDown = isFalling(a.keys) || isFalling(b.keys);
  let from = 0;
  for (let atB = 0; atB < b.keys.length; atB++) {
    const key = b.keys[atB] as number;
    while (from < a.keys.length && isBefore(a.keys[from] as number, key, isDown)) from++;
    for (let atA = from; atA < a.keys.length && a.keys[atA] === key; atA++) {
      if (isSameRecord(a, atA, b, atB, identity)) return true;
    }
  }
  return false;
}

function isBefore(key: number, other: number, isDown: boolean): boolean {
  return isDown ? key > other : key < other;
}

function isFalling(keys: Float64Array): boolean {
  return (keys[0] as number) > (keys.at(-1) as number);
}
