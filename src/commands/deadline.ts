import { CancelledError } from '../errors.ts';

/** The signal of a run with a deadline; `[Symbol.dispose]` ends its timer. */
export interface BoundedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/** Bounds a run: its signal is aborted with the outer one, or with a `CancelledError` when its time is over. Null is without end. */
export function withDeadline(outer: AbortSignal, deadlineMs: number | null): BoundedSignal {
  if (deadlineMs === null) return { signal: outer, [Symbol.dispose]() {} };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new CancelledError('deadline')), deadlineMs);
  return {
    signal: AbortSignal.any([outer, late.signal]),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
