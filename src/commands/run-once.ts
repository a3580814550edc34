import type { Config, ServiceConfig } from '../config/resolve.ts';
import type { ListDefinition } from '../contract/lists.ts';
import { CancelledError, exitCodes, UsageError } from '../errors.ts';
import type { SharedRunSummary } from '../render/run-summary.ts';
import type { Secrets } from '../service/secrets.ts';
import { Service } from '../service/service.ts';
import { readBaseUrl } from '../store/read/base-url.ts';
import { type ChangeObserver, SqliteMirror } from '../store/write/mirror.ts';
import type { ListObserver } from '../sync/read.ts';
import { exitCodeOf, runSync } from '../sync/run.ts';
import { version } from '../version.ts';
import { type Logger, loggedError } from './logging.ts';
import type { Progress } from './progress.ts';
import { shareAfterRun } from './share.ts';
import { readToken } from './token.ts';
import { whenFree } from './when-free.ts';

/** The order for one run, for `sync`, each tick of `watch`, and `verify --live`. */
interface RunRequest extends Opening {
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly lists: readonly ListDefinition[];
  readonly trigger: string;
  /** Options that only a person chooses. */
  readonly flags?: RunFlags;
  /** Called with each change that a dry run would make; if it is set, the run is dry. */
  readonly onPlannedChange?: ChangeObserver;
  readonly observer: ListObserver & Pick<Progress, 'waiting' | 'close'>;
  /** The machine's own, if it is left out. */
  readonly clock?: () => Date;
  /** Called when the mirror is locked. */
  readonly onLocked?: () => void;
  /** Called when the run is recorded. */
  readonly onBegun?: () => void;
}

interface RunFlags {
  readonly allowMassRemoval?: boolean;
  /** Go on if the mirror belongs to another base address: the service has moved. */
  readonly acceptNewBaseUrl?: boolean;
  /** Make a full sync, even if an incremental one is enough. */
  readonly full?: boolean;
  /** Drop rows that another program altered, and go on. */
  readonly rebuild?: boolean;
}

/** Opens everything that one run needs, and closes it however the run ends; the observer is closed, too. */
export async function runOnce(request: RunRequest): Promise<SharedRunSummary> {
  const { config, service, observer, logger, onPlannedChange, flags = {} } = request;
  const { database, waitMs, fullEveryMs, deadlineMs } = config;
  const late = new AbortController();
  const end = () => late.abort(new CancelledError('deadline'));
  const timer = deadlineMs === null ? undefined : setTimeout(end, deadlineMs);
  const signal = AbortSignal.any([request.signal, late.signal]);
  try {
    if (!flags.acceptNewBaseUrl) assertIsMirrorOf(database, service.baseUrl);
    const mirror = await whenFree(waitMs, signal, () =>
      onPlannedChange === undefined
        ? SqliteMirror.open(database, { signal, mayRebuild: flags.rebuild ?? false })
        : SqliteMirror.openDry(database, onPlannedChange, { signal }),
    );
    request.onLocked?.();
    const source = openService(service, config, { ...request, signal });
    try {
      const summary = await runSync(
        {
          lists: request.lists,
          trigger: request.trigger,
          docmirrorVersion: version,
          actor: config.actor,
          labels: config.labels,
          onBegun: runId => {
            logger.current.runId = runId;
            request.onBegun?.();
          },
          pageSize: config.pageSize,
          removals: { shareMax: config.maxRemovals, allowAny: flags.allowMassRemoval ?? false },
          pagesMax: config.maxPages,
          fullEveryMs: flags.full ? 0 : fullEveryMs,
          keepHistoryMs: config.keepHistoryMs,
        },
        { source, mirror, clock: request.clock ?? (() => new Date()), observer, signal },
      );
      const { versionsPruned } = summary;
      if (versionsPruned > 0) logger.info({ versionsPruned }, 'old versions deleted');
      // A run that took too long can have changed a list, and the next one can be as slow.
      return {
        ...summary,
        share: onPlannedChange === undefined ? await shareAfterRun(config, logger, request.signal) : null,
      };
    } finally {
      await source.close();
      const message =
        'another program keeps the mirror open; until it ends, copy the mirror together with its -wal file';
      if (!mirror.close()) logger.warn({ database }, message);
    }
  } finally {
    clearTimeout(timer);
    observer.close();
  }
}

/** The exit code after a run. It is partial if only the share could not be made. */
export function exitCodeAfter(summary: SharedRunSummary, signal: AbortSignal): number {
  const code = exitCodeOf(summary, signal);
  const isShared = summary.share === null || summary.share.error === null;
  return code === exitCodes.done && !isShared ? exitCodes.partial : code;
}

/**
 * Refuses a mirror of another service, before a request is sent and before anything is written.
 *
 * @throws UsageError if the mirror belongs to another base address.
 */
export function assertIsMirrorOf(database: string, baseUrl: string): void {
  const bound = readBaseUrl(database);
  if (bound === null || bound === baseUrl) return;
  throw new UsageError(
    `${database} is the mirror of ${bound}, not of ${baseUrl}. Name another file with --database or, if that service has moved, run "docmirror sync --accept-new-base-url".`,
  );
}

/** The parts that an open service needs. */
export interface Opening {
  readonly logger: Logger;
  /** The token is added to these. */
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  /** Called with the time until which the service asked for no requests. */
  readonly observer?: Pick<Progress, 'waiting'>;
}

/**
 * The service as a source of pages. The token is read when the first page is asked for: if it can't be read, the run is recorded,
 * and each list says why.
 */
export function openService(
  { baseUrl, token, proxy, extraCa }: ServiceConfig,
  config: Config,
  { logger, secrets, signal, observer }: Opening,
): Service {
  if (proxy !== null) secrets.add(decodeURIComponent(new URL(proxy.url).password));
  let timesRead = 0;
  return new Service({
    ...config,
    baseUrl,
    proxy,
    extraCa,
    tokenFrom: token.from,
    secrets,
    readToken: () => {
      if (timesRead++ > 0) logger.info('the service no longer accepts the token; asking for another one');
      return readToken(token, signal);
    },
    userAgent: `docmirror/${version}`,
    onRetry: (error, tryNumber) => logger.warn({ ...loggedError(error), tryNumber }, 'trying again'),
    onWait: untilMs => observer?.waiting(untilMs),
  });
}
