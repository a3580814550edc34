import type { Resource, SampleItem, StandIn } from './stand-in.ts';

/** An answer that is about to be made. */
export interface ComingAnswer {
  /** Counted from 1, over the answers of the list. */
  readonly n: number;
  /** The places that it will show: from the first one, from 0, to the place after the last. */
  readonly from: number;
  readonly to: number;
}

/** Calls `change` before each answer of a list, so that a test can change the list between any two. */
export function beforeEachAnswer(
  service: StandIn,
  resource: Resource,
  change: (answer: ComingAnswer) => void,
): void {
  let n = 0;
  const { firstPage, defaultPageSize, maxPageSize } = service.options;
  service.onRequest = request => {
    if (request.resource !== resource) return;
    const size = Math.min(request.pageSize ?? defaultPageSize, maxPageSize);
    const from = ((request.pageNo ?? firstPage) - firstPage) * size;
    change({ n: ++n, from, to: from + size });
  };
}

/** Writes the items of a list again before each answer, as `itemOf` says. */
export function writeItems(
  service: StandIn,
  resource: Resource,
  itemOf: (item: SampleItem, at: number, answer: ComingAnswer) => SampleItem,
): void {
  const items = service.lists[resource] as SampleItem[];
  beforeEachAnswer(service, resource, answer => {
    service.lists[resource] = items.map((item, at) => itemOf(item, at, answer));
  });
}
