import { OtherShapeError } from '../errors.ts';
import { ageMs, isFresh } from '../freshness.ts';
import type { HealthAnswer } from './openapi.ts';

/** When the last completed run of a list ended; null if none has. */
interface ListAge {
  readonly resource: string;
  readonly lastCompletedAt: string | null;
}

/** The age of each list, and the age from which a list is stale. */
export interface HealthSource {
  /** @throws if the ages can't be read. `/healthz` then answers that the mirror is unreadable. */
  ages(): readonly ListAge[];
  /** A list without a completed run for longer than this is stale, in milliseconds; null if no list ever is. */
  readonly maxAgeMs: number | null;
}

/** The answer of `/healthz`. */
export interface Health {
  readonly statusCode: 200 | 503;
  readonly body: HealthAnswer;
}

/** Whether the mirror is fresh enough. Without a source it is always `ok`, because the process answers. */
export function healthOf(source: HealthSource | undefined, nowMs: number): Health {
  if (source === undefined) return { statusCode: 200, body: { status: 'ok' } };
  const { maxAgeMs } = source;
  let ages: readonly ListAge[];
  try {
    ages = source.ages();
  } catch (error) {
    const message = error instanceof OtherShapeError ? { message: error.withoutPath } : {};
    return { statusCode: 503, body: { status: 'unreadable', ...message } };
  }
  // Only these fields are public. A source might give more.
  const lists = ages.map(({ resource, lastCompletedAt }) => {
    const age = ageMs(lastCompletedAt, nowMs);
    return { resource, lastCompletedAt, ageSeconds: age === null ? null : age / 1000 };
  });
  const isStale = maxAgeMs !== null && lists.some(list => !isFresh(list.lastCompletedAt, nowMs, maxAgeMs));
  return isStale
    ? { statusCode: 503, body: { status: 'stale', lists } }
    : { statusCode: 200, body: { status: 'ok', lists } };
}
