import { isUtf8 } from 'node:buffer';
import { hash16 } from './fingerprint.ts';
import { pageSchema } from './lists.ts';
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
  /** 16 bytes that change when any byte of the items does; the pagination is not in it. */
  readonly itemsDigest: Buffer;
  readonly text: string;
  readonly items: readonly unknown[];
}

/** An answer that is not a page; the message says what is wrong with it, in words for the user. */
export class PageError extends Error {
  override readonly name = 'PageError';
}

const isPage = compile<{ items: unknown[]; pagination: Pagination }>(pageSchema);

/**
 * Reads an answer's envelope, `{items, pagination}`.
 *
 * @throws PageError where the bytes are not UTF-8, not JSON, or not such an envelope.
 */
export function readPage(bytes: Buffer): Page {
  if (!isUtf8(bytes)) throw new PageError('the body is not valid UTF-8');
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const body = parse(text);
  if (!isPage(body)) throw new PageError(explain());
  return {
    pagination: body.pagination,
    bytes,
    itemsDigest: digestItems(bytes, body.items),
    text,
    items: body.items,
  };
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

const paginationLast = /^"pagination"\s*:\s*\{[^{}]*\}\s*\}\s*$/;
const paginationTailBytes = 1024;

/**
 * Digests the items' bytes. The envelope is left out, for one new record changes `totalRecordCount` on every page.
 * Where the pagination does not stand last, the parsed items are digested instead.
 */
function digestItems(bytes: Buffer, items: readonly unknown[]): Buffer {
  const at = bytes.lastIndexOf('"pagination"');
  const isLast =
    at >= 0 && bytes.length - at <= paginationTailBytes && paginationLast.test(bytes.toString('latin1', at));
  return isLast ? hash16(bytes.subarray(0, at)) : hash16(JSON.stringify(items));
}
