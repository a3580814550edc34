import { isUtf8 } from 'node:buffer';
import { hasLongNumbers, parseExact } from './json.ts';
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

/** The items of a page in their order. */
export interface PageContent {
  readonly items: readonly unknown[];
  /** The same with all digits of their numbers, parsed on demand. */
  readonly exact: () => readonly unknown[];
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
const faults: readonly [name: RegExp, isFault: (value: unknown) => boolean][] = [
  [/^(success|ok|isSuccess)$/, value => value === false],
  [/^status(Code)?$/, value => value === false || /^([45]\d\d\b|err|fail|exception)/i.test(String(value))],
  // A 0 is a count of errors.
  [
    /^(errors?|fault)$/,
    value => (typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)),
  ],
  [
    /^(timed_out|timedOut|partial|isPartial|incomplete|incomplete_results|truncated|hasErrors)$/,
    value => value === true,
  ],
];

/**
 * Reads an answer's envelope, `{items, pagination}`.
 *
 * @param isKnown tells whether items with that digest need no parsing. Items that are known were JSON when they were parsed.
 * @throws PageError if the bytes are not UTF-8, not JSON, not this envelope, or say that the answer failed or is partial.
 */
export function readPage(bytes: Buffer, isKnown: (itemsDigest: string) => boolean = () => false): Page {
  if (!isUtf8(bytes)) throw new PageError('the body is not valid UTF-8');
  const answer = split(bytes);
  try {
    if (answer !== null) return pageOf(answer, isKnown);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return pageOf(parseWhole(bytes), isKnown);
}

/** The parts of an answer: its members beside the items, and the items. */
interface SplitAnswer {
  readonly beside: { readonly [name: string]: unknown };
  /** JSON: an array. */
  readonly items: Buffer;
}

/** @throws SyntaxError if the items are not JSON. */
function pageOf({ beside, items }: SplitAnswer, isKnown: (itemsDigest: string) => boolean): Page {
  const itemsDigest = hash16Hex(items);
  const content = isKnown(itemsDigest) ? null : readContent(items);
  const { pagination, ...others } = beside;
  const isEmpty = items.length < 100 && /^\[\s*\]$/.test(items.toString('latin1'));
  for (const [name, value] of Object.entries(others))
    if (faults.some(([names, isFault]) => names.test(name) && isFault(value))) {
      const words = `the body is not a page, because its member "${name}" says that the answer failed or is partial`;
      throw new PageError(words, isEmpty, true);
    }
  assertPagination(pagination, isEmpty);
  const otherMembers = Object.entries(others).map(([field, value]) => {
    const jsonType = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    return { field, jsonType, isInAnswer: true };
  });
  return { pagination, items, itemsDigest, content, otherMembers };
}

function assertPagination(value: unknown, isEmpty: boolean): asserts value is Pagination {
  const notPage = 'the body is not a page of items:';
  if (typeof value !== 'object' || value === null)
    throw new PageError(`${notPage} it has no "pagination"`, isEmpty && (value ?? null) === null);
  for (const name of ['pageCount', 'pageNo', 'pageSize', 'totalRecordCount']) {
    const number = (value as Record<string, number>)[name] as number;
    if (!Number.isSafeInteger(number) || (number < 0 && name !== 'pageNo'))
      throw new PageError(`${notPage} pagination.${name} is not a whole number`);
  }
}

/** The bytes at an answer's start and end in which its items are searched for, before the answer is parsed completely. */
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
  const notPage = 'the body is not a page of items:';
  try {
    const body = parseExact(text);
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new PageError(`${notPage} it is not an object`);
    const { items = undefined, ...beside } = body as { readonly [name: string]: unknown };
    // Some services send `null` instead of no items.
    if (items !== null && !Array.isArray(items)) throw new PageError(`${notPage} it has no array "items"`);
    return { beside, items: Buffer.from(JSON.stringify(items ?? [])) };
  } catch (error) {
    if (error instanceof RangeError) throw new PageError('the body is nested too deep');
    if (!(error instanceof SyntaxError)) throw error;
    const words = `the body is not complete JSON, but ${kindOf(text)}`;
    throw new PageError(text.trim() === '' ? 'the body is empty' : words);
  }
}

/** The kind of a body that is not JSON. It quotes nothing: a part of a secret would be a leak, and redaction can't recognise a part. */
function kindOf(text: string): string {
  if (/^\s*[[{]/.test(text)) return `cut short or broken (${text.length} characters came)`;
  return /^\s*</.test(text) ? 'HTML or XML' : 'some other text';
}

/**
 * Reads a page's items.
 *
 * @param bytes JSON: an array, without anything around it.
 * @throws SyntaxError if they are not JSON.
 */
export function readContent(bytes: Buffer): PageContent {
  const textOf = ([from, to]: Span) => `[${bytes.toString('utf8', from, to)}]`;
  const read = (spans: readonly Span[]) => spans.map(span => JSON.parse(textOf(span)) as unknown[]);
  let spans = spansOf(bytes);
  let parts: unknown[][];
  try {
    parts = read(spans);
  } catch {
    // A part that was cut inside an item is not JSON. So if all parts are JSON, they contain the items of the whole.
    spans = [[1, bytes.length - 1]];
    parts = read(spans);
  }
  let exact: unknown[] | undefined;
  const exactly = (text: string, items: unknown) => (hasLongNumbers(text) ? parseExact(text) : items);
  return {
    items: parts.flat(),
    exact: () => {
      exact ??= spans.flatMap((span, at) => exactly(textOf(span), parts[at]));
      return exact;
    },
  };
}

/** A part of an array, in bytes. */
type Span = readonly [from: number, to: number];

/**
 * Bytes of items that are read at a time. For a text beyond some 100 KiB the engine maps memory, which takes twice as
 * long as parsing it.
 */
const partBytes = 32 * 1024;
const [opening, closing, space] = [...Buffer.from('{} ')] as [number, number, number];

/** Cuts an array at commas that seem to be between two items. */
function spansOf(bytes: Buffer): Span[] {
  const spans: Span[] = [];
  let from = 1;
  const cuts = (comma: number) => {
    let next = comma + 1;
    while ((bytes[next] as number) <= space) next++;
    return bytes[comma - 1] === closing && bytes[next] === opening;
  };
  for (let comma = bytes.indexOf(',', partBytes); comma > 0; ) {
    const isCut = cuts(comma);
    if (isCut) {
      spans.push([from, comma]);
      from = comma + 1;
    }
    comma = bytes.indexOf(',', isCut ? from + partBytes : comma + 1);
  }
  return [...spans, [from, bytes.length - 1]];
}
