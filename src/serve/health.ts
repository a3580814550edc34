import { OtherShapeError } from '../errors.ts';
import { ageMs, isFresh } from '../freshness.ts';

/** When the last completed run of a list ended; null where none has. */
interface ListAge {
  readonly resource: string;
  readonly lastCompletedAt: string | null;
}

/** How the lists stand in time. */
export interface HealthSource {
  /** @throws where it can't be found out; the answer is then that the mirror can't be read. */
  ages(): readonly ListAge[];
  /** A list without a completed run for longer than this is stale, in milliseconds; null where none is. */
  readonly maxAgeMs: number | null;
}

/** What `/healthz` answers. */
export interface Health {
  readonly statusCode: 200 | 503;
  readonly body: {
    readonly status: 'ok' | 'stale' | 'unreadable';
    /** Why it can't be read, if somebody has to upgrade it, or docmirror. */
    readonly message?: string;
    readonly lists?: readonly (ListAge & { readonly ageSeconds: number | null })[];
  };
}

/** Whether the mirror is as fresh as it should be; without a source, that the process answers. */
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
  // A source may know more of its lists than is for everybody.
  const lists = ages.map(({ resource, lastCompletedAt }) => {
    const age = ageMs(lastCompletedAt, nowMs);
    return { resource, lastCompletedAt, ageSeconds: age === null ? null : age / 1000 };
  });
  const isStale = maxAgeMs !== null && lists.some(list => !isFresh(list.lastCompletedAt, nowMs, maxAgeMs));
  return isStale
    ? { statusCode: 503, body: { status: 'stale', lists } }
    : { statusCode: 200, body: { status: 'ok', lists } };
}
