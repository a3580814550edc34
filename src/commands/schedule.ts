import { createTask, type ScheduledTask, validateDetailed } from 'node-cron';
import { UsageError } from '../errors.ts';
import { aborted } from './aborted.ts';

/** A cron expression and the zone it is meant in. */
export interface Schedule {
  readonly expression: string;
  readonly timezone: string;
}

interface TickObserver {
  /** A tick came while the work of an earlier one was going on, so it was left out. */
  tickSkipped(at: Date): void;
  /** The clock was started or has ticked; null where no other tick will ever come. */
  nextTick(at: Date | null): void;
}

/** @throws UsageError that names the setting, where there can be no such schedule. */
export function checkSchedule({ expression }: Schedule): void {
  const { valid, errors } = validateDetailed(expression);
  if (valid) return;
  const why = errors.map(({ message }) => message).join('; ');
  throw new UsageError(
    `DOCMIRROR_SCHEDULE (--schedule): ${JSON.stringify(expression)} is not a cron expression: ${why}. Expected five fields, or six with seconds first, such as "0 * * * *".`,
  );
}

/**
 * Does some work at each tick of a schedule until the signal is aborted, and comes back when the work in progress has ended.
 * Work never overlaps: a tick that finds the earlier work going on is left out. A tick that the process was too busy to see
 * is made up for at once, so that no stall can cost an hour.
 *
 * @param work must not throw: what it does about its failures is its own matter.
 * @param startNow does the work once before the first tick.
 */
export async function onSchedule(
  schedule: Schedule,
  work: () => Promise<void>,
  { startNow, signal, observer }: { startNow: boolean; signal: AbortSignal; observer: TickObserver },
): Promise<void> {
  let inProgress: Promise<void> | undefined;
  const tick = (at: Date): void => {
    if (signal.aborted) return;
    if (inProgress !== undefined) {
      observer.tickSkipped(at);
      return;
    }
    inProgress = work().finally(() => {
      inProgress = undefined;
    });
  };
  const clock = startClock(schedule, at => {
    tick(at);
    observer.nextTick(clock.getNextRun());
  });
  observer.nextTick(clock.getNextRun());
  if (startNow) tick(new Date());
  await aborted(signal);
  await clock.destroy();
  await inProgress;
}

function startClock({ expression, timezone }: Schedule, onTick: (at: Date) => void): ScheduledTask {
  const clock = createTask(expression, ({ date }) => onTick(date), { timezone, logger: silent });
  clock.on('execution:missed', ({ date }) => onTick(date));
  void clock.start();
  return clock;
}

/** The library would write warnings to the console. */
const silent = { info() {}, warn() {}, error() {}, debug() {} };
