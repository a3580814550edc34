import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { listOf } from '../../src/contract/lists.ts';
import { type Page, readPage } from '../../src/contract/page.ts';
import type { Asked } from '../../src/proof/page-plan.ts';
import type { PageSource } from '../../src/sync/ports.ts';
import { walkPages } from '../../src/sync/walk.ts';

const pages = 200;

/** A service whose first page comes only when it is let. */
function slowAtFirst(): { source: PageSource; letFirst: () => void } {
  const first = Promise.withResolvers<void>();
  const source: PageSource = {
    baseUrl: 'https://slow.example',
    traffic: { requests: 0, retries: 0, bytes: 0, waitedMs: 0 },
    concurrency: 3,
    async getPage(_list, { pageNo }) {
      if (pageNo === 1) await first.promise;
      const pagination = { pageCount: pages, pageNo, pageSize: 1, totalRecordCount: pages };
      return readPage(Buffer.from(JSON.stringify({ items: [{ id: pageNo }], pagination })));
    },
  };
  return { source, letFirst: first.resolve };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('pages that came are not kept in memory while another one is slow', async () => {
  const { source, letFirst } = slowAtFirst();
  const list = listOf('collections');
  const { signal } = new AbortController();
  const requests = { source, list, firstPageNo: 1, pageSize: 1, isKnown: () => false, signal };
  let asked = 0;
  const next = (): Asked | null =>
    asked === pages ? null : { index: asked++, totalBefore: pages, isBeyond: false };
  const came: WeakRef<Page>[] = [];
  let kept = pages;
  for await (const { page } of walkPages(requests, next)) {
    if (page !== null) came.push(new WeakRef(page));
    if (came.length !== pages - 1) continue;
    await nextTurn();
    collectGarbage();
    kept = came.filter(each => each.deref() !== undefined).length;
    letFirst();
  }
  expect(came).toHaveLength(pages);
  expect(kept).toBeLessThan(pages / 10);
});
