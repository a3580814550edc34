import { basename } from 'node:path';
import { type FurtherHeaders, isOpenToOthers, readHeadersFile } from '../config/headers-file.ts';
import type { Config, ServiceConfig } from '../config/resolve.ts';
import { type ListDefinition, lists } from '../contract/lists.ts';
import { attempt, CancelledError, exitCodes, UsageError } from '../errors.ts';
import { firstLine, type SharedRunSummary } from '../render/run-summary.ts';
import { Service, type ServiceOptions } from '../service/service.ts';
import { queryOf, statedBy } from '../store/copies/manifest.ts';
import { isYetToMake, mirrorToWrite } from '../store/file/open.ts';
import { readFreshness } from '../store/read/runs/freshness.ts';
import { type RecordChange, SqliteMirror } from '../store/write/mirror.ts';
import { exitCodeOf, runSync } from '../sync/run.ts';
import { version } from '../version.ts';
import type { Context } from './command.ts';
import { whenFree, whose } from './io.ts';
import { type Logger, loggedError } from './logging.ts';
import { type Progress, progressOn } from './progress.ts';
import { shareAfterRun } from './share.ts';
import { readToken } from './token.ts';

/** What one run is told, by `sync`, each tick of `watch`, `verify --live` and `demo`. */
interface RunRequest {
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly logger: Logger;
  /** All lists, if it is left out. */
  readonly lists?: readonly ListDefinition[];
  readonly allowMassRemoval?: boolean;
  readonly acceptNewBaseUrl?: boolean;
  readonly full?: boolean;
  readonly rebuild?: boolean;
  /** Called with each change that a dry run would make; if it is set, the run is dry. */
  readonly onPlannedChange?: (change: RecordChange) => void;
  /** The machine's own, if it is left out. */
  readonly clock?: () => Date;
  readonly onBegun?: () => void;
}

/** Opens everything that one run needs, makes it, and then the share; closes all of it however the run ends. */
export async function runOnce(request: RunRequest, context: Context): Promise<SharedRunSummary> {
  const { config, service, logger, onPlannedChange } = request;
  const { deadlineMs } = config;
  await using ending = new AsyncDisposableStack();
  const observer = progressOn(logger, context.line);
  ending.defer(() => observer.close());
  const late = new AbortController();
  const timer = deadlineMs && setTimeout(() => late.abort(new CancelledError('deadline')), deadlineMs);
  ending.defer(() => clearTimeout(timer ?? undefined));
  const signal = AbortSignal.any([context.signal, late.signal]);
  context.line.show('opening the mirror');
  const mirror = await openMirror(request, signal);
  ending.defer(() => closeMirror(mirror, request));
  if (onPlannedChange === undefined) context.notifier?.begun();
  const see: ServiceOptions['see'] = (...sight) => mirror.facts.see(...sight);
  const source = openService(service, { ...config, see }, context, signal, logger, observer);
  ending.defer(() => source.close());
  const order = {
    ...config,
    lists: request.lists ?? lists,
    trigger: config.trigger ?? 'manual',
    docmirrorVersion: version,
    onBegun(runId: number | null) {
      logger.current.runId = runId;
      request.onBegun?.();
    },
    deleteLimit: { shareMax: config.maxRemovals, allowAny: request.allowMassRemoval ?? false },
    pagesMax: config.maxPages,
    fullEveryMs: request.full ? 0 : config.fullEveryMs,
    isAfresh: request.full === true || request.rebuild === true,
    saveEveryMs: onPlannedChange === undefined ? config.saveEveryMs : 0,
  };
  const clock = request.clock ?? (() => new Date());
  const summary = await runSync(order, { source, mirror, clock, observer, signal });
  const { versionsPruned } = summary;
  if (versionsPruned > 0) logger.info({ versionsPruned }, 'old versions deleted');
  if (config.share !== null) context.line.work('making the share');
  if (onPlannedChange !== undefined) return { ...summary, share: null };
  // A run that took too long can have changed a list, and the next one can be as slow.
  return { ...summary, share: await shareAfterRun(config, logger, context.signal) };
}

