import type { IncomingHttpHeaders } from 'node:http';
import type { PageRequest } from '../contract/page.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';

/** How often a page is asked for: once, a few times, or for as long as an outage is (`DOCMIRROR_GIVE_UP_AFTER`). */
type Tries = 'once' | 'few' | 'outage';

/** How patient a run is before and after it has seen the list working (for a token: any list), and whether a smaller page might come. */
const policies: Readonly<
  Partial<Record<ErrorCode, readonly [before: Tries, after: Tries, isOfSize?: 'size']>>
> = {
  overloaded: ['outage', 'outage', 'size'],
  server_error: ['outage', 'outage', 'size'],
  timeout: ['outage', 'outage', 'size'],
  network: ['outage', 'outage', 'size'],
  proxy: ['outage', 'outage'],
  invalid_response: ['few', 'outage'],
  unauthorized: ['once', 'outage'],
  forbidden: ['once', 'outage'],
  redirected: ['once', 'outage'],
  certificate: ['once', 'outage'],
  token_unavailable: ['outage', 'outage'],
  tls: ['once', 'outage'],
  not_found: ['once', 'once', 'size'],
  refused: ['once', 'once', 'size'],
  response_too_large: ['once', 'once', 'size'],
};

/** What a run has seen until a request failed. */
export interface Seen {
  /** Whether a page of this list came, and of any list. */
  readonly list: boolean;
  readonly any: boolean;
  /** How much longer requests are repeated, in milliseconds; 0 or less if the service was given up. */
  readonly leftMs: number;
}

/** What follows a failed try: another one, smaller pages, or the end, also because the service was given up or wants to be left alone. */
export type RetryVerdict = 'again' | 'smaller' | 'end' | 'given up' | 'left alone';

/** Decides what follows a failed try, counted from 1; `waitMs` is how long the service asked to be left alone, null if it did not. */
export function verdictOn(
  error: ServiceError,
  waitMs: number | null,
  seen: Seen,
  { isBeyond = false, triesMax = Number.POSITIVE_INFINITY, triesOfSize }: PageRequest,
  tryNumber: number,
): RetryVerdict {
  if (waitMs !== null && waitMs > Math.max(0, seen.leftMs)) return 'left alone';
  const [before, after, isOfSize] = policies[error.code] ?? ['once', 'once'];
  const hasWorked = error.code === 'unauthorized' ? seen.any : seen.list;
  let tries = error.retryable ? before : 'once';
  // Nothing past the end was seen working.
  if (hasWorked && !(isBeyond && before === 'few')) tries = after;
  // What can't be read stays so; a moment later another server might answer.
  if (error.isUnreadable) tries = hasWorked ? 'few' : 'once';
  if (waitMs !== null) tries = 'outage';
  // Past the end, an answer without items is believed when it comes a second time.
  const isNoPage = isBeyond && error.isBare;
  if (tries !== 'once' && seen.leftMs <= 0) return 'given up';
  const isSmaller = isOfSize === 'size' && triesOfSize !== undefined;
  const most = Math.min(
    { once: 1, few: error.triesMax, outage: Number.POSITIVE_INFINITY }[tries],
    isNoPage ? 2 : Number.POSITIVE_INFINITY,
    error.code === 'server_error' ? triesMax : Number.POSITIVE_INFINITY,
    isSmaller ? triesOfSize : Number.POSITIVE_INFINITY,
  );
  if (tryNumber < most) return 'again';
  return isSmaller ? 'smaller' : 'end';
}

/** The end of a list whose service wants to be left alone for longer than the run is patient. */
export function leftAloneError(error: ServiceError, waitMs: number, nowMs: number): ServiceError {
  const retryAfterUntil = new Date(nowMs + waitMs).toISOString();
  const why = `; the service wants no requests until ${retryAfterUntil}, which is later than DOCMIRROR_GIVE_UP_AFTER allows`;
  const ofAnyList = error.ofAnyList + why;
  return new ServiceError('overloaded', error.message + why, {
    retryable: false,
    retryAfterUntil,
    ofAnyList,
  });
}

const rateLimits = ['x-ratelimit', 'x-rate-limit', 'ratelimit'];

/** How long an answer asks to be left alone, in milliseconds; null if it does not, or not in a usable form. */
export function waitOf(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const textOf = (name: string) => [headers[name]].flat()[0]?.trim() ?? '';
  const wait = msUntil(textOf('retry-after'), nowMs);
  const used = rateLimits.find(name => /^0+$/.test(textOf(`${name}-remaining`)));
  return wait ?? (used === undefined ? null : msUntil(textOf(`${used}-reset`), nowMs));
}

/** The form of a `Retry-After`; null if there is none. */
export type RetryAfter = ServiceError['retryAfter'];

/** In which form `Retry-After` is. */
export function retryAfterForm({ 'retry-after': text }: IncomingHttpHeaders): RetryAfter {
  if (text === undefined) return null;
  if (msUntil(text.trim(), 0) === null) return 'other';
  return text.includes(':') ? 'date' : 'seconds';
}

/** Longer than any wait that is meant, in milliseconds: a date can be made of it. */
const waitMsMax = 10 * 365 * 24 * 3_600_000;
/** Numbers from here on are no seconds from now but seconds since 1970, and from there on milliseconds since 1970. */
const [epochSecondsMin, epochMsMin] = [1e9, 1e12];

/** The time until a moment: seconds, seconds or milliseconds since 1970, or a date (RFC 9110 §5.6.7, or ISO 8601). */
function msUntil(text: string, nowMs: number): number | null {
  let ms = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    const sinceEpochMs = number >= epochMsMin ? number : number * 1_000;
    ms = number >= epochSecondsMin ? sinceEpochMs - nowMs : sinceEpochMs;
  } else if (text.includes(':')) {
    // All dates of HTTP are in UTC; its oldest form does not say so.
    const isZoned = /(Z|GMT|UTC|[+-]\d\d:?\d\d)$/i.test(text);
    const zone = /^\d{4}-/.test(text) ? 'Z' : ' GMT';
    ms = Date.parse(isZoned ? text : text + zone) - nowMs;
  }
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), waitMsMax);
}
