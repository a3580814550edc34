import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Config, ServiceConfig } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import { CancelledError, DocmirrorError, exitCodes, TokenUnavailableError, UsageError } from '../errors.ts';
import { summaryText } from '../render/run-summary.ts';
import { mirrorToWrite } from '../store/file/mirror-path.ts';
import { command } from './command.ts';
import { defaulting, duration, text, yes } from './flags.ts';
import { createLogger, loggedError } from './logging.ts';
import type { Notifier } from './notifier.ts';
import { Progress } from './progress.ts';
import { assertIsMirrorOf, exitCodeAfter, type Opening, readExtraCa, runOnce } from './run-once.ts';
import { checkSchedule, onSchedule } from './schedule.ts';
import { assertShareFits } from './share.ts';
import { mirrorSettings, runSettings } from './shared-flags.ts';
import { readToken } from './token.ts';
import { parseEndpoint, startMonitor } from './watch/monitor.ts';
import { removeWatchNote, writeWatchNote } from './watch-note.ts';

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
    const { config, service, signal, secrets, notifier } = context;
    if (maxAge !== null && http === null) throw new UsageError('--max-age goes with --http.');
    const { schedule, timezone } = config;
    checkSchedule(schedule);
    const endpoint = http === null ? null : parseEndpoint('--http', http);
    await assertCanBegin(config, service, signal);
    const logger = createLogger(config, context);
    const monitor =
      endpoint === null ? null : await startMonitor({ ...endpoint, config, maxAgeMs: maxAge, logger });
    if (monitor !== null) context.stdout.write(`docmirror watch answers at ${monitor.url}\n`);
    const jitterMs = Math.min(jitter, dayMs);
    const work = () => runAndLog({ config, service, logger, secrets, signal, notifier, jitterMs });
    const logEnd = () => logger.info({ reason: String(signal.reason) }, 'watch is ending');
    signal.addEventListener('abort', logEnd, { once: true });
    try {
      await onSchedule({ expression: schedule, timezone }, work, {
        startNow: runNow,
        signal,
        observer: {
          tickSkipped: at => {
            logger.warn({ tick: at.toISOString() }, 'tick skipped: the run before it is still going');
            monitor?.tickSkipped();
          },
          nextTick: at => {
            if (at === null) return;
            const next = { nextRunAt: at.toISOString(), schedule, timezone };
            logger.info(next, 'next run');
            monitor?.nextTick(at);
            writeWatchNote(config.database, next);
          },
        },
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
async function assertCanBegin(config: Config, service: ServiceConfig, signal: AbortSignal): Promise<void> {
  mirrorToWrite(config.database);
  assertIsMirrorOf(config.database, service.baseUrl);
  assertShareFits(config);
  readExtraCa(service);
  // A token command can need a service that is not up yet; each run calls it again.
  if ('file' in service.token) {
    await readToken(service.token, signal).catch((error: unknown) => {
      throw error instanceof TokenUnavailableError ? new UsageError(error.message, { cause: error }) : error;
    });
  }
}

interface Work extends Opening {
  readonly config: Config;
  readonly service: ServiceConfig;
  readonly notifier: Notifier | null;
  readonly jitterMs: number;
}

/**
 * One run of the watch. Its result is logged, and no error is thrown.
 *
 * @returns whether it failed for a reason that can be gone after some minutes.
 */
async function runAndLog({ notifier, jitterMs, ...opening }: Work): Promise<boolean> {
  const { config, logger, signal } = opening;
  try {
    const delayMs = randomInt(Math.floor(jitterMs) + 1);
    if (jitterMs > 0) logger.debug({ delayMs }, 'run delayed by --jitter');
    await wait(delayMs, undefined, { signal });
    const summary = await runOnce({
      ...opening,
      lists,
      trigger: config.trigger ?? 'schedule',
      onBegun: () => logger.info('run started'),
      onLocked: () => notifier?.begun(),
      observer: new Progress(logger),
    });
    const { runId, status, durationMs, error, receipt, share } = summary;
    const entry = { runId, status, durationMs, error, receipt, share };
    logger[status === 'completed' ? 'info' : 'warn'](entry, `run ${status}`);
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
