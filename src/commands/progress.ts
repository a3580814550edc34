import type { ListDefinition } from '../contract/lists.ts';
import type { ListOutcome } from '../contract/run.ts';
import { count } from '../render/numbers.ts';
import type { ListObserver } from '../sync/read.ts';
import type { Output } from './io.ts';
import type { Logger } from './logging.ts';

/** How often the progress of a list is logged, in milliseconds. */
const logEveryMs = 10_000;
/** A wait is not logged if it ends less than this after the last logged one, in milliseconds. */
const sameWaitMs = 1_000;
const widthUnknown = 80;

/** One line on a terminal that says how far some work is, each text over the one before. Without a terminal it shows nothing. */
export class StatusLine {
  readonly #stream: Output;

  constructor(stream: Output) {
    this.#stream = stream;
  }

  show(text: string): void {
    const { isTTY, columns = widthUnknown } = this.#stream;
    // The last column stays free: some terminals break the line there.
    if (isTTY) this.#stream.write(`\r${text.slice(0, columns - 1)}\x1b[K`);
  }

  clear(): void {
    this.show('');
  }
}

/** Shows the progress of a run: on a line if there is a terminal and it logs that much, otherwise in the log every ten seconds. */
export class Progress implements ListObserver {
  readonly #logger: Logger;
  readonly #line: StatusLine | null;
  #timer: NodeJS.Timeout | undefined;
  #state = { resource: '', reading: 1, pages: 0, pageCount: 0 };
  #waitsUntilMs = 0;

  constructor(logger: Logger, stream: Output | null = null) {
    this.#logger = logger;
    this.#line = stream?.isTTY && logger.isLevelEnabled('info') ? new StatusLine(stream) : null;
  }

  listStarted({ resource }: ListDefinition): void {
    this.#logger.debug({ resource }, 'list started');
    this.#state = { resource, reading: 1, pages: 0, pageCount: 0 };
    if (this.#line === null) this.#timer = setInterval(() => this.#log(), logEveryMs).unref();
  }

  walkStarted({ resource }: ListDefinition, reading: number, pageCount: number): void {
    this.#logger.debug({ resource, reading, pageCount }, 'reading started');
    this.#state = { resource, reading, pages: 0, pageCount };
  }

  pageDone({ resource }: ListDefinition, pageNo: number, pageCount: number): void {
    this.#logger.trace({ resource, pageNo }, 'page done');
    const pages = this.#state.pages + 1;
    this.#state = { ...this.#state, pages, pageCount };
    const all = Math.max(pages, pageCount);
    this.#line?.show(`${resource} ${count(pages)}/${count(all)} pages, reading ${this.#state.reading}`);
  }

  walkAgain({ resource }: ListDefinition, reason: string): void {
    this.#logger.info({ resource, reason }, 'not proven yet; reading the list again');
  }

  /** The service asked for no requests until then, in milliseconds since 1970. */
  waiting(untilMs: number): void {
    const isNews = untilMs > Math.max(this.#waitsUntilMs, Date.now()) + sameWaitMs;
    this.#waitsUntilMs = Math.max(this.#waitsUntilMs, untilMs);
    if (!isNews) return;
    const until = new Date(untilMs).toISOString();
    this.#line?.show(`${this.#state.resource} waits until ${until}, as the service asked`);
    this.#logger.info({ until }, 'rate limited by the service; waiting');
  }

  listEnded(_list: ListDefinition, outcome: ListOutcome): void {
    this.close();
    const { startedAt: _started, completedAt: _completed, ...entry } = outcome;
    const { status } = outcome;
    const level = status === 'completed' ? 'info' : status === 'failed' ? 'error' : 'warn';
    this.#logger[level](entry, `list ${status}`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#line?.clear();
  }

  #log(): void {
    const isWaiting = this.#waitsUntilMs > Date.now();
    const waits = isWaiting && { waitsUntil: new Date(this.#waitsUntilMs).toISOString() };
    const what = isWaiting ? 'rate limited by the service; still waiting' : 'reading';
    this.#logger.info({ ...this.#state, ...waits }, what);
  }
}
