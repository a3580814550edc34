import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  type Config,
  durationMs,
  resolveConfig,
  resolveService,
  type ServiceConfig,
} from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { CancelledError, DocmirrorError, exitCodes, TokenUnavailableError, UsageError } from '../errors.ts';
import { summaryText } from '../render/run-summary.ts';
import type { Secrets } from '../service/secrets.ts';
import { assertLockOrNone, lockPath } from '../store/file/lock-file.ts';
import { mirrorToWrite } from '../store/file/mirror-path.ts';
import type { CommandContext, Telling } from './context.ts';
import { createLogger, type Logger, loggedError } from './logging.ts';
import { LogObserver } from './progress.ts';
import { assertIsMirrorOf, exitCodeAfter, readExtraCa, runOnce } from './run-once.ts';
import { checkSchedule, onSchedule, type Schedule } from './schedule.ts';
import { assertShareFits } from './share-after-run.ts';
import { readToken } from './token.ts';
import { type Monitor, parseEndpoint, startMonitor } from './watch/monitor.ts';
import { removeWatchNote, writeWatchNote } from './watch-note.ts';

interface WatchFlags {
  readonly runNow?: boolean;
  readonly jitter: string;
  readonly http?: string;
  readonly maxAge?: string;
}

/** Everything a watch needs, complete and checked before it begins. */
interface WatchPlan {
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly schedule: Schedule;
  readonly runNow: boolean;
  readonly jitterMs: number;
  readonly http: { readonly host: string; readonly port: number } | null;
  readonly maxAgeMs: number | null;
}

const dayMs = 86_400_000;

/** `docmirror watch`; its flags are in the table of commands. */
export async function watch(command: Command, context: CommandContext): Promise<void> {
  const plan = planOf(command, context);
  await assertCanBegin(plan, context.signal);
  const logger = createLogger(plan.config, context.stderr.isTTY, context.secrets);
  const monitor = plan.http === null ? null : await startMonitor({ ...plan, ...plan.http, logger });
  if (monitor !== null) context.stdout.write(`docmirror watch answers at ${monitor.url}\n`);
  try {
    await keepWatch(plan, { ...context, logger, monitor });
  } finally {
    removeWatchNote(plan.config.database);
    await monitor?.close();
  }
  const reason: unknown = context.signal.reason;
  if (reason instanceof CancelledError) context.setExitCode(reason.exitCode);
}

function planOf(command: Command, { environment, inEnvFile }: CommandContext): WatchPlan {
  const flags = command.opts<WatchFlags>();
  const config = resolveConfig(command.opts(), environment);
  if (flags.maxAge !== undefined && flags.http === undefined)
    throw new UsageError('--max-age goes with --http.');
  const schedule = { expression: config.schedule, timezone: config.timezone };
  checkSchedule(schedule);
  return {
    config,
    service: resolveService(command.opts(), environment, inEnvFile),
    schedule,
    runNow: flags.runNow ?? false,
    jitterMs: Math.min(durationMs('--jitter', flags.jitter), dayMs),
    http: flags.http === undefined ? null : parseEndpoint('--http', flags.http),
    maxAgeMs: flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge),
  };
}

/**
 * Checks what the settings name once, before the wait for the first tick: a mistake would make each run fail.
 *
 * @throws DocmirrorError as a run does.
 */
async function assertCanBegin({ config, service }: WatchPlan, signal: AbortSignal): Promise<void> {
  assertLockOrNone(lockPath(mirrorToWrite(config.database)));
  assertIsMirrorOf(config.database, service.baseUrl);
  await assertShareFits(config);
  await readExtraCa(service);
  // A token command can need a service that is not up yet; each run calls it again.
  if ('file' in service.token) {
    await readToken(service.token, signal).catch((error: unknown) => {
      throw error instanceof TokenUnavailableError ? new UsageError(error.message, { cause: error }) : error;
    });
  }
}

interface WatchWorld {
  readonly logger: Logger;
  readonly monitor: Monitor | null;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly teller?: Telling;
}

async function keepWatch(plan: WatchPlan, world: WatchWorld): Promise<void> {
  const { logger, monitor, signal } = world;
  const { config, schedule } = plan;
  signal.addEventListener('abort', () => logger.info({ reason: String(signal.reason) }, 'watch is ending'), {
    once: true,
  });
  await onSchedule(schedule, () => runAndLog(plan, world), {
    startNow: plan.runNow,
    signal,
    observer: {
      tickSkipped: at => {
        logger.warn({ tick: at.toISOString() }, 'tick skipped: the run before it is still going');
        monitor?.tickSkipped();
      },
      nextTick: at => {
        if (at === null) return;
        const { expression, timezone } = schedule;
        const next = { nextRunAt: at.toISOString(), schedule: expression, timezone };
        logger.info(next, 'next run');
        monitor?.nextTick(at);
        writeWatchNote(config.database, next);
      },
    },
  });
}

/**
 * One run of the watch. Its result is logged, and no error is thrown.
 *
 * @returns whether it failed for a reason that can be gone after some minutes.
 */
async function runAndLog(plan: WatchPlan, { logger, secrets, signal, teller }: WatchWorld): Promise<boolean> {
  try {
    await delayByChance(plan.jitterMs, logger, signal);
    const { config, service } = plan;
    const summary = await runOnce({
      config,
      service,
      lists,
      trigger: config.trigger ?? 'schedule',
      onBegun: () => logger.info('run started'),
      onLocked: () => teller?.begun(),
      logger,
      secrets,
      observer: new LogObserver(logger),
      signal,
    });
    const { runId, status, durationMs, error, receipt, share } = summary;
    logger[status === 'completed' ? 'info' : 'warn'](
      { runId, status, durationMs, error, receipt, share },
      `run ${status}`,
    );
    teller?.summary(summaryText(summary));
    await teller?.ended(exitCodeAfter(summary, signal));
    return status === 'failed';
  } catch (error) {
    if (signal.aborted) return false;
    await teller?.failed(error);
    const isForeseen = error instanceof DocmirrorError;
    const words = isForeseen ? '' : ': this is a fault of docmirror itself, please report it';
    logger.error(loggedError(error), `run failed${words}`);
    // Settings and an altered mirror need a decision by a person, and a run by another process is no failure.
    return !isForeseen || error.exitCode === exitCodes.failed;
  } finally {
    logger.current.runId = null;
  }
}

async function delayByChance(jitterMs: number, logger: Logger, signal: AbortSignal): Promise<void> {
  if (jitterMs < 1) return;
  const delayMs = randomInt(Math.floor(jitterMs) + 1);
  logger.debug({ delayMs }, 'run delayed by --jitter');
  await wait(delayMs, undefined, { signal });
}
