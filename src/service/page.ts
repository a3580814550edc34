// Bytes of an answer become a page: its envelope is checked, and its items are parsed, but for those that are known.

import { isUtf8 } from 'node:buffer';
import { isObject, parseExact } from '../contract/json.ts';
import { type Page, parseItems, type ReadItems, readPagination, wholeNumberIn } from '../contract/page.ts';
import { hash16Hex } from '../contract/sum.ts';
import { ServiceError, tryToRead } from '../errors.ts';

/** How often a page is asked for whose answer says of itself that it failed or is partial. Other forms are wrong for longer. */
const faultTriesMax = 6;

/** Whether a member beside the items says that the answer failed or is partial: then its items are not those of the list. */
function isFault(name: string, value: unknown): boolean {
  if (/^(success|ok|isSuccess)$/.test(name)) return value === false;
  if (/^status(Code)?$/.test(name))
    return value === false || /^([45]\d\d\b|err|fail|exception)/i.test(String(value));
  // A 0 is a count of errors.
  if (/^(errors?|fault)$/.test(name))
    return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
  const isPartial =
    /^(timed_out|timedOut|partial|isPartial|incomplete|incomplete_results|truncated|hasErrors)$/;
  return value === true && isPartial.test(name);
}

/** Reads an answer's envelope, in which known items are not parsed. Throws a ServiceError without secrets for another answer. */
export function readPage(
  received: Buffer,
  asked: string,
  readItems: ReadItems = bytes => ({ items: parseItems(bytes), unknown: bytes }),
  redact: (text: string) => string = text => text,
): Page {
  const problem = (why: string, isBare = false, triesMax = 3) => {
    const message = `${asked} did not answer with a page: the body is ${why}`;
    return new ServiceError('invalid_response', message, { retryable: true, isBare, triesMax });
  };
  const noPage = (why: string, isBare = false) => problem(`not a page of items: ${why}`, isBare);
  const read = (bytes: Buffer, beside: { readonly [name: string]: unknown }) => {
    const digest = hash16Hex(bytes);
    return { bytes, beside, digest, ...readItems(bytes, digest) };
  };
  if (!isUtf8(received)) throw problem('not valid UTF-8');
  // Without a byte order mark.
  const body = received[0] === 0xef ? received.subarray(3) : received;
  const { beside, ...content } = split() ?? whole();
  const { pagination, ...others } = beside;
  const isEmpty = /^\[\s*\]$/.test(content.bytes.toString('latin1', 0, 100));
  const fault = Object.entries(others).find(
    ([name, value]) => isFault(name, value) && !(name === 'truncated' && isFullOfMany()),
  );
  if (fault !== undefined) {
    const why = `not a page, because its member "${fault[0]}" says that the answer failed or is partial`;
    throw problem(why, isEmpty, faultTriesMax);
  }
  if (!isObject(pagination)) throw noPage('it has no "pagination"', isEmpty && (pagination ?? null) === null);
  const numbers = readPagination(pagination, (name, value) =>
    noPage(`pagination.${name} is ${oddity(value)}`),
  );
  const otherMembers = Object.entries(others).map(([field, value]) => {
    const jsonType = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    return { field, jsonType, isInAnswer: true };
  });
  const textNumbers = Object.keys(numbers).filter(name => typeof pagination[name] === 'string');
  const isTotalNegative = Number(pagination.totalRecordCount) < 0;
  return { ...content, pagination: numbers, otherMembers, ageMs: 0, textNumbers, isTotalNegative };

  /** Whether the page is full and others follow: for some services that is what `truncated` says. */
  function isFullOfMany(): boolean {
    const numberIn = (name: string) =>
      (isObject(pagination) ? wholeNumberIn(pagination[name]) : null) ?? Number.NaN;
    const { length } = content.items ?? parseItems(content.bytes);
    const isFull = length > 0 && length >= numberIn('pageSize');
    return isFull && numberIn('pageNo') < numberIn('pageCount');
  }

  /** What is wrong with a number. It is shown without secrets before it is cut: nobody can tell that a part of a secret is one. */
  function oddity(value: unknown): string {
    if (value === undefined) return 'missing';
    const text = tryToRead(() => JSON.stringify(value)) ?? 'nested too deep';
    const what = wholeNumberIn(value) === null ? 'not a whole number' : 'below 0';
    return `${what}: ${redact(text).slice(0, shownMax)}`;
  }

  /** Takes an answer apart without parsing its items; null if its form is unusual. The digest is of them alone: the rest changes. */
  function split() {
    const match = itemsName.exec(body.toString('latin1', 0, headBytesMax));
    if (match === null) return null;
    const start = match.index + match[0].length - 1;
    const head = body.toString('utf8', 0, start);
    let end = body.lastIndexOf(']');
    for (let tries = 0; tries < tailTriesMax && end >= start; tries++) {
      const { items, ...beside } =
        tryToRead(() => JSON.parse(`${head}[]${body.toString('utf8', end + 1)}`)) ?? {};
      if (items?.length === 0 && isObject(beside.pagination))
        return tryToRead(() => read(body.subarray(start, end + 1), beside));
      end = body.lastIndexOf(']', end - 1);
    }
    return null;
  }

  function whole() {
    const text = body.toString('utf8');
    try {
      const { items, ...beside } = Object(parseExact(text)) as { readonly items?: unknown };
      // Some services send `null` instead of no items.
      if (items !== null && !Array.isArray(items)) throw noPage('it has no array "items"');
      return read(Buffer.from(JSON.stringify(items ?? [])), beside);
    } catch (error) {
      if (error instanceof RangeError) throw problem('nested too deep');
      if (!(error instanceof SyntaxError)) throw error;
      if (text.trim() === '') throw problem('empty');
      // It quotes nothing: a part of a secret would be a leak, and redaction can't recognise a part.
      const other = /^\s*</.test(text) ? 'HTML or XML' : 'some other text';
      const isJson = /^\s*[[{]/.test(text);
      const what = isJson ? `cut short or broken (${text.length} characters came)` : other;
      throw problem(`not complete JSON, but ${what}`);
    }
  }
}

/** The characters of a value that a message shows at most. */
const shownMax = 40;

/** The bytes at an answer's start in which its items are searched for, before the answer is parsed completely. */
const headBytesMax = 4 * 1024;
/** The number of brackets that are tried as the end of the items before the answer is parsed completely. */
const tailTriesMax = 16;

const itemsName = /"items"\s*:\s*\[/;
