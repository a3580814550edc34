import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { attempt, CancelledError, exitCodes, UsageError } from '../errors.ts';
import { summaryText } from '../render/run-summary.ts';
import type { NextRun } from '../render/status.ts';
import type { RunningServer } from '../serve/server.ts';
import { mirrorToWrite } from '../store/file/open.ts';
import { writeWhole } from '../store/file/whole-file.ts';
import { type Context, command } from './command.ts';
import { defaulting, mirrorSettings, runSettings, timeSpan, typed, yes } from './flags.ts';
import { failureOf, whose } from './io.ts';
import { createLogger, type Logger, loggedError } from './logging.ts';
import { assertIsMirrorOf, exitCodeAfter, firstLineAfter, runOnce } from './run-once.ts';
import { ticksOf, zoneOf } from './schedule.ts';
import { assertShareFits } from './share.ts';
import { readTokenFile } from './token.ts';

const dayMs = 86_400_000;

export default command({
  flags: { runNow: yes, jitter: defaulting(timeSpan, '0'), http: typed('HOST:PORT'), maxAge: timeSpan },
  settings: [...runSettings, 'schedule', 'timezone', ...mirrorSettings],
  notifies: () => true,
  async run({ runNow, jitter, http, maxAge }, context) {
    const { config, service, signal } = context;
    const { database, schedule } = config;
    const { timezone, from, isKnown } = zoneOf(config.timezone, context.settings.environment.TZ);
    if (maxAge !== null && http === null) throw new UsageError('--max-age goes with --http.');
    const endpoint = http === null ? null : endpointIn(http);
    // A mistake would make each run fail. A token command can need a service that is not up yet; each run calls it again.
    mirrorToWrite(database);
    assertIsMirrorOf(database, service);
    assertShareFits(config);
    if ('file' in service.token) readTokenFile('DOCMIRROR_TOKEN_FILE', service.token.file);
    const logger = createLogger(config, context, 'info');
    if (jitter > dayMs) throw new UsageError('--jitter: a run can start at most 24h later.');
    const tickAfter = ticksOf(schedule, timezone);
    const nextTick = () => tickAfter(Date.now());
    const words = `the schedule is in ${timezone}, by ${from}`;
    if (isKnown) logger.info({ timezone }, words);
    else logger.warn({ timezone }, `${words}; set DOCMIRROR_TIMEZONE`);
    let skippedCount = 0;
    let nextAtMs = 0;
    const announce = (atMs: number) => {
      nextAtMs = atMs;
      const next: NextRun = { nextRunAt: new Date(atMs).toISOString(), schedule, timezone };
      logger.info(next, 'next run');
      // The note is only a hint for `status`.
      attempt(() => writeWhole(`${database}.watch`, `${JSON.stringify(next)}\n`));
    };
    let inProgress: Promise<void> | null = null;
    let again: NodeJS.Timeout | undefined;
    const begin = () => {
      if (inProgress !== null) return;
      clearTimeout(again);
      inProgress = runAndLog(context, jitter, logger).then(hasFailed => {
        inProgress = null;
        const atMs = Date.now() + tryAgainMs;
        if (!hasFailed || signal.aborted || nextTick() <= atMs) return;
        announce(atMs);
        again = setTimeout(() => {
          begin();
          announce(nextTick());
        }, tryAgainMs);
      });
    };
    let monitor: RunningServer | null = null;
    if (endpoint !== null) {
      // A watch that answers nobody does without the server.
      const { startMonitorServer } = await import('../serve/server.ts');
      monitor = await startMonitorServer({
        ...config,
        ...endpoint,
        maxAgeMs: maxAge,
        metrics: {
          docmirror_watch_ticks_skipped_total: () => [[skippedCount]],
          docmirror_watch_next_run_timestamp_seconds: () => [[nextAtMs / 1000]],
        },
        onFault: error => logger.error(loggedError(error), 'A request failed.'),
      });
      context.stdout.write(`docmirror watch answers at ${monitor.url}\n`);
    }
    let tick = nextTick();
    announce(tick);
    if (runNow && !signal.aborted) begin();
    // A machine that sleeps comes late to its next tick, so that is remembered until it is over. A clock that is set back has an earlier one.
    while (!signal.aborted) {
      const isDue = Date.now() >= tick;
      if (isDue && inProgress !== null) {
        skippedCount++;
        logger.warn({ tick: new Date(tick).toISOString() }, 'tick skipped: the run before it is still going');
      }
      if (isDue) begin();
      const next = isDue ? nextTick() : Math.min(tick, nextTick());
      if (next !== tick) announce(next);
      tick = next;
      await wait(Math.min(lookMs, tick - Date.now()), undefined, { signal }).catch(() => undefined);
    }
    clearTimeout(again);
    logger.info({ reason: String(signal.reason) }, 'watch is ending');
    await Promise.all([inProgress, monitor?.close()]);
    rmSync(`${database}.watch`, { force: true });
    if (signal.reason instanceof CancelledError) context.exitCode = signal.reason.exitCode;
  },
});

/** How long after a run that failed it is tried again, in milliseconds. */
const tryAgainMs = 5 * 60_000;

/** The clock is looked at this often, in milliseconds. */
const lookMs = 5_000;

/** One run, whose result is logged. It returns whether it failed for a reason that can be gone after some minutes, and does not throw. */
async function runAndLog(context: Context, jitterMs: number, logger: Logger): Promise<boolean> {
  const { config, service, signal, notifier } = context;
  try {
    const delayMs = randomInt(jitterMs + 1);
    if (jitterMs > 0) logger.debug({ delayMs }, 'run delayed by --jitter');
    await wait(delayMs, undefined, { signal });
    const onBegun = () => logger.info('run started');
    const trigger = config.trigger ?? 'schedule';
    const order = { config: { ...config, trigger }, service, logger, onBegun };
    const summary = await runOnce(order, context);
    const { runId, status, durationMs, error, receipt, share } = summary;
    const entry = { runId, status, durationMs, error, receipt, share };
    logger[status === 'completed' ? 'info' : 'warn'](entry, `run ${status}`);
    const text = summaryText(summary, Number.POSITIVE_INFINITY, [], firstLineAfter(summary, context));
    await notifier?.ended(exitCodeAfter(summary, signal), text);
    return status === 'failed';
  } catch (error) {
    if (signal.aborted) return false;
    const { code, message, exitCode } = failureOf(error);
    await notifier?.ended(exitCode, `docmirror watch: ${whose(context.settings)}${message} [${code}]`);
    const words = code === 'internal' ? `: ${message}` : '';
    logger.error(loggedError(error), `run failed${words}`);
    // Settings and an altered mirror need a decision by a person, and a run by another process is no failure.
    return exitCode === exitCodes.failed;
  } finally {
    logger.current.runId = null;
  }
}

/** Reads `HOST:PORT`; the host can be an IPv6 address in brackets. */
function endpointIn(text: string): { host: string; port: number } {
  const url = URL.parse(`tcp://${text.trim()}`);
  if (!url?.port)
    throw new UsageError(`--http: expected HOST:PORT such as 127.0.0.1:9464, got ${JSON.stringify(text)}`);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) };
}
