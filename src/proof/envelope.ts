import type { Pagination } from '../contract/page.ts';

/** How a list's first answer describes it. */
export interface Envelope extends Omit<Pagination, 'pageNo'> {
  /** The `pageNo` of the first page. */
  readonly firstPageNo: number;
}
