/** The longest wait that a service may ask for and get, in milliseconds. */
export const retryAfterMsMax = 5 * 60 * 1000;

/**
 * How long a `Retry-After` header asks to wait, in milliseconds, at most `retryAfterMsMax`; null where it says nothing usable.
 * Source: RFC 9110 §10.2.3, seconds or an HTTP date, whose oldest form names no zone and means GMT (§5.6.7).
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : dateIn(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), retryAfterMsMax);
}

/** A date in milliseconds since 1970; NaN where the text is none. */
function dateIn(text: string): number {
  // Without a time of day it is what `Date.parse` makes of any number, such as -5.
  if (!text.includes(':')) return Number.NaN;
  return Date.parse(/(?:[A-Z]|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`);
}
