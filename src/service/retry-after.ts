/** The longest wait that a service may ask for and get, in milliseconds. */
export const retryAfterMsMax = 5 * 60 * 1000;

/**
 * How long a `Retry-After` header asks to wait, in milliseconds, at most `retryAfterMsMax`; null where it says nothing usable.
 * Source: RFC 9110 §10.2.3, seconds or an HTTP date.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.ceil(ms)), retryAfterMsMax);
}
