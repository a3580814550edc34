/** The longest wait that docmirror grants a service, in milliseconds. */
export const retryAfterMsMax = 5 * 60 * 1000;

/**
 * The wait in a `Retry-After` header, in milliseconds, at most `retryAfterMsMax`; null if it is not usable. Source: RFC
 * 9110 §10.2.3, seconds or an HTTP date, whose oldest form names no zone and means GMT (§5.6.7).
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : dateIn(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), retryAfterMsMax);
}

/** A date in milliseconds since 1970; NaN if the text is not a date. */
function dateIn(text: string): number {
  // `Date.parse` also makes a date from a plain number like -5.
  if (!text.includes(':')) return Number.NaN;
  return Date.parse(/(?:[A-Z]|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`);
}
