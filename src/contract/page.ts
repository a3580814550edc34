import { isUtf8 } from 'node:buffer';
import { parseExact } from './json.ts';
import { hash16Hex } from './sum.ts';

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
  readonly items: Buffer;
  /** 32 hexadecimal digits over the items' bytes. */
  readonly itemsDigest: string;
  /** The items; null if the digest was known, so that nothing was parsed. */
  readonly content: PageContent | null;
  /** The members beside `items` and `pagination`. Their values are not kept. */
  readonly otherMembers: readonly UnknownField[];
}

/** The items of a page in their order, part by part. */
export interface PageContent {
  /** Items in all. */
  readonly count: number;
  readonly parts: readonly ContentPart[];
}

/** Some items that follow each other. */
export interface ContentPart {
  readonly items: readonly unknown[];
  /**
   * JSON: an array of these items, each as received. It is made on demand, because the texts of all waiting pages would
   * take 20 MB.
   */
  readonly text: () => string;
}

/** An answer that is not a page; the message tells the user what is wrong with it. */
export class PageError extends Error {
  override readonly name = 'PageError';
  /** True if it has no items, and either no pagination or an error. Some services answer so past the end of a list. */
  readonly isBare: boolean;
  /** True if the answer says of itself that it failed or is partial. */
  readonly isFault: boolean;

  constructor(message: string, isBare = false, isFault = false) {
    super(message);
    this.isBare = isBare;
    this.isFault = isFault;
  }
}

/**
 * The members beside the items by which an answer says that it failed or is partial, and the values that say so. Its items
 * are then not those of the list, even if there are some.
 */
const faults: readonly [names: readonly string[], isFault: (value: unknown) => boolean][] = [
  [['success', 'ok', 'isSuccess'], value => value === false],
  [
    ['status', 'statusCode'],
    value => value === false || /^([45]\d\d\b|err|fail|exception)/i.test(String(value)),
  ],
  // A 0 is a count of errors.
  [
    ['error', 'errors', 'fault'],
    value => (typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)),
  ],
  [
    'timed_out timedOut partial isPartial incomplete incomplete_results truncated hasErrors'.split(' '),
    value => value === true,
  ],
];

/**
 * Reads an answer's envelope, `{items, pagination}`.
 *
 * @param isKnown tells whether items with that digest were read before; they are then not parsed again.
 * @throws PageError if the bytes are not UTF-8, not JSON, not this envelope, or say that the answer failed or is partial.
 */
export function readPage(bytes: Buffer, isKnown: (itemsDigest: string) => boolean = () => false): Page {
  const answer = split(bytes);
  const itemsDigest = answer === null ? '' : hash16Hex(answer.items);
  if (answer !== null && isKnown(itemsDigest)) return pageOf(answer, itemsDigest, null);
  if (!isUtf8(bytes)) throw new PageError('the body is not valid UTF-8');
  const content = answer === null ? null : contentOrNull(answer.items);
  if (answer !== null && content !== null) return pageOf(answer, itemsDigest, content);
  const whole = parseWhole(bytes);
  const digest = hash16Hex(whole.items);
  return pageOf(whole, digest, isKnown(digest) ? null : readContent(whole.items));
}

/** The parts of an answer: its members beside the items, and the items. */
interface SplitAnswer {
  readonly beside: { readonly [name: string]: unknown };
  /** JSON: an array. */
  readonly items: Buffer;
}

function pageOf({ beside, items }: SplitAnswer, itemsDigest: string, content: PageContent | null): Page {
  const { pagination, ...others } = beside;
  const [fault] = faults.flatMap(([names, isFault]) => names.filter(name => isFault(others[name])));
  if (fault !== undefined)
    throw new PageError(
      `the body is not a page, because its member "${fault}" says that the answer failed or is partial`,
      isEmptyList(items),
      true,
    );
  assertPagination(pagination, items);
  const otherMembers = Object.entries(others).map(([field, value]) => ({
    field,
    jsonType: typeOf(value),
    isInAnswer: true,
  }));
  return { pagination, items, itemsDigest, content, otherMembers };
}

