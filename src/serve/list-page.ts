import {
  type Browsable,
  type ListOrder,
  parametersOf,
  type RecordFilter,
  sortsOf,
} from '../contract/browsable.ts';
import type { ListDefinition } from '../contract/lists.ts';
import type { RecordPage } from '../store/read/mirror-reader.ts';
import { HttpError } from './http-error.ts';
import { paging } from './limits.ts';
import { assertKnown, orderById, type Query, readFilter, readOrder, wholeNumber } from './list-query.ts';
import type { RecordSource } from './record-source.ts';

/** The page that a client asks for. */
export interface Place {
  readonly pageNo: number;
  readonly pageSize: number;
}

/** A range of the records that match a filter, in an order. */
export interface ListRange {
  readonly filter: RecordFilter;
  readonly order: ListOrder;
  readonly offset: number;
  readonly limit: number;
}

/** Gives records of a list, or of the connections, that match a filter, each as JSON text. */
export type FilteredSource = (resource: Browsable['resource'], range: ListRange) => Promise<RecordPage>;

/** A search with `q` reads all rows again for each page, and keeps up to this many records in memory. */
const wordRecordsMax = 10_000;

const pageNames = ['pageNo', 'pageSize'];

/**
 * The page that a query string asks for.
 *
 * @throws HttpError with status 400 that names the parameter that can't be served.
 */
function parsePaging(query: Query): Place {
  return {
    pageNo: wholeNumber(query, 'pageNo', paging.pageNoFirst, paging.pageNoMax) ?? paging.pageNoFirst,
    pageSize: wholeNumber(query, 'pageSize', 1, paging.pageSizeMax) ?? paging.pageSizeDefault,
  };
}

/** The JSON text of one page of a list, in the service's own shape. */
export function listPage(source: RecordSource, list: ListDefinition, query: Query): string {
  assertKnown(query, pageNames);
  const place = parsePaging(query);
  return pageText(source.page(list, offsetOf(place), place.pageSize), place);
}

/** The same for the records that match the query string's filter, in its order. */
export async function filteredPage(
  source: FilteredSource,
  browsable: Browsable,
  query: Query,
): Promise<string> {
  assertKnown(query, [...pageNames, ...parametersOf(browsable)]);
  const place = parsePaging(query);
  const [offset, limit] = [offsetOf(place), place.pageSize];
  const filter = readFilter(query);
  const order = readOrder(query, sortsOf(browsable), orderById(browsable));
  if (filter.q !== '' && offset + limit > wordRecordsMax)
    throw new HttpError(400, `With q, only the first ${wordRecordsMax} records are served: narrow it down.`);
  return pageText(await source(browsable.resource, { filter, order, offset, limit }), place);
}

function offsetOf({ pageNo, pageSize }: Place): number {
  return (pageNo - paging.pageNoFirst) * pageSize;
}

function pageText({ records, totalRecordCount }: RecordPage, { pageNo, pageSize }: Place): string {
  const pageCount = Math.ceil(totalRecordCount / pageSize);
  const pagination = JSON.stringify({ pageCount, pageNo, pageSize, totalRecordCount });
  return `{"items":[${records.join(',')}],"pagination":${pagination}}`;
}
