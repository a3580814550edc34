import { isUtf8 } from 'node:buffer';
import { hash16 } from './fingerprint.ts';
import { pageSchema, paginationSchema } from './lists.ts';
import { compile } from './validate.ts';

/** Where an answer stands in its list. */
export interface Pagination {
  readonly pageCount: number;
  readonly pageNo: number;
  /** Records on a full page. */
  readonly pageSize: number;
  readonly totalRecordCount: number;
}

/** An answer of the service, checked in its envelope; the items are still unknown. */
export interface Page {
  readonly pagination: Pagination;
  /** The answer's bytes, as received and decompressed. */
  readonly bytes: Buffer;
  /** Hexadecimal digits that change when any byte of the items does; the pagination is not in it. */
  readonly itemsDigest: string;
  /** The answer's text and its items; null where the digest was known, so that nothing needed to be parsed. */
  readonly content: PageContent | null;
}

export interface PageContent {
  readonly text: string;
  readonly items: readonly unknown[];
}

/** An answer that is not a page; the message says what is wrong with it, in words for the user. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

const isPagination = compile<Pagination>(paginationSchema);
const isPage = compile<{ items: unknown[]; pagination: Pagination }>(pageSchema);

/**
 * Reads an answer's envelope, `{items, pagination}`.
 *
 * @param isKnown tells whether items with that digest were read before; they are then not parsed again.
 * @throws PageError where the bytes are not UTF-8, not JSON, or not such an envelope.
 */
export function readPage(bytes: Buffer, isKnown: (itemsDigest: string) => boolean = () => false): Page {
  const parts = splitParts(bytes);
  if (parts !== null && isKnown(parts.itemsDigest)) return { ...parts, bytes, content: null };
  const { pagination, content } = parseWhole(bytes);
  const itemsDigest = parts?.itemsDigest ?? digestOf(JSON.stringify(content.items));
  return { pagination, bytes, itemsDigest, content };
}

/** Reads a page that was read before, and is known to be one. */
export function readContent(bytes: Buffer): PageContent {
  return parseWhole(bytes).content;
}

function parseWhole(bytes: Buffer): { pagination: Pagination; content: PageContent } {
  if (!isUtf8(bytes)) throw new PageError('the body is not valid UTF-8');
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const body = parse(text);
  if (!isPage(body)) throw new PageError(explain());
  return { pagination: body.pagination, content: { text, items: body.items } };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const start = text.slice(0, 40).replace(/\s+/g, ' ').trim();
    throw new PageError(
      text.length === 0
        ? 'the body is empty'
        : `the body is not whole JSON (it starts with ${JSON.stringify(start)})`,
    );
  }
}

function explain(): string {
  const { path, message } = isPage.why();
  return `the body is not a page of items: ${[...path, message].join(' ')}`;
}

const paginationLast = /^"pagination"\s*:\s*(\{[^{}]*\})\s*\}\s*$/;
const paginationFirst = /^\s*\{\s*"pagination"\s*:\s*(\{[^{}]*\})\s*,/;
const paginationBytesMax = 1024;

/**
 * Takes an answer apart without parsing its items, where its pagination stands last or first; null where it does not. The
 * digest is of the items alone, for one new record changes `totalRecordCount` on every page.
 */
function splitParts(bytes: Buffer): { pagination: Pagination; itemsDigest: string } | null {
  const at = bytes.lastIndexOf('"pagination"');
  const isNearEnd = at >= 0 && bytes.length - at <= paginationBytesMax;
  const last = isNearEnd ? paginationLast.exec(bytes.toString('latin1', at)) : null;
  if (last !== null) return toParts(last, bytes.subarray(0, at));
  const first = paginationFirst.exec(bytes.toString('latin1', 0, paginationBytesMax));
  return first === null ? null : toParts(first, bytes.subarray(first[0].length));
}

function toParts(
  [, json]: RegExpExecArray,
  items: Buffer,
): { pagination: Pagination; itemsDigest: string } | null {
  const pagination = parse(json as string);
  return isPagination(pagination) ? { pagination, itemsDigest: digestOf(items) } : null;
}

function digestOf(data: string | Buffer): string {
  return hash16(data).toString('hex');
}