function isEmptyList(items: Buffer): boolean {
  return items.length < 100 && /^\[\s*\]$/.test(items.toString('latin1'));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function assertPagination(value: unknown, items: Buffer): asserts value is Pagination {
  const notPage = 'the body is not a page of items:';
  if (typeof value !== 'object' || value === null)
    throw new PageError(`${notPage} it has no "pagination"`, isEmptyList(items) && (value ?? null) === null);
  for (const name of ['pageCount', 'pageNo', 'pageSize', 'totalRecordCount']) {
    const number: unknown = (value as Record<string, unknown>)[name];
    if (!Number.isSafeInteger(number) || ((number as number) < 0 && name !== 'pageNo'))
      throw new PageError(`${notPage} pagination.${name} is not a whole number`);
  }
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
function split(bytes: Buffer): SplitAnswer | null {
  const head = bytes.toString('latin1', 0, headBytesMax).replace(/^\u00ef\u00bb\u00bf/, '   ');
  const match = itemsName.exec(head);
  const before = match === null ? null : members(`${head.slice(0, match.index)}"":0}`);
  if (match === null || before === null) return null;
  const start = match.index + match[0].length - 1;
  const tailFrom = Math.max(start, bytes.length - tailBytesMax);
  let end = bytes.lastIndexOf(']');
  for (let tries = 0; tries < tailTriesMax && end >= tailFrom; tries++) {
    const after = members(`{"":0${bytes.toString('utf8', end + 1)}`);
    if (after !== null && !('items' in after)) {
      const { '': _, ...beside } = { ...before, ...after };
      if (typeof beside.pagination === 'object') return { beside, items: bytes.subarray(start, end + 1) };
    }
    end = bytes.lastIndexOf(']', end - 1);
  }
  return null;
}

/** The members before or after the items; null if the text is not an object. */
function members(text: string): SplitAnswer['beside'] | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parseWhole(bytes: Buffer): SplitAnswer {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new PageError('the body is not a page of items: it is not an object');
  const { items = undefined, ...beside } = body as { readonly [name: string]: unknown };
  // Some services send `null` instead of no items.
  const list = items === null ? [] : items;
  if (!Array.isArray(list)) throw new PageError('the body is not a page of items: it has no array "items"');
  return { beside, items: Buffer.from(JSON.stringify(list)) };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    if (error instanceof RangeError) throw new PageError('the body is nested too deep');
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

function contentOrNull(items: Buffer): PageContent | null {
  try {
    return readContent(items);
  } catch {
    return null;
  }
}

/**
 * Reads a page's items.
 *
 * @param items JSON: an array, without anything around it.
 *
 * @throws SyntaxError if they are not JSON.
 */
export function readContent(items: Buffer): PageContent {
  const parts = readInParts(items) ?? [readPart(() => items.toString('utf8'))];
  return { count: parts.reduce((count, part) => count + part.items.length, 0), parts };
}

/**
 * Bytes of items that are read at a time. For a text beyond some 100 KiB the engine maps memory, which takes twice as
 * long as parsing it.
 */
const partBytes = 32 * 1024;
const [opening, closing, space] = [...Buffer.from('{} ')] as [number, number, number];

/**
 * Reads an array part by part; null if that can't be done. A part that was cut inside an item is not JSON. So if all
 * parts are JSON, they contain the same items as the whole.
 */
function readInParts(items: Buffer): ContentPart[] | null {
  const parts: ContentPart[] = [];
  const last = items.length - 1;
  let from = 1;
  try {
    while (last - from > partBytes) {
      const cut = nextCut(items, from + partBytes);
      if (cut < 0) break;
      parts.push(readPart(arrayOf(items, from, cut)));
      from = cut + 1;
    }
    if (parts.length > 0) parts.push(readPart(arrayOf(items, from, last)));
  } catch {
    return null;
  }
  return parts.length === 0 ? null : parts;
}

/** The next comma that seems to be between two items; -1 if there is none. */
function nextCut(items: Buffer, from: number): number {
  for (let comma = items.indexOf(',', from); comma > 0; comma = items.indexOf(',', comma + 1)) {
    if (items[comma - 1] !== closing) continue;
    let next = comma + 1;
    while ((items[next] as number) <= space) next++;
    if (items[next] === opening) return comma;
  }
  return -1;
}

function arrayOf(items: Buffer, from: number, to: number): () => string {
  return () => `[${items.toString('utf8', from, to)}]`;
}

function readPart(text: () => string): ContentPart {
  return { text, items: JSON.parse(text()) };
}
