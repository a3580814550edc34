import { noFilter } from '../contract/browsable.ts';
import { keptResources, lists } from '../contract/lists.ts';
import { browsableAt, orderById, usualOrder } from '../serve/list-query.ts';
import type { ServedPages, ServedReport } from '../serve/pages.ts';
import type { BrowseReader } from '../store/read/browse-reader.ts';
import type { MirrorReader } from '../store/read/mirror-reader.ts';
import type { Browsing } from './browsing.ts';
import { servedLists } from './served-lists.ts';

interface Sources {
  readonly report: ServedReport;
  readonly browsing: Browsing;
  /** Changes whenever the mirror does. */
  revision(): string;
  reader(): MirrorReader;
}

/** Most versions of a record on its page. */
const versionsMax = 50;
/** Records of each kind on the page of a connection. */
const belongingMax = 10;
/** A search is stopped after this time, in milliseconds. */
const searchMsMax = 10_000;

const rootAt = ['./', '../', '../../'] as const;

/** The pages of a mirror, as they are served. Long work is done in slices, and the server answers others between them. */
export async function servedPages({ report, browsing, revision, reader }: Sources): Promise<ServedPages> {
  const { searchTextMax } = await import('../render/report/frame.ts');
  const { hitsOnPage, searchPagesMax } = await import('../render/pages/search-page.ts');
  return {
    report,
    revision,
    searchTextMax,
    searchPagesMax,
    ...servedLists(browsing),
    async record(resource, id) {
      const { noRecordPage, recordPage } = await import('../render/pages/record-page.ts');
      const isKnown = keptResources.some(each => each === resource);
      const recordId = isKnown ? idOf(id) : null;
      const story = recordId === null ? null : reader().story(resource, recordId, versionsMax);
      if (story === null) return { ...noRecordPage('../../'), isFound: false };
      const list = lists.find(each => each.resource === resource)?.title ?? 'Connections';
      return { ...recordPage(story, list), isFound: true };
    },
    async connection(id) {
      const { noRecordPage } = await import('../render/pages/record-page.ts');
      const { connectionPage } = await import('../render/pages/connection-page.ts');
      const connectionId = idOf(id);
      const view =
        connectionId === null
          ? null
          : await browsing.with((open, slices) => connectionView(open, connectionId, slices));
      if (view === null) return { ...noRecordPage('../'), isFound: false };
      return { ...connectionPage(view), isFound: true };
    },
    async search(text, pageNo) {
      const { searchPage } = await import('../render/pages/search-page.ts');
      if (text === '') return searchPage(text, 1, null);
      const bounds = { skip: (pageNo - 1) * hitsOnPage, hitsMax: hitsOnPage, timeMsMax: searchMsMax };
      const result = await browsing.with((open, slices) => slices(open.search(text, bounds)));
      return searchPage(text, pageNo, result);
    },
    async refusal(message, depth) {
      const { refusalPage } = await import('../render/pages/refusal-page.ts');
      return refusalPage(message, rootAt[depth] ?? './');
    },
  };
}

function idOf(text: string): number | null {
  const id = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
}

async function connectionView(
  reader: BrowseReader,
  id: number,
  slices: <R>(work: Generator<void, R>) => Promise<R>,
) {
  const found = reader.connection(id);
  if (found === null) return null;
  const belonging = async (resource: string, side: 'source' | 'destination', count?: number) => {
    // A search that finds nothing reads all exports.
    if (count === 0) return { items: [], count };
    const browsable = browsableAt(resource);
    const filter = { ...noFilter, [side]: String(id) };
    const order = resource === 'document-exports' ? usualOrder(browsable) : orderById(browsable);
    return slices(reader.page({ resource, filter, order, limit: belongingMax, from: { offset: 0 } }));
  };
  return {
    ...found,
    exports: await belonging('document-exports', 'source', found.exported),
    imports: await belonging('document-exports', 'destination', found.received),
    sourceOf: await belonging('collections', 'source'),
    destinationOf: await belonging('collections', 'destination'),
    webhooks: { items: reader.records('webhooks', found.webhookIds), count: found.webhookCount },
  };
}
