// Of all phases: the numbers of records and of their versions, 12 bytes for a record on a page. Only this file says how they are made.

declare const record: unique symbol;
declare const version: unique symbol;

/** The number of a record: the same wherever it is shown, whatever its text is. Records of one identity have one number. */
export type RecordNo = number & { readonly [record]: true };

/** The record with an id. */
export const ofId = (id: number) => id as RecordNo;
/** The records of an identity, of which this is the first row. */
export const ofRow = (row: number) => row as RecordNo;
/** The records of an identity that has no row; `text` is the number of its first text among all texts of the run, from 1. */
export const ofNew = (text: number) => -text as RecordNo;
/** A record without an id that can't be read; `count` is its number among these, from 1. No id and no row is half a number. */
export const ofRejected = (count: number) => (count - 0.5) as RecordNo;
/** Whether records without ids have a row: their number is then that of their first one. */
export const isOfRow = (no: RecordNo): boolean => no > 0 && Number.isInteger(no);

/** The number of a version of a record. */
export type VersionNo = number & { readonly [version]: true };

/** The version of a record that has one row, if it is shown as that row is. */
export const asItsRow = 0 as VersionNo;
/** The version of a record that can't be read. */
export const unreadable = -1 as VersionNo;
/** Any other version; `count` is the number of its text among all texts of the run, from 1. */
export const ofText = (count: number) => count as VersionNo;

/** The numbers of the records on a page, in 8 bytes each. */
export interface RecordNos extends Float64Array<ArrayBuffer> {
  [at: number]: RecordNo;
  [Symbol.iterator](): ArrayIterator<RecordNo>;
  entries(): ArrayIterator<[number, RecordNo]>;
}

/** The numbers of their versions, in 4 bytes each. */
export interface VersionNos extends Int32Array<ArrayBuffer> {
  [at: number]: VersionNo;
}

/** What a page shows: for each place the number of its record, and that of its version. */
export interface ShownRecords {
  readonly records: RecordNos;
  readonly versions: VersionNos;
}

/** Room for the records of a page; each has the version `asItsRow`. */
export function roomFor(count: number): ShownRecords {
  return { records: new Float64Array(count) as RecordNos, versions: new Int32Array(count) as VersionNos };
}

/** The records of a page. */
export function showing(
  shown: readonly { readonly record: RecordNo; readonly version?: VersionNo }[],
): ShownRecords {
  const room = roomFor(shown.length);
  for (const [at, { record, version = asItsRow }] of shown.entries()) {
    room.records[at] = record;
    room.versions[at] = version;
  }
  return room;
}
