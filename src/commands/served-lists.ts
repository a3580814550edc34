import { browsables } from '../contract/browsable.ts';
import type { FilteredSource } from '../serve/list-page.ts';
import { changeParameters } from '../serve/list-query.ts';
import type { AskedChanges, AskedList, ServedPages } from '../serve/pages.ts';
import type { BrowseReader } from '../store/read/browse-reader.ts';
import type { Change } from '../store/read/change.ts';
import { type ChangeKey, placeOf as listAt } from '../store/read/change-cursor.ts';
import { placeLength } from '../store/read/record-list.ts';
import { withId } from '../store/read/with-id.ts';
import { TimeSlice } from '../time-slice.ts';
import { type Browsing, placeText, readPlace } from './browsing.ts';

/** Records, or changes, on a page. */
const itemsOnPage = 50;
/** If there are more connections than this, no choice is offered, and users type ids or names. */
const choicesMax = 300;

/** Records that match a filter, for programs. */
export function filteredRecords(browsing: Browsing): FilteredSource {
  return (resource, { filter, order, offset, limit }) =>
    browsing.with(async (reader, slices) => {
      const page = await slices(reader.page({ resource, filter, order, limit, from: { offset } }));
      return {
        records: page.items.map(({ id, ownId, record }) => withId(record, ownId, id)),
        totalRecordCount: page.count,
      };
    });
}

/** The list pages, and the files that they offer. */
export function servedLists(
  browsing: Browsing,
): Pick<ServedPages, 'list' | 'changes' | 'listFile' | 'changesFile'> {
  return {
    list: asked => browsing.with((reader, slices) => listPageOf(asked, reader, slices)),
    changes: asked => browsing.with(reader => changesPageOf(asked, reader)),
    async listFile({ browsable, filter, order }) {
      const { recordFile } = await import('../render/pages/csv-file.ts');
      return browsing.pieces(async function* (reader) {
        const { resource } = browsable;
        yield* inTurns(recordFile(browsable, reader.every({ resource, filter, order })));
      });
    },
    async changesFile({ filter, isDescending }) {
      const { changeFile } = await import('../render/pages/csv-file.ts');
      return browsing.pieces(async function* (reader) {
        yield* inTurns(changeFile(reader.changes({ filter, sinceRunId: 0, isDescending, after: null })));
      });
    },
  };
}

/** How long a file is written before other requests are answered, in milliseconds. */
const turnMs = 20;

async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  const slice = new TimeSlice(null, turnMs);
  for (const piece of pieces) {
    if (piece !== '') yield piece;
    if (slice.isOver) await slice.next();
  }
}

function choicesOf(reader: BrowseReader) {
  return {
    connections: reader.connectionChoices(choicesMax),
    kinds: reader.kindChoices(),
    resources: browsables,
  };
}

async function listPageOf(
  { browsable, filter, order, after, before, parameters }: AskedList,
  reader: BrowseReader,
  slices: <R>(work: Generator<void, R>) => Promise<R>,
) {
  const { listPage } = await import('../render/pages/list-page.ts');
  const length = placeLength(browsable, order.sort);
  const place = (name: string, text: string) => readPlace(name, text, order.sort, length);
  const from =
    after !== null
      ? { after: place('after', after) }
      : before !== null
        ? { before: place('before', before) }
        : { offset: 0 };
  const { resource } = browsable;
  const found = await slices(reader.page({ resource, filter, order, limit: itemsOnPage, from }));
  const [first, last] = [found.rows[0], found.rows.at(-1)];
  const isOfConnections = resource === 'connections';
  return listPage({
    browsable,
    items: found.items.map(item => ({
      ...item,
      ...(isOfConnections && { exportCounts: reader.exportCounts(item.id) }),
    })),
    count: found.count,
    order,
    parameters,
    choices: choicesOf(reader),
    before: found.hasBefore && first !== undefined ? placeText(order.sort, first.place) : null,
    after: found.hasAfter && last !== undefined ? placeText(order.sort, last.place) : null,
  });
}

async function changesPageOf(
  { filter, isDescending, after, before, parameters }: AskedChanges,
  reader: BrowseReader,
) {
  const { changesPage } = await import('../render/pages/changes-page.ts');
  const isBackwards = before !== null;
  const text = after ?? before;
  const start = text === null ? null : changeAt(isBackwards ? 'before' : 'after', text);
  const found = await take(
    reader.changes({ filter, sinceRunId: 0, isDescending: isDescending !== isBackwards, after: start }),
    itemsOnPage + 1,
  );
  const hasMore = found.length > itemsOnPage;
  const kept = found.slice(0, itemsOnPage);
  const changes = isBackwards ? kept.toReversed() : kept;
  const [first, last] = [changes[0], changes.at(-1)];
  return changesPage({
    changes,
    names: changeParameters,
    parameters,
    choices: choicesOf(reader),
    before: first !== undefined && (isBackwards ? hasMore : start !== null) ? placeOfChange(first) : null,
    after: last !== undefined && (isBackwards || hasMore) ? placeOfChange(last) : null,
  });
}

/** The first changes; other requests are answered in between. */
export async function take(changes: Generator<Change | null>, max: number): Promise<Change[]> {
  const taken: Change[] = [];
  const slice = new TimeSlice(null, turnMs);
  for (const change of changes) {
    if (change !== null) taken.push(change);
    if (taken.length === max) break;
    if (slice.isOver) await slice.next();
  }
  return taken;
}

function placeOfChange({ runId, resource, recordId, operation }: ChangeKey): string {
  return placeText('change', [runId, resource, recordId, operation]);
}

/** @throws HttpError with status 400 if the text is not the position of a change. */
function changeAt(name: string, text: string): ChangeKey {
  const [runId, resource, recordId, operation] = readPlace(name, text, 'change', 4);
  return {
    runId: Number(runId),
    resource: listAt(String(resource)) < 0 ? 'connections' : String(resource),
    recordId: Number(recordId),
    operation: operation === 'insert' || operation === 'update' ? operation : 'removal',
  };
}
