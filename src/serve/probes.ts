import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { OtherShapeError } from '../errors.ts';
import { ageMs, isListFresh } from '../store/read/list-state.ts';
import { neverCompleted, readFreshness } from '../store/read/runs/freshness.ts';
import type { LabelledFigures } from './metrics.ts';
import type { HealthAnswer } from './openapi.ts';

/** What probes are answered from. */
export interface ProbeSource {
  readonly freshness: () => Promise<ReturnType<typeof freshnessNow>> | ReturnType<typeof freshnessNow>;
  readonly figures: () => Promise<LabelledFigures> | LabelledFigures;
}

/** When the lists were completed; null if the mirror can't be read, and `why` says what somebody has to do about it. It does not throw. */
export function freshnessNow(database: string) {
  const isThere = existsSync(database);
  try {
    return { isThere, lists: isThere ? readFreshness(database) : neverCompleted, why: null };
  } catch (error) {
    return { isThere, lists: null, why: error instanceof OtherShapeError ? error.withoutPath : null };
  }
}

/** The answer of `/healthz` at this moment. */
export function healthOf(now: ReturnType<typeof freshnessNow>, maxAgeMs: number | null): HealthAnswer {
  const { isThere, lists: found, why } = now;
  if (found === null) return { status: 'unreadable', ...(why !== null && { message: why }) };
  const nowMs = Date.now();
  const lists = found.map(list => {
    const age = ageMs(list.readSince, nowMs);
    return { ...list, ageSeconds: age === null ? null : age / 1000 };
  });
  const isOld = maxAgeMs !== null && lists.some(list => !isListFresh(list, nowMs, maxAgeMs));
  // Without a mirror, also without a limit for the age: it was moved away, or the first run has not made it yet.
  return { status: isOld || !isThere ? 'stale' : 'ok', lists };
}

/** How long a probe waits for what is true now before it gets what was read last, in milliseconds. */
const probeWaitMs = 100;

/** A reading for probes, of which there is one at a time: what is true now or, if that takes long, what was true at the last one. */
export function lastKnown<T>(read: () => Promise<T>): () => Promise<T> {
  let known: { readonly value: T } | null = null;
  let next: Promise<T> | null = null;
  return async () => {
    next ??= read()
      .then(value => {
        known = { value };
        return value;
      })
      .finally(() => {
        next = null;
      });
    if (known === null) return next;
    const { value } = known;
    return Promise.race([next.catch(() => value), wait(probeWaitMs, value)]);
  };
}
