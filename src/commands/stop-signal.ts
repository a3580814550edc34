import { CancelledError, type StopSignal } from '../errors.ts';

/** The part of a process that receives signals and ends it. */
interface Stoppable {
  on(signal: StopSignal, listener: () => void): unknown;
  exit(code: number): void;
}

/** A second signal within this time is ignored, in milliseconds: `timeout`, or a terminal with npm, sends two. */
const sameWishMs = 1_000;

/** Aborted with a `CancelledError` by the first SIGINT, SIGTERM or SIGHUP; another one, later, ends the process at once. */
export function stopSignal(process: Stoppable): AbortSignal {
  const stopping = new AbortController();
  let firstAtMs = Number.POSITIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const error = new CancelledError(signal);
      if (performance.now() - firstAtMs > sameWishMs) process.exit(error.exitCode);
      if (stopping.signal.aborted) return;
      firstAtMs = performance.now();
      stopping.abort(error);
    });
  }
  return stopping.signal;
}
