import { isUtf8 } from 'node:buffer';
import { memberTexts } from './exact-json.ts';
import { pageSchema, paginationSchema } from './lists.ts';
import { type PageContent, readContent } from './page-content.ts';
import { hash16Hex } from './sum.ts';
import { compile } from './validate.ts';

/** The place of an answer in its list. */
export interface Pagination {
  readonly pageCount: number;
  readonly pageNo: number;
  /** Records on a full page. */
  readonly pageSize: number;
  readonly totalRecordCount: number;
}

/** An answer of the service. Its envelope is checked; its items are not. */
export interface Page {
  readonly pagination: Pagination;
  /**
   * The bytes of `items` as received, decompressed. The rest of the answer is never kept; it can contain an echo of the
   * request.
   */
  readonly items: Buffer;
  /** 32 hexadecimal digits over the items' bytes. */
  readonly itemsDigest: string;
  /** The items; null if the digest was known, so that nothing was parsed. */
  readonly content: PageContent | null;
}

/** An answer that is not a page; the message tells the user what is wrong with it. */
export class PageError extends Error {
  override readonly name = 'PageError';
  /** True if it has no items, and either no pagination or an error. Some services answer so past the end of a list. */
  readonly isBare: boolean;

  constructor(message: string, isBare = false) {
    super(message);
    this.isBare = isBare;
  }
}

const isPagination = compile<Pagination>(paginationSchema);
const isPage = compile<{ items: unknown[] | null; pagination: Pagination }>(pageSchema);

/**
 * Reads an answer's envelope, `{items, pagination}`.
 *
 * @param isKnown tells whether items with that digest were read before; they are then not parsed again.
 * @throws PageError if the bytes are not UTF-8, not JSON, or not this envelope.
 */
export function readPage(bytes: Buffer, isKnown: (itemsDigest: string) => boolean = () => false): Page {
  const parts = splitParts(bytes);
  if (parts !== null && isKnown(parts.itemsDigest)) return { ...parts, content: null };
  if (!isUtf8(bytes)) throw new PageError('the body is not valid UTF-8');
  const content = parts && contentOrNull(parts.items);
  if (parts !== null && content !== null) return { ...parts, content };
  const whole = readWhole(bytes);
  return isKnown(whole.itemsDigest) ? { ...whole, content: null } : whole;
}

function contentOrNull(items: Buffer): PageContent | null {
  try {
    return readContent(items);
  } catch {
    return null;
  }
}

function readWhole(bytes: Buffer): Page {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const body = parse(text);
  const errorName = errorMember(body);
  if (errorName !== undefined)
    throw new PageError(`the body is not a page, because it has an "${errorName}"`, hasNoItems(body));
  if (!isPage(body)) throw new PageError(explain(), isBare(body));
  const said = body.items === null ? undefined : new Map(memberTexts(text)).get('items');
  const items = Buffer.from(said?.trim() ?? '[]');
  const { pagination } = body;
  return { pagination, items, itemsDigest: hash16Hex(items), content: readContent(items) };
}

function isBare(body: unknown): boolean {
  return hasNoItems(body) && ((Object(body) as { pagination?: unknown }).pagination ?? null) === null;
}

function hasNoItems(body: unknown): boolean {
  const { items } = Object(body) as { items?: unknown };
  return items === null || (Array.isArray(items) && items.length === 0);
}

/** The member that reports an error. The items are then not those of the list, even if there are some. */
function errorMember(body: unknown): string | undefined {
  return ['error', 'errors'].find(name => {
    const value: unknown = Object(body)[name];
    // A 0 is a count of errors.
    return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PageError(
      text.trim() === '' ? 'the body is empty' : `the body is not complete JSON, but ${kindOf(text)}`,
    );
  }
}

/**
 * The kind of a body that is not JSON. It quotes nothing: even a part of a secret would be a leak, and redaction can't
 * recognise a part.
 */
function kindOf(text: string): string {
  if (/^\s*[[{]/.test(text)) return `cut short or broken (${text.length} characters came)`;
  return /^\s*</.test(text) ? 'HTML or XML' : 'some other text';
}

function explain(): string {
  const { path, message } = isPage.why();
  return `the body is not a page of items: ${[...path, message].join(' ')}`;
}

/**
 * The bytes at an answer's start and end in which its items are searched for, before the answer is parsed completely.
 */
const headBytesMax = 4 * 1024;
const tailBytesMax = 64 * 1024;
/** The number of brackets that are tried as the end of the items before the answer is parsed completely. */
const tailTriesMax = 16;

const itemsName = /"items"\s*:\s*\[/;

/**
 * Takes an answer apart without parsing its items; null if its form is unusual. The digest is of the items alone,
 * because a new record changes `totalRecordCount` on every page, and a request id changes with every answer.
 */
function splitParts(bytes: Buffer): Omit<Page, 'content'> | null {
  const head = bytes.toString('latin1', 0, headBytesMax).replace(/^\u00ef\u00bb\u00bf/, '   ');
  const match = itemsName.exec(head);
  const before = match === null ? null : members(`${head.slice(0, match.index)}"":0}`);
  if (match === null || before === null) return null;
  const start = match.index + match[0].length - 1;
  const tailFrom = Math.max(start, bytes.length - tailBytesMax);
  let end = bytes.lastIndexOf(']');
  for (let tries = 0; tries < tailTriesMax && end >= tailFrom; tries++) {
    const after = members(`{"":0${bytes.toString('latin1', end + 1)}`);
    if (after !== null && !('items' in after)) {
      if (errorMember(before) !== undefined || errorMember(after) !== undefined) return null;
      const pagination = after.pagination ?? before.pagination;
      if (isPagination(pagination)) {
        const items = bytes.subarray(start, end + 1);
        return { pagination, items, itemsDigest: hash16Hex(items) };
      }
    }
    end = bytes.lastIndexOf(']', end - 1);
  }
  return null;
}

/** The members before or after the items; null if the text is not an object. */
function members(text: string): { readonly [name: string]: unknown } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
