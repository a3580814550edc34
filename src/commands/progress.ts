import type { ListDefinition } from '../contract/lists.ts';
import type { ListObserver } from '../sync/list-task.ts';
import type { ListOutcome } from '../sync/ports.ts';
import type { CommandContext } from './context.ts';
import type { Logger } from './logging.ts';

/** Something that shows how a run goes on until it is closed. */
export type Progress = ListObserver & { close(): void };

/** Shows how a run goes on: by bars on a terminal, by log lines elsewhere. */
export async function showProgress({ stderr }: CommandContext, logger: Logger): Promise<Progress> {
  if (!stderr.isTTY || !logger.isLevelEnabled('info')) return new LogObserver(logger);
  const { BarObserver } = await import('./progress-bars.ts');
  return new BarObserver(stderr);
}

/** Writes how a run goes on to the log. */
export class LogObserver implements Progress {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  listStarted({ resource }: ListDefinition): void {
    this.#logger.debug({ resource }, 'list started');
  }

  walkStarted({ resource }: ListDefinition, walk: number, pageCount: number, pagesKnown: number): void {
    this.#logger.debug({ resource, walk, pageCount, pagesKnown }, 'walk started');
  }

  pageDone({ resource }: ListDefinition, pageNo: number): void {
    this.#logger.trace({ resource, pageNo }, 'page done');
  }

  walkAgain({ resource }: ListDefinition, reason: string): void {
    this.#logger.info({ resource, reason }, 'the walk proves nothing yet; walking again');
  }

  listEnded(_list: ListDefinition, outcome: ListOutcome): void {
    const { resource, status, completeness, recordsSeen, inserted, updated, removed, unchanged } = outcome;
    const { rejected, removalsWithheld, requests, retries, reason, error } = outcome;
    const counts = { recordsSeen, inserted, updated, removed, unchanged, rejected, removalsWithheld };
    const entry = { resource, status, completeness, ...counts, requests, retries, reason, error };
    if (status === 'completed') this.#logger.info(entry, 'list completed');
    else this.#logger[status === 'failed' ? 'error' : 'warn'](entry, `list ${status}`);
  }

  close(): void {}
}
