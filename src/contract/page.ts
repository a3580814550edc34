import { parseExact } from './json.ts';
import type { ListDefinition } from './lists.ts';
import { type FieldsOf, oneOf, optional, text, whole, yesOrNo } from './shapes.ts';

/** The place of an answer in its list. */
export interface Pagination {
  readonly pageCount: number;
  readonly pageNo: number;
  /** Records on a full page. */
  readonly pageSize: number;
  readonly totalRecordCount: number;
}

/** A whole number as text, which some services make of the query. More digits could be no exact number. */
const digits = /^-?\d{1,15}$/;

/** The whole number that a value of `pagination` is, also as text; null if it is none. */
export function wholeNumberIn(value: unknown): number | null {
  const number = typeof value === 'string' && digits.test(value) ? Number(value) : value; // guard: digits as text
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/**
 * Reads the numbers of `pagination`; throws what `refusal` makes of the first one that is none. A total or a page count below zero is an
 * estimate that was never made: it states nothing, as 0.
 */
export function readPagination(
  said: { readonly [name: string]: unknown },
  refusal: (name: string, value: unknown) => Error,
): Pagination {
  const read = (name: keyof Pagination, least = Number.NEGATIVE_INFINITY) => {
    const number = wholeNumberIn(said[name]);
    if (number === null || number < least) throw refusal(name, said[name]);
    return number;
  };
  return {
    pageCount: Math.max(0, read('pageCount')),
    pageNo: read('pageNo'),
    pageSize: read('pageSize', 0),
    totalRecordCount: Math.max(0, read('totalRecordCount')), // guard: a total that was never counted
  };
}

/** What tells of a field that the service sends and that has no column: its name, and one of the JSON types of its values. */
export const unknownField = {
  field: text(),
  jsonType: oneOf<string>(['string', 'number', 'boolean', 'object', 'array', 'null'], 'of its values'),
  isInAnswer: optional(yesOrNo('true if it is beside `items` in an answer')),
};
/** The same, as a type. The values of a field beside `items` are not kept. */
export type UnknownField = FieldsOf<typeof unknownField>;

/** An answer of the service. Its envelope is checked; its items are not. */
export interface Page {
  readonly pagination: Pagination;
  /** The bytes of `items` as received, decompressed. The rest of the answer can contain an echo of the request. */
  readonly bytes: Buffer;
  /** 32 hexadecimal digits over these bytes. */
  readonly digest: string;
  /** The items in their order, with all digits of their numbers; known ones are `undefined`, and null means that all are. */
  readonly items: readonly unknown[] | null;
  /** The bytes of those that are not known. */
  readonly unknown: Buffer;
  readonly otherMembers: readonly UnknownField[];
  /** For how long a cache had kept the answer, by its own word, in milliseconds; 0 if it does not say so. */
  readonly ageMs: number;
  /** The members of `pagination` that are texts, and whether its total is below zero; left out if nobody looked. */
  readonly textNumbers?: readonly string[];
  readonly isTotalNegative?: boolean;
}

/** The page to ask for; null leaves the parameter out, so that the service's own default counts. */
export interface PageRequest {
  readonly pageNo: number | null;
  readonly pageSize: number | null;
  /** True if, by all that is known, there is no page at this address: an empty answer might then be right. */
  readonly isBeyond?: boolean;
  /** How often a page that the service fails to make is asked for; as long as the service is given up if it is left out. */
  readonly triesMax?: number;
  /** How often a page is asked for before a smaller one is; if it is left out, smaller ones are not asked for. */
  readonly triesOfSize?: number;
  /** Reads the items of an answer; all of them are parsed if it is left out. */
  readonly readItems?: ReadItems;
}

/** Reads a page's items from the bytes of the array, which have that digest. Throws a SyntaxError if they are not JSON. */
export type ReadItems = (bytes: Buffer, digest: string) => Pick<Page, 'items' | 'unknown'>;

/** What requests have cost so far. */
export const traffic = {
  requests: whole(),
  retries: whole('further tries among them'),
  bytes: whole('received'),
  waitedMs: whole(),
};

/** The service, as a run sees it. `service/` implements it. */
export interface PageSource {
  readonly baseUrl: string;
  /** What is added to the address of each request, as it is sent (`DOCMIRROR_QUERY`); null or left out: nothing. */
  readonly query?: string | null;
  readonly traffic: FieldsOf<typeof traffic>;
  /** How many page requests can be in flight now. */
  readonly concurrency: number;
  /** Gets one page, with all its retries. Throws a ServiceError at last, with `isOfSize` if a smaller page might come. */
  getPage(list: ListDefinition, request: PageRequest, signal: AbortSignal): Promise<Page>;
}

/** Bytes of items that are parsed at a time. For a text beyond some 100 KiB the engine maps memory, which takes twice as long. */
const partBytes = 32 * 1024;

/** Parses a page's items from the bytes of the array. Throws a SyntaxError if they are not JSON. */
export function parseItems(bytes: Buffer): unknown[] {
  const parse = (from: number, to: number) => parsePiece(bytes, { from, to });
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

/** Items of a page that follow each other, or what seems to be some: their bytes, without the commas around them. */
export type Piece = { readonly from: number; readonly to: number };

/** A piece ends behind one item of so many; a power of two. Shorter ones take longer to look up, longer ones to parse. */
const itemsPerPiece = 4;
/** How many bytes of an item tell whether a piece ends behind it. */
const bytesOfCut = 24;
/** The first member of compact items, which is within so many bytes. */
const firstMember = /^\{"\w+":/;
const firstMemberMax = 200;

/**
 * Cuts a page's items into pieces, before what begins like its first item. The item before tells whether a piece ends there, so neighbours
 * that move to another page make the same pieces. Null if there is nothing to cut.
 */
export function piecesOf(bytes: Buffer): Piece[] | null {
  const head = firstMember.exec(bytes.toString('latin1', 1, firstMemberMax));
  if (head === null) return null;
  const comma = Buffer.from(`,${head[0]}`);
  const pieces: Piece[] = [];
  let [from, item] = [1, 1];
  for (let end = bytes.indexOf(comma, item); end >= 0; end = bytes.indexOf(comma, item)) {
    if (isCutBehind(bytes, item, end)) {
      pieces.push({ from, to: end });
      from = end + 1;
    }
    item = end + 1;
  }
  pieces.push({ from, to: bytes.length - 1 });
  return pieces.length > 1 ? pieces : null;
}

function isCutBehind(bytes: Buffer, from: number, to: number): boolean {
  const step = Math.ceil((to - from) / bytesOfCut);
  let mixed = to - from;
  for (let at = from; at < to; at += step) mixed = Math.imul(mixed ^ (bytes[at] as number), 0x01000193);
  return ((mixed ^ (mixed >>> 15)) & (itemsPerPiece - 1)) === 0;
}

/** Parses a piece by itself. Throws a SyntaxError if it is not whole items. */
export function parsePiece(bytes: Buffer, { from, to }: Piece): unknown[] {
  return parseExact(`[${bytes.toString('utf8', from, to)}]`) as unknown[];
}
