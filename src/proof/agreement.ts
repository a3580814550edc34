import { contentText } from '../contract/sum.ts';
import type { Counting, ItemsOf } from './answer.ts';
import { type Growth, growthBeyond } from './growth.ts';
import { allPlaces, partsOf, placesCounted, sumOfPlaces } from './parts.ts';
import { PagesOfContents } from './repeats.ts';
import type { Places, Strip } from './strip.ts';

/** Whether a later reading says what an earlier one said. */
export type Agreement =
  /** `growth` is what the earlier one does not cover, and is to be read once more; null where it covers all. */
  { readonly kind: 'agrees'; readonly growth: Growth | null } | Disagreement;

type Disagreement =
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
  for (const counting of countingsOf(earlier, later)) {
    const places = placesCounted(later, counting, earlier.covered);
    if (places === null) continue;
    const sum = sumOfPlaces(later, places, itemsOf);
    if (sum === null) return { kind: 'unread' };
    if (!sum.equals(whole)) continue;
    if (later.covered === earlier.covered) return { kind: 'agrees', growth: null };
    const growth = growthBeyond(later, counting, places);
    doubt = doubtOfBonus(growth, places, itemsOf);
    if (doubt === null) return { kind: 'agrees', growth };
    if (doubt.kind === 'unread') return doubt;
  }
  return doubt ?? { kind: 'differs', reason: 'two readings of the list held different records' };
}

/** From where the places of an earlier strip may be counted in a later one: as the direction says or, where neither has one, either way. */
function countingsOf(earlier: Strip, later: Strip): readonly Counting[] {
  const counting = earlier.counting ?? later.counting;
  const isEither = counting === null && later.covered > earlier.covered;
  return isEither ? ['front', 'back'] : [counting ?? 'front'];
}

/**
 * None of what came after the earlier reading may stand in the agreed part, nor on two pages of its own: that is a list that
 * moved, or a duplicate that came just now. Null where nothing is in doubt.
 */
function doubtOfBonus({ strip, bonus }: Growth, agreed: Places, itemsOf: ItemsOf): Disagreement | null {
  const pages = new PagesOfContents();
  for (const { answer, items } of partsOf(strip, bonus)) {
    const read = itemsOf(answer.digest);
    if (read === null) return { kind: 'unread' };
    for (let at = items.from; at < items.to; at++) {
      if (!pages.add(contentText(read.contents, at), answer)) return doubtful;
    }
  }
  for (const { answer, items } of partsOf(strip, agreed)) {
    const read = itemsOf(answer.digest);
    if (read === null) return { kind: 'unread' };
    for (let at = items.from; at < items.to; at++) {
      if (pages.has(contentText(read.contents, at))) return doubtful;
    }
  }
  return null;
}

const doubtful: Disagreement = {
  kind: 'doubtful',
  reason: 'a record that came while the list was read stands elsewhere in it, too',
};
