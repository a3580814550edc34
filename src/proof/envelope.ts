/** How a list's first answer describes it. */
export interface Envelope {
  /** The `pageNo` of the first page. */
  readonly firstPageNo: number;
  /** Records on a full page. */
  readonly pageSize: number;
  readonly pageCount: number;
  readonly totalRecordCount: number;
}
