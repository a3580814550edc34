import { keptResources, lists } from '../contract/lists.ts';
import type { ServedPages, ServedReport } from '../serve/pages.ts';
import { MirrorReader } from '../store/read/mirror-reader.ts';
import { inSlices } from './in-slices.ts';

interface Sources {
  readonly report: ServedReport;
  /** Changes whenever the mirror does. */
  revision(): string;
  reader(): MirrorReader;
}

/** Most versions of a record on its page. */
const versionsMax = 50;
const searchBounds = { hitsMax: 50, timeMsMax: 5_000 };

/** The pages of a mirror, as they are served. A search goes on in slices, between which the server answers others. */
export async function servedPages(
  database: string,
  { report, revision, reader }: Sources,
): Promise<ServedPages> {
  const { searchTextMax } = await import('../render/report/frame.ts');
  return {
    report,
    revision,
    searchTextMax,
    async record(resource, id) {
      const { noRecordPage, recordPage } = await import('../render/report/record-page.ts');
      const isKnown = keptResources.some(each => each === resource) && /^-?\d+$/.test(id);
      const recordId = isKnown ? Number(id) : Number.NaN;
      const story = Number.isSafeInteger(recordId) ? reader().story(resource, recordId, versionsMax) : null;
      if (story === null) return { ...noRecordPage(), isFound: false };
      const list = lists.find(each => each.resource === resource)?.title ?? 'Connections';
      return { ...recordPage(story, list), isFound: true };
    },
    async search(text) {
      const { searchPage } = await import('../render/report/search-page.ts');
      return searchPage(text, text === '' ? null : await searchInTurns(database, text));
    },
  };
}

/** Over a connection of its own: the one for records may be opened anew between two turns. */
async function searchInTurns(database: string, text: string) {
  using reader = new MirrorReader(database);
  return await inSlices(reader.search(text, searchBounds));
}
