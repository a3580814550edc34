import { parseExact } from './json.ts';

/** The place of an answer in its list. */
export interface Pagination {
  readonly pageCount: number;
  readonly pageNo: number;
  /** Records on a full page. */
  readonly pageSize: number;
  readonly totalRecordCount: number;
}

/** A field that the service sends and that has no column, with one of the JSON types of its values. */
export interface UnknownField {
  readonly field: string;
  readonly jsonType: string;
  /** True if it is a member of the answers beside `items` and `pagination`, whose values are not kept. */
  readonly isInAnswer?: boolean;
}

/** An answer of the service. Its envelope is checked; its items are not. */
export interface Page {
  readonly pagination: Pagination;
  /** The bytes of `items` as received, decompressed. The rest of the answer can contain an echo of the request. */
  readonly bytes: Buffer;
  /** 32 hexadecimal digits over these bytes. */
  readonly digest: string;
  /** The items in their order, with all digits of their numbers; null if the digest was known, so that nothing was parsed. */
  readonly items: readonly unknown[] | null;
  /** The members beside `items` and `pagination`. Their values are not kept. */
  readonly otherMembers: readonly UnknownField[];
}

/**
 * Bytes of items that are parsed at a time. For a text beyond some 100 KiB the engine maps memory, which takes twice as
 * long as parsing it.
 */
const partBytes = 32 * 1024;

/** Parses a page's items from the bytes of the array. Throws a SyntaxError if they are not JSON. */
export function parseItems(bytes: Buffer): unknown[] {
  const parse = (from: number, to: number) =>
    parseExact(`[${bytes.toString('utf8', from, to)}]`) as unknown[];
  const end = bytes.length - 1;
  try {
    const parts: unknown[][] = [];
    let from = 1;
    // It is cut between what seem to be two items.
    for (let cut = 0; cut >= 0; ) {
      cut = bytes.indexOf('},{', from + partBytes);
      parts.push(parse(from, cut < 0 ? end : cut + 1));
      from = cut + 2;
    }
    return parts.flat();
  } catch {
    // A part that was cut inside an item is not JSON.
    return parse(1, end);
  }
}
