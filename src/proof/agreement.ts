import { contentText } from '../contract/sum.ts';
import type { Counting, ItemsOf } from './answer.ts';
import { PagesOfContents } from './repeats.ts';
import {
  allPlaces,
  type Places,
  partsOf,
  placesBeside,
  placesCounted,
  type Strip,
  sumOfPlaces,
} from './strip.ts';

/** Whether a later reading says what an earlier one said, and what of it the earlier one did not cover. */
export type Agreement =
  | { readonly kind: 'agrees' }
  | { readonly kind: 'differs' | 'doubtful'; readonly reason: string }
  /** A page that is needed was known and therefore not read. */
  | { readonly kind: 'unread' };

/**
 * Holds a later walk against an earlier one: it agrees when the places that the earlier one covers hold the same multiset in
 * it, and when nothing of what came later, its bonus, raises a doubt.
 */
export function agree(earlier: Strip, later: Strip, itemsOf: ItemsOf): Agreement {
  const whole = sumOfPlaces(earlier, allPlaces(earlier), itemsOf);
  if (whole === null) return { kind: 'unread' };
  let doubt: Agreement | null = null;
  for (const places of placesOf(earlier, later)) {
    const sum = sumOfPlaces(later, places, itemsOf);
    if (sum === null) return { kind: 'unread' };
    if (!sum.equals(whole)) continue;
    const bonus = doubtOfBonus(later, places, itemsOf);
    if (bonus.kind !== 'doubtful') return bonus;
    doubt = bonus;
  }
  return doubt ?? { kind: 'differs', reason: 'two readings of the list held different records' };
}

/** Where in a later strip the places of an earlier one may lie: at the end that the direction says or, where neither has one, at either. */
function placesOf(earlier: Strip, later: Strip): Places[] {
  if (later.covered < earlier.covered) return [];
  const counting = earlier.counting ?? later.counting;
  const isEither = counting === null && later.covered > earlier.covered;
  const countings: Counting[] = isEither ? ['front', 'back'] : [counting ?? 'front'];
  return countings.flatMap(each => placesCounted(later, each, earlier.covered) ?? []);
}

/**
 * What came after the earlier reading was read once only. So none of it may stand in the agreed part, nor on two pages of its
 * own: that is a list that moved, or a duplicate that came just now.
 */
export function doubtOfBonus(later: Strip, agreed: Places, itemsOf: ItemsOf): Agreement {
  const bonus = placesBeside(later, agreed);
  if (bonus.from >= bonus.to) return { kind: 'agrees' };
  const pages = new PagesOfContents();
  for (const { answer, items } of partsOf(later, bonus)) {
    const read = itemsOf(answer.digest);
    if (read === null) return { kind: 'unread' };
    for (let at = items.from; at < items.to; at++) {
      if (!pages.add(contentText(read.contents, at), answer)) return doubtful;
    }
  }
  for (const { answer, items } of partsOf(later, agreed)) {
    const read = itemsOf(answer.digest);
    if (read === null) return { kind: 'unread' };
    for (let at = items.from; at < items.to; at++) {
      if (pages.has(contentText(read.contents, at))) return doubtful;
    }
  }
  return { kind: 'agrees' };
}

const doubtful: Agreement = {
  kind: 'doubtful',
  reason: 'a record that came while the list was read stands elsewhere in it, too',
};
