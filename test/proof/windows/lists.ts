import fc from 'fast-check';
import { hash16 } from '../../../src/contract/sum.ts';
import type { PageAddress, PageAnswer, PageItems } from '../../../src/proof/windows/page.ts';
import { summaryOf } from '../../../src/proof/windows/page.ts';

/** Items by their keys, in their order; a key that comes twice is two records. */
export function itemsOf(keys: readonly number[]): PageItems {
  const seen = new Map<number, number>();
  const contents = keys.map(key => {
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return hash16(`${key} ${count}`);
  });
  return { keys: Float64Array.from(keys), contents: Buffer.concat(contents) };
}

/** The items of each answer that was made here. */
const made = new WeakMap<PageAnswer, PageItems>();

/** Finds the items of an answer that was made here. */
export function madeItems(answer: PageAnswer): PageItems | null {
  return made.get(answer) ?? null;
}

/** An answer that shows some items. */
export function answerWith(
  page: PageAddress,
  items: PageItems,
  total: number,
  over: Partial<PageAnswer> = {},
): PageAnswer {
  const digest = Buffer.from(items.contents).toString('hex');
  const base = {
    asked: 1,
    arrived: 2,
    isSecondLook: false,
    reading: 0,
    summary: summaryOf(items, digest, 'content'),
  };
  const answer = { ...page, total, ...base, ...over };
  made.set(answer, items);
  return answer;
}

/** The answer that an honest service gives of a list of these keys. */
export function answerOf(
  list: readonly number[],
  page: PageAddress,
  over: Partial<PageAnswer> = {},
): PageAnswer {
  const from = page.index * page.size;
  const items = itemsOf(list);
  const cut = {
    keys: items.keys.slice(from, from + page.size),
    contents: items.contents.slice(from * 16, (from + page.size) * 16),
  };
  return answerWith(page, cut, list.length, over);
}

/** Lists of ids, each once, from the lowest to the highest. */
export const ids: fc.Arbitrary<number[]> = fc
  .uniqueArray(fc.integer({ min: 1, max: 5_000 }), { maxLength: 400 })
  .map(list => list.sort((a, b) => a - b));

/** Lists of times, some of them shared, from the first to the last. */
export const times: fc.Arbitrary<number[]> = fc
  .array(fc.integer({ min: 1, max: 60 }), { maxLength: 120 })
  .map(list => list.sort((a, b) => a - b));

/** The greatest page size of a service, for which a plan of many pages goes on. */
export const largest: fc.Arbitrary<number> = fc.integer({ min: 25, max: 120 });
