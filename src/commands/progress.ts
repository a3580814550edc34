import type { ListDefinition } from '../contract/lists.ts';
import { shareOf } from '../render/progress-line.ts';
import type { ListOutcome } from '../sync/ports.ts';
import type { Context } from './command.ts';
import type { Logger } from './logging.ts';
import type { ProgressObserver } from './progress-observer.ts';
import { Reading } from './reading.ts';

/** How often the progress of a list is logged, in milliseconds. */
const logEveryMs = 10_000;
/** A wait is not logged if it is shorter than this, or ends less than this after the last logged one, in milliseconds. */
const sameWaitMs = 1_000;

/** Shows the progress of a run: bars on a terminal, log lines elsewhere. In CI it logs no progress, because that log is kept. */
export async function showProgress(
  { stderr, environment }: Pick<Context, 'stderr' | 'environment'>,
  logger: Logger,
): Promise<ProgressObserver> {
  const isCi = !['', '0', 'false'].includes(environment.CI?.toLowerCase() ?? '');
  if (isCi || !stderr.isTTY || !logger.isLevelEnabled('info')) {
    return new LogObserver(logger, isCi ? null : logEveryMs);
  }
  const { BarObserver } = await import('./progress-bars.ts');
  return new BarObserver(stderr);
}

/** Logs the progress of a run. */
export class LogObserver implements ProgressObserver {
  readonly #logger: Logger;
  readonly #everyMs: number | null;
  #reading: Reading | null = null;
  #timer: NodeJS.Timeout | undefined;
  #loggedUntilMs = 0;

  /** @param everyMs how often the progress of a list is logged, in milliseconds; null for never. */
  constructor(logger: Logger, everyMs: number | null = logEveryMs) {
    this.#logger = logger;
    this.#everyMs = everyMs;
  }

  listStarted({ resource }: ListDefinition): void {
    this.#logger.debug({ resource }, 'list started');
    this.close();
    this.#reading = new Reading(resource);
    if (this.#everyMs !== null) this.#timer = setInterval(() => this.#log(), this.#everyMs).unref();
  }

  walkStarted({ resource }: ListDefinition, walk: number, pageCount: number): void {
    this.#logger.debug({ resource, reading: walk, pageCount }, 'reading started');
    this.#reading?.walkStarted(walk, pageCount, Date.now());
  }

  pageDone({ resource }: ListDefinition, pageNo: number, pageCount: number): void {
    this.#logger.trace({ resource, pageNo }, 'page done');
    this.#reading?.pageDone(pageCount, Date.now());
  }

  walkAgain({ resource }: ListDefinition, reason: string): void {
    this.#logger.info({ resource, reason }, 'not proven yet; reading the list again');
  }

  waiting(untilMs: number): void {
    this.#reading?.waits(untilMs);
    if (untilMs <= Math.max(this.#loggedUntilMs, Date.now()) + sameWaitMs) return;
    this.#loggedUntilMs = untilMs;
    const until = new Date(untilMs).toISOString();
    this.#logger.info({ until }, 'rate limited by the service; waiting');
  }

  listEnded(_list: ListDefinition, outcome: ListOutcome): void {
    this.close();
    const { resource, status, completeness, recordsSeen, inserted, updated, removed, unchanged } = outcome;
    const { rejected, removalsWithheld, undecided, requests, retries, reason, error } = outcome;
    const kept = { rejected, removalsWithheld, undecided };
    const counts = { recordsSeen, inserted, updated, removed, unchanged, ...kept };
    const { newFields, emptiedColumns } = outcome;
    const news = {
      ...(newFields.length > 0 && { newFields }),
      ...(emptiedColumns.length > 0 && { emptiedColumns }),
    };
    const entry = { resource, status, completeness, ...counts, requests, retries, reason, error, ...news };
    if (status === 'completed') this.#logger.info(entry, 'list completed');
    else this.#logger[status === 'failed' ? 'error' : 'warn'](entry, `list ${status}`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#reading = null;
  }

  #log(): void {
    if (this.#reading === null) return;
    const state = this.#reading.state(Date.now());
    const { resource, walk, pages, pageCount, pagesPerS, leftMs, waitsUntilMs } = state;
    this.#logger.info(
      {
        resource,
        reading: walk,
        pages,
        pageCount,
        percent: Math.floor(shareOf(state) * 100),
        pagesPerSecond: pagesPerS === null ? null : Number(pagesPerS.toFixed(1)),
        secondsLeft: leftMs === null ? null : Math.ceil(leftMs / 1000),
        ...(waitsUntilMs !== null && { waitsUntil: new Date(waitsUntilMs).toISOString() }),
      },
      waitsUntilMs === null ? 'reading' : 'rate limited by the service; still waiting',
    );
  }
}
