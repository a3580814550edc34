import { syncScene } from './in-process.ts';
import { listed, mirrored } from './oracle.ts';
import { sqlite } from './run-cli.ts';
import { make, type Scene, setScene } from './scene.ts';
import { collection, documentExport, type Fault, type RecordedRequest, type SampleItem } from './stand-in.ts';

/** How the one list of a scene is ordered. */
export type Order = 'by time, the oldest first' | 'by time, the newest first' | 'by id';

/** A service of one long list, with pages of at most `size` records. */
export interface LongList extends Scene {
  readonly resource: 'document-exports' | 'collections';
  readonly size: number;
  /** The list as it is now, which a test can change. */
  readonly items: SampleItem[];
  /** Places a new record by its number, and returns it. */
  add(n: number): SampleItem;
}

export async function setLongList(
  pages: number,
  { order = 'by time, the oldest first' as Order, size = 20 } = {},
): Promise<LongList> {
  const scene = await setScene({ maxPageSize: size }, { exports: 0, collections: 0, webhooks: 0 });
  const resource = order === 'by id' ? 'collections' : 'document-exports';
  const one = order === 'by id' ? collection : documentExport;
  // Others can be added between any two.
  const items = make(pages * size, n => one(10 * n));
  if (order === 'by time, the newest first') items.reverse();
  scene.service.lists[resource] = items;
  const keyOf = (item: SampleItem) => Number(item.id ?? Date.parse(String(item.exportedAt)));
  const sign = order === 'by time, the newest first' ? -1 : 1;
  return {
    ...scene,
    resource,
    size,
    items,
    add(n) {
      const item = one(n);
      const at = items.findIndex(other => sign * (keyOf(other) - keyOf(item)) > 0);
      items.splice(at < 0 ? items.length : at, 0, item);
      return item;
    },
  };
}

/** One full run over the one list, in this process. */
export const syncLong = (scene: LongList, options: Parameters<typeof syncScene>[1] = {}) =>
  syncScene(scene, { resources: [scene.resource], ...options });

/** The same with little patience: an outage soon ends it. */
export const syncBriefly = (scene: LongList, options: Parameters<typeof syncScene>[1] = {}) =>
  syncLong(scene, { giveUpAfterMs: 700, retryDelayMs: 100, ...options });

/** A run that is broken off after so many answers, and what it ended with. The service is well again then. */
export async function breakOff(
  scene: LongList,
  answers: number,
  options: Parameters<typeof syncScene>[1] = {},
) {
  failAfter(scene, answers);
  const synced = await syncBriefly(scene, options);
  failAfter(scene);
  return synced.of(scene.resource);
}

/** Lets the service answer so often for the list, and then only with faults; until it is called again without a number. */
export function failAfter({ service, resource }: LongList, answers?: number, fault: Fault = refused): void {
  let left = answers ?? 0;
  service.options.faults =
    answers === undefined
      ? undefined
      : request => (request.resource === resource && left-- <= 0 ? fault : undefined);
}

const refused: Fault = { kind: 'status', status: 401 };

/** Lets all pages fail that reach beyond so many records; the others are answered. */
export function failBeyond({ service, size }: LongList, places: number, status: number): void {
  const placeOf = ({ pageNo, pageSize }: RecordedRequest) => (pageNo ?? 1) * Math.min(pageSize ?? size, size);
  service.options.faults = request => (placeOf(request) > places ? { kind: 'status', status } : undefined);
}

/** The requests since the last call, those of other lists left out. */
export function takeRequests({ service, resource }: LongList): RecordedRequest[] {
  const requests = service.requests.filter(request => request.resource === resource);
  service.requests = [];
  return requests;
}

/** The records that are listed and not in the mirror, and those that are in the mirror and not listed. */
export function differenceOf(
  { database, resource, items: now }: LongList,
  items: readonly SampleItem[] = now,
) {
  const [rows, records] = [new Set(mirrored(database, resource)), new Set(listed(items, resource))];
  return { missing: records.difference(rows).size, extra: rows.difference(records).size };
}

/** What the runs of the list ended with, the oldest first. */
export const endsOf = ({ database, resource }: LongList) =>
  sqlite(
    database,
    `SELECT l.run_id AS run, l.status, l.completeness, l.mode, l.error_code AS error, l.reason, l.read_since AS since, l.started_at AS started,
       l.requests, l.records_seen AS seen, l.inserted, l.updated, l.removed, l.record_count AS rows, l.walks
     FROM sync_run_resources l WHERE resource = '${resource}' ORDER BY run_id`,
  );
