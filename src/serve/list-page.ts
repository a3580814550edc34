import type { ListDefinition } from '../contract/lists.ts';
import { HttpError } from './http-error.ts';
import { paging } from './limits.ts';
import type { RecordSource } from './record-source.ts';

/** A query string, parsed; a parameter that is given twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

/** A page that is asked for. */
export interface Place {
  readonly pageNo: number;
  readonly pageSize: number;
}

/**
 * The page that a query string asks for.
 *
 * @throws HttpError with status 400 that names the parameter that can't be served.
 */
export function turnTo(query: Query): Place {
  return {
    pageNo: wholeNumber(query, 'pageNo', paging.pageNoFirst, paging.pageNoMax) ?? paging.pageNoFirst,
    pageSize: wholeNumber(query, 'pageSize', 1, paging.pageSizeMax) ?? paging.pageSizeDefault,
  };
}

/** The JSON text of one page of a list, in the service's own shape. */
export function listPage(source: RecordSource, list: ListDefinition, { pageNo, pageSize }: Place): string {
  const offset = (pageNo - paging.pageNoFirst) * pageSize;
  const { records, totalRecordCount } = source.page(list, offset, pageSize);
  const pageCount = Math.ceil(totalRecordCount / pageSize);
  const pagination = JSON.stringify({ pageCount, pageNo, pageSize, totalRecordCount });
  return `{"items":[${records.join(',')}],"pagination":${pagination}}`;
}

/**
 * A whole number of a query string; null if it is not there.
 *
 * @throws HttpError with status 400 that names the parameter.
 */
export function wholeNumber(query: Query, name: string, min: number, max: number): number | null {
  const text = query[name];
  if (text === undefined) return null;
  const value = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new HttpError(400, `${name} must be a whole number from ${min} to ${max}, given at most once.`);
}
