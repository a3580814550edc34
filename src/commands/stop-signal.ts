import { CancelledError } from '../errors.ts';

/** What of a process hears signals, and ends it. */
interface Stoppable {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  exit(code: number): void;
}

/** Signals that come so soon after the first one say the same, in milliseconds: `timeout`, or a terminal with npm, sends two. */
const sameWishMs = 1_000;

/** Aborted with a `CancelledError` by the first SIGINT or SIGTERM; another one, later, ends the process at once. */
export function stopSignal(process: Stoppable): AbortSignal {
  const stopping = new AbortController();
  let firstAtMs = Number.POSITIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
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
