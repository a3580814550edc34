import type { Config, ServiceConfig } from '../config/settings.ts';
import type { ListDefinition } from '../contract/lists.ts';
import { UsageError } from '../errors.ts';
import { Service } from '../service/service.ts';
import { readBaseUrl } from '../store/read/base-url.ts';
import { SqliteMirror } from '../store/write/mirror.ts';
import type { ChangeObserver } from '../store/write/row-writer.ts';
import type { ListObserver } from '../sync/list.ts';
import type { Trigger } from '../sync/ports.ts';
import { type RunSummary, runSync } from '../sync/run.ts';
import { version } from '../version.ts';
import type { Logger } from './logging.ts';
import { readTokenFile } from './token-file.ts';

export interface RunRequest {
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly lists: readonly ListDefinition[];
  readonly trigger: Trigger;
  readonly allowMassRemoval: boolean;
  /** Go on where the mirror is of another base address: the service has moved. */
  readonly acceptsNewBaseUrl: boolean;
  /** Sweep in full, also where an incremental sync would do. */
  readonly isFull: boolean;
  /** Told of every change that a dry run would make; its presence makes the run dry. */
  readonly onPlannedChange?: ChangeObserver;
  readonly logger: Logger;
  readonly observer: ListObserver;
  readonly signal: AbortSignal;
}

/** Most pages of one list. */
export const pagesMax = 1_000_000;

/** Wires the rooms together for one run, and takes them apart again however it ends. */
export async function runOnce(request: RunRequest): Promise<RunSummary> {
  const { config, service, logger, observer, signal } = request;
  if (!request.acceptsNewBaseUrl) assertIsMirrorOf(config.database, service.baseUrl);
  const source = openService(service, config, logger);
  const mirror =
    request.onPlannedChange === undefined
      ? SqliteMirror.open(config.database, signal)
      : SqliteMirror.openDry(config.database, request.onPlannedChange, signal);
  try {
    return await runSync(
      {
        lists: request.lists,
        trigger: request.trigger,
        docmirrorVersion: version,
        pageSize: config.pageSize,
        removals: { shareMax: config.maxRemovals, allowAny: request.allowMassRemoval },
        pagesMax,
        fullEveryMs: request.isFull ? 0 : config.fullEveryMs,
      },
      { source, mirror, clock: () => new Date(), observer, signal },
    );
  } finally {
    await source.close();
    mirror.close();
  }
}

/**
 * Refuses a mirror of another service, before a request is sent and before anything is written.
 *
 * @throws UsageError where the mirror belongs to another base address.
 */
export function assertIsMirrorOf(database: string, baseUrl: string): void {
  const bound = readBaseUrl(database);
  if (bound === null || bound === baseUrl) return;
  throw new UsageError(
    `${database} is the mirror of ${bound}, not of ${baseUrl}. Name another file with --database or, if that service has moved, run "docmirror sync --accept-new-base-url".`,
  );
}

/** The service as a source of pages. */
export function openService(service: ServiceConfig, config: Config, logger: Logger): Service {
  return new Service({
    ...config,
    baseUrl: service.baseUrl,
    token: readToken(service),
    userAgent: `docmirror/${version}`,
    onRetry: (error, tryNumber) => logger.warn({ error: error.message, tryNumber }, 'trying again'),
  });
}

function readToken({ token }: ServiceConfig): string {
  return 'text' in token ? token.text : readTokenFile('DOCMIRROR_TOKEN_FILE', token.file);
}
