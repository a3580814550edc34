import type { Labels } from '../../config/parse.ts';
import { wholeNumber } from '../../config/resolve.ts';
import { UsageError } from '../../errors.ts';
import type { RunningServer } from '../../serve/server.ts';
import { type Logger, loggedError } from '../logging.ts';

/** Answers `/healthz` and `/metrics` for a watch. */
export interface Monitor extends RunningServer {
  tickSkipped(): void;
  nextTick(at: Date): void;
}

/** The address and the subject of the `/healthz` and `/metrics` of `watch`. */
interface MonitorPlan {
  readonly host: string;
  readonly port: number;
  readonly config: { readonly database: string; readonly labels: Labels; readonly trigger: string | null };
  readonly maxAgeMs: number | null;
  readonly logger: Logger;
}

const portMax = 65_535;

/**
 * Starts to answer. The server is loaded only now: a watch that answers nobody does without it.
 *
 * @throws DocmirrorError if it can't listen there.
 */
export async function startMonitor({ host, port, config, maxAgeMs, logger }: MonitorPlan): Promise<Monitor> {
  const { startMonitorServer } = await import('../../serve/server.ts');
  let skipped = 0;
  let nextAtMs: number | null = null;
  const server = await startMonitorServer({
    ...config,
    host,
    port,
    maxAgeMs,
    metrics: [
      {
        name: 'docmirror_watch_ticks_skipped_total',
        help: 'Ticks that were left out because the run before them was still going, since the watch started.',
        samples: () => [[skipped]],
      },
      {
        name: 'docmirror_watch_next_run_timestamp_seconds',
        help: 'When the next run is due, in seconds since 1970.',
        samples: () => [[nextAtMs === null ? 0 : nextAtMs / 1000]],
      },
    ],
    onFault: error => logger.error(loggedError(error), 'A request failed.'),
  });
  return {
    ...server,
    tickSkipped: () => {
      skipped++;
    },
    nextTick: at => {
      nextAtMs = at.getTime();
    },
  };
}

/**
 * Reads `HOST:PORT`; the host can be an IPv6 address in brackets.
 *
 * @throws UsageError that names the flag.
 */
export function parseEndpoint(flag: string, text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s]+)):(\d+)$/i.exec(text.trim());
  const host = match?.[1] ?? match?.[2];
  if (host === undefined) {
    throw new UsageError(`${flag}: expected HOST:PORT such as 127.0.0.1:9464, got ${JSON.stringify(text)}`);
  }
  return { host, port: wholeNumber(flag, match?.[3] ?? '', 0, portMax) };
}
