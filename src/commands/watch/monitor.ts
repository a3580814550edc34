import { existsSync } from 'node:fs';
import type { Labels } from '../../config/parse.ts';
import { wholeNumber } from '../../config/resolve.ts';
import { resourceNames } from '../../contract/lists.ts';
import { UsageError } from '../../errors.ts';
import type { WatchMetrics } from '../../serve/metrics.ts';
import type { RunningServer } from '../../serve/server.ts';
import type { MirrorNumbers } from '../../store/read/report-reader.ts';
import { version } from '../../version.ts';
import { cachedForOneSecond } from '../cached-for-one-second.ts';
import { type Logger, loggedError } from '../logging.ts';

/** Answers `/healthz` and `/metrics` for a watch. */
export type Monitor = RunningServer & Pick<WatchMetrics, 'tickSkipped' | 'nextTick'>;

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
 * Starts to answer. The server and the metrics are loaded only now: a watch that answers nobody does without them.
 *
 * @throws DocmirrorError if it can't listen there.
 */
export async function startMonitor(plan: MonitorPlan): Promise<Monitor> {
  const { startMonitorServer } = await import('../../serve/server.ts');
  const { watchMetrics } = await import('../../serve/metrics.ts');
  const { host, port, config, maxAgeMs, logger } = plan;
  const read = await figuresReader(config.database);
  const metrics = watchMetrics({ version, labels: config.labels, trigger: config.trigger }, read);
  const neverSynced = resourceNames.map(resource => ({ resource, lastCompletedAt: null }));
  const server = await startMonitorServer({
    host,
    port,
    metrics,
    health: { maxAgeMs, ages: () => read()?.lists ?? neverSynced },
    onFault: error => logger.error(loggedError(error), 'A request failed.'),
  });
  return { ...metrics, ...server };
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

/** Opens the mirror for each look at it: before the first run there is none, and it can be replaced from a backup. */
async function figuresReader(database: string): Promise<() => MirrorNumbers | null> {
  const { ReportReader } = await import('../../store/read/report-reader.ts');
  return cachedForOneSecond(() => {
    if (!existsSync(database)) return null;
    using reader = new ReportReader(database);
    return reader.figures();
  });
}
