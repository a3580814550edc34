import { once } from 'node:events';
import { createTask, validateDetailed } from 'node-cron';
import { UsageError } from '../errors.ts';

interface TickObserver {
  /** A tick was skipped because the work of an earlier one was still running. */
  tickSkipped(at: Date): void;
  /** The time of the next work has changed; null if no more will ever come. */
  nextTick(at: Date | null): void;
}

/** How long after work that failed it is tried again, in milliseconds. */
const tryAgainMs = 5 * 60_000;

/** @throws UsageError that names the setting, if the schedule is impossible. */
export function checkSchedule(expression: string): void {
  const { valid, errors } = validateDetailed(expression);
  if (valid) return;
  const why = errors.map(({ message }) => message).join('; ');
  throw new UsageError(
    `DOCMIRROR_SCHEDULE (--schedule): ${JSON.stringify(expression)} is not a cron expression: ${why}. Expected five fields, or six with seconds first, such as "0 * * * *".`,
  );
}

/**
 * Does some work at each tick of a schedule until the signal is aborted, and returns when the work in progress has ended. Work never
 * overlaps: a tick is skipped while earlier work is running. If the process was too busy or asleep to see a tick, the work is done as soon
 * as it can be. Work that failed is tried again after 5 minutes, unless a tick comes first.
 *
 * @param work returns whether it failed and should be tried again. It must not throw: it handles its own failures.
 * @param startNow does the work once before the first tick.
 */
export async function onSchedule(
  { expression, timezone }: { readonly expression: string; readonly timezone: string },
  work: () => Promise<boolean>,
  { startNow, signal, observer }: { startNow: boolean; signal: AbortSignal; observer: TickObserver },
): Promise<void> {
  let inProgress: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  const begin = () => {
    if (inProgress !== undefined || signal.aborted) return;
    clearTimeout(again);
    inProgress = work().then(hasFailed => {
      inProgress = undefined;
      if (hasFailed) tryAgain();
    });
  };
  const beginAndTell = () => {
    begin();
    observer.nextTick(clock.getNextRun());
  };
  const tryAgain = () => {
    const at = new Date(Date.now() + tryAgainMs);
    const next = clock.getNextRun();
    if (signal.aborted || (next !== null && next <= at)) return;
    observer.nextTick(at);
    again = setTimeout(beginAndTell, tryAgainMs);
  };
  const onTick = ({ date }: { date: Date }) => {
    if (inProgress !== undefined) observer.tickSkipped(date);
    beginAndTell();
  };
  const clock = createTask(expression, onTick, { timezone, logger: silent });
  // Missed is not skipped: the machine slept, or was busy, and no run was in the way.
  clock.on('execution:missed', beginAndTell);
  void clock.start();
  observer.nextTick(clock.getNextRun());
  if (startNow) begin();
  if (!signal.aborted) await once(signal, 'abort');
  clearTimeout(again);
  await clock.destroy();
  await inProgress;
}

/** The library would write warnings to the console. */
const silent = { info() {}, warn() {}, error() {}, debug() {} };
