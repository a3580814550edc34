import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { ListDefinition } from '../contract/lists.ts';
import type { ListObserver } from '../sync/list.ts';
import type { ListOutcome } from '../sync/ports.ts';
import type { Logger } from './logging.ts';

/** Writes how a run goes on to the log. */
export class LogObserver implements ListObserver {
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
}

/** Shows a bar a list on a terminal. */
export class BarObserver implements ListObserver {
  readonly #bars: MultiBar;
  readonly #byResource = new Map<string, SingleBar>();

  constructor(stream: NodeJS.WriteStream) {
    const format = '{resource} {bar} {value}/{total} pages  {note}';
    this.#bars = new MultiBar(
      { stream, format, barsize: 16, hideCursor: true, clearOnComplete: false, gracefulExit: false },
      Presets.shades_classic,
    );
  }

  listStarted({ resource }: ListDefinition): void {
    const bar = this.#bars.create(1, 0, { resource: resource.padEnd(16), note: '' });
    this.#byResource.set(resource, bar);
  }

  walkStarted({ resource }: ListDefinition, walk: number, pageCount: number, pagesKnown: number): void {
    const bar = this.#byResource.get(resource);
    bar?.setTotal(pageCount);
    bar?.update(pagesKnown, { note: walk === 1 ? '' : `walk ${walk}` });
  }

  pageDone({ resource }: ListDefinition, _pageNo: number, pageCount: number): void {
    const bar = this.#byResource.get(resource);
    bar?.setTotal(pageCount);
    bar?.increment();
  }

  walkAgain(): void {}

  listEnded({ resource }: ListDefinition, outcome: ListOutcome): void {
    this.#byResource.get(resource)?.update({ note: outcome.status });
  }

  close(): void {
    this.#bars.stop();
  }
}
