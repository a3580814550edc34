import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config, ServiceConfig } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { CancelledError, DocmirrorError, exitCodes, TokenUnavailableError, UsageError } from '../errors.ts';
import { summaryText } from '../render/run-summary.ts';
import type { Secrets } from '../service/secrets.ts';
import { assertLockOrNone, lockPath } from '../store/file/lock-file.ts';
import { mirrorToWrite } from '../store/file/mirror-path.ts';
import { command } from './command.ts';
import { defaulting, duration, text, yes } from './flags.ts';
import { createLogger, type Logger, loggedError } from './logging.ts';
import type { Notifier } from './notifier.ts';
import { Progress } from './progress.ts';
import { assertIsMirrorOf, exitCodeAfter, readExtraCa, runOnce } from './run-once.ts';
import { checkSchedule, onSchedule, type Schedule } from './schedule.ts';
import { assertShareFits } from './share-after-run.ts';
import { mirrorSettings, runSettings } from './shared-flags.ts';
import { readToken } from './token.ts';
import { type Monitor, parseEndpoint, startMonitor } from './watch/monitor.ts';
import { removeWatchNote, writeWatchNote } from './watch-note.ts';

/** Everything a watch needs, complete and checked before it begins. */
interface WatchPlan {
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly schedule: Schedule;
  readonly runNow: boolean;
  readonly jitterMs: number;
}

const dayMs = 86_400_000;

/** `docmirror watch` */
export const watch = command({
  flags: {
    runNow: yes('also sync once at the start'),
    jitter: defaulting(
      duration('start each run up to this much later, at random; also the run of --run-now'),
      '0',
    ),
    http: text('HOST:PORT', 'answer /healthz and /metrics there'),
    maxAge: duration('/healthz answers 503 if a list has had no completed run for longer'),
  },
  settings: [...runSettings, 'schedule', 'timezone', ...mirrorSettings],
  examples: [
    { line: 'docmirror watch', meaning: 'every full hour' },
    {
      line: "docmirror watch --schedule '*/15 6-20 * * 1-5' --timezone Europe/Berlin --run-now",
      meaning: 'in working hours, and now',
    },
    {
      line: 'docmirror watch --jitter 5m --http 127.0.0.1:9464 --max-age 26h',
      meaning: 'one of many, looked after',
    },
  ],
  notes: [
    'Runs never overlap: a tick during a run is skipped and logged. A failed run does not end the watch. It is tried again after 5 minutes, or at the next tick if that is earlier. SIGTERM, SIGINT and SIGHUP end the watch cleanly, and a run in progress is recorded as cancelled. Its runs, also the one of --run-now, have the trigger "schedule", unless --trigger names another one.',
  ],
  exitCodes: '129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM.',
  notifies: () => true,
  async run({ runNow, jitter, http, maxAge }, context) {
    const { config, signal } = context;
    if (maxAge !== null && http === null) throw new UsageError('--max-age goes with --http.');
    const schedule = { expression: config.schedule, timezone: config.timezone };
    checkSchedule(schedule);
    const plan = { config, service: context.service, schedule, runNow, jitterMs: Math.min(jitter, dayMs) };
    const endpoint = http === null ? null : parseEndpoint('--http', http);
    await assertCanBegin(plan, signal);
    const logger = createLogger(config, context);
    const monitor =
      endpoint === null ? null : await startMonitor({ ...endpoint, config, maxAgeMs: maxAge, logger });
    if (monitor !== null) context.stdout.write(`docmirror watch answers at ${monitor.url}\n`);
    try {
      await keepWatch(plan, {
        logger,
        monitor,
        signal,
        secrets: context.secrets,
        notifier: context.notifier,
      });
    } finally {
      removeWatchNote(config.database);
      await monitor?.close();
    }
    if (signal.reason instanceof CancelledError) context.exitCode = signal.reason.exitCode;
  },
});

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
  readonly notifier: Notifier | null;
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
async function runAndLog(
  plan: WatchPlan,
  { logger, secrets, signal, notifier }: WatchWorld,
): Promise<boolean> {
  try {
    await delayByChance(plan.jitterMs, logger, signal);
    const { config, service } = plan;
    const summary = await runOnce({
      config,
      service,
      lists,
      trigger: config.trigger ?? 'schedule',
      onBegun: () => logger.info('run started'),
      onLocked: () => notifier?.begun(),
      logger,
      secrets,
      observer: new Progress(logger),
      signal,
    });
    const { runId, status, durationMs, error, receipt, share } = summary;
    logger[status === 'completed' ? 'info' : 'warn'](
      { runId, status, durationMs, error, receipt, share },
      `run ${status}`,
    );
    notifier?.summary(summaryText(summary));
    await notifier?.ended(exitCodeAfter(summary, signal));
    return status === 'failed';
  } catch (error) {
    if (signal.aborted) return false;
    await notifier?.failed(error);
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
