import type { Config, ServiceConfig } from '../config/settings.ts';
import type { ListDefinition } from '../contract/lists.ts';
import { Service } from '../service/service.ts';
import type { ChangeObserver } from '../store/write/apply.ts';
import { SqliteMirror } from '../store/write/mirror.ts';
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
  readonly mustProve: boolean;
  /** Sweep in full, also where an incremental sync would do. */
  readonly isFull: boolean;
  /** Told of every change that a dry run would make; its presence makes the run dry. */
  readonly onPlannedChange?: ChangeObserver;
  readonly logger: Logger;
  readonly observer: ListObserver;
  readonly signal: AbortSignal;
}

/** Wires the rooms together for one run, and takes them apart again however it ends. */
export async function runOnce(request: RunRequest): Promise<RunSummary> {
  const { config, service, logger, observer, signal } = request;
  const source = openService(service, config, logger);
  const mirror =
    request.onPlannedChange === undefined
      ? SqliteMirror.open(config.database, signal)
      : SqliteMirror.openDry(config.database, request.onPlannedChange);
  try {
    return await runSync(
      {
        lists: request.lists,
        trigger: request.trigger,
        docmirrorVersion: version,
        pageSize: config.pageSize,
        removals: { shareMax: config.maxRemovals, allowAny: request.allowMassRemoval },
        mustProve: request.mustProve,
        fullEveryMs: request.isFull ? 0 : config.fullEveryMs,
      },
      { source, mirror, clock: () => new Date(), observer, signal },
    );
  } finally {
    await source.close();
    mirror.close();
  }
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
