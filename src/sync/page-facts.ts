import { isDeepStrictEqual } from 'node:util';
import type { ListDefinition } from '../contract/lists.ts';
import type { Page } from '../contract/page.ts';
import type { ListMirror, PageFacts } from './ports.ts';

/** What a page shows before anything is compared. */
export function factsOf(list: ListDefinition, listMirror: ListMirror, pageNo: number, page: Page): PageFacts {
  const { pagination, itemsDigest, content } = page;
  if (content === null) {
    const itemCount = listMirror.knownItemCount(itemsDigest) ?? 0;
    return { pageNo, pagination, itemCount, itemsDigest, mayRepeat: false };
  }
  const { items } = content;
  const isUniform = items.length > 0 && items.every(item => isDeepStrictEqual(item, items[0]));
  const mayRepeat = list.identity.by === 'content' && isUniform;
  return { pageNo, pagination, itemCount: items.length, itemsDigest, mayRepeat };
}