/** Opens the mirror for a run as soon as it is free; says so if it is new, or was brought up to date. */
async function openMirror(request: RunRequest, signal: AbortSignal): Promise<SqliteMirror> {
  const { config, service, logger, onPlannedChange: tell, rebuild: mayRebuild = false } = request;
  const { database } = config;
  const isNew = tell === undefined && isYetToMake(mirrorToWrite(database));
  if (!request.acceptNewBaseUrl) assertIsMirrorOf(database, service);
  const options = { signal, mayRebuild, ...(tell && { tell }) };
  const mirror = await whenFree(config.waitMs, signal, () => SqliteMirror.open(database, options));
  try {
    // While this run waited, another one can have made the mirror.
    if (!request.acceptNewBaseUrl) assertIsMirrorOf(database, service);
  } catch (error) {
    mirror.close();
    throw error;
  }
  const { copyOfBefore: copy } = mirror;
  if (copy !== null)
    logger.warn({ copy }, 'the mirror was brought up to date; it is kept as it was in a copy');
  if (isNew) logger.info({ database }, 'there was no mirror here; it was made');
  return mirror;
}

function closeMirror(mirror: SqliteMirror, { config: { database }, logger }: RunRequest): void {
  const { isInUse, error } = mirror.close();
  const isOpen =
    'another program keeps the mirror open; until it ends, copy the mirror together with its -wal file';
  if (isInUse) logger.warn({ database }, isOpen);
  const lost = error && { database, ...loggedError(error) };
  if (lost) logger.warn(lost, 'the run is recorded, but still in the -wal file beside the mirror');
}

/** The exit code after a run. It is partial if only the share could not be made. */
export function exitCodeAfter(summary: SharedRunSummary, signal: AbortSignal): number {
  const code = exitCodeOf(summary, signal);
  return summary.share?.error ? code || exitCodes.partial : code;
}

/** The line that the summary of a run begins with; empty if the run was dry, or ended with 0. */
export function firstLineAfter(summary: SharedRunSummary, { config, settings, signal }: Context): string {
  if (summary.runId === null || exitCodeAfter(summary, signal) === exitCodes.done) return '';
  const { database } = config;
  // On a full disk not even that can be read, and the rest of the summary counts more.
  const lists = attempt(() => readFreshness(database)) ?? [];
  return firstLine(whose(settings) || `${basename(database)}: `, summary, lists, Date.now());
}

/** Refuses a mirror of another service, or of other parameters, with a UsageError, before a request is sent and before anything is written. */
export function assertIsMirrorOf(database: string, wanted: Pick<ServiceConfig, 'baseUrl' | 'query'>): void {
  const { baseUrl, query } = wanted;
  const bound = statedBy(database).baseUrl;
  if (bound === null) return;
  const moved = `${database} is the mirror of ${bound}, not of ${baseUrl}. Name another file with --database or, if that service has moved, run "docmirror sync --accept-new-base-url".`;
  if (bound !== baseUrl) throw new UsageError(moved);
  const changed = `DOCMIRROR_QUERY (--query) is not what ${database} was made with; its runs name theirs in sync_runs.query. Set that, name another file with --database or, if the service now wants other parameters, run "docmirror sync --accept-new-base-url".`;
  if (queryOf(database) !== query) throw new UsageError(changed);
}

/** The service as a source of pages. If its token can't be read for the first one, the run is recorded, and each list says why. */
export function openService(
  { token, headersFile, ...address }: ServiceConfig,
  config: Config & Pick<ServiceOptions, 'see'>,
  { secrets }: Context,
  signal: AbortSignal,
  logger: Logger,
  observer?: Progress,
): Service {
  const { proxy } = address;
  if (proxy !== null) secrets.add(decodeURIComponent(new URL(proxy.url).password));
  let timesRead = 0;
  let headers: FurtherHeaders = {};
  const readHeaders = () => {
    if (headersFile === null) return;
    headers = readHeadersFile(headersFile);
    for (const value of Object.values(headers)) secrets.add(value, false);
    if (timesRead === 0 && isOpenToOthers(headersFile))
      logger.warn({ path: headersFile }, 'others can read the headers file, whose values are secrets');
  };
  return new Service({
    ...config,
    ...address,
    headers: () => headers,
    tokenFrom: token.from,
    secrets,
    readToken: async () => {
      readHeaders();
      if (timesRead++ > 0) logger.info('the service no longer accepts the token; asking for another one');
      return readToken(token, signal);
    },
    userAgent: `docmirror/${version}`,
    onRetry: (error, tryNumber) => observer?.retrying(error, tryNumber),
    onWait: untilMs => observer?.waiting(untilMs),
  });
}
