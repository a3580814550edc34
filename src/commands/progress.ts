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
export function statusLineOn(stream: Output) {
  const show = (text: string) => {
    const { isTTY, columns = widthUnknown } = stream;
    // The last column stays free: some terminals break the line there.
    if (isTTY) stream.write(`\r${text.slice(0, columns - 1)}\x1b[K`);
  };
  return { show, clear: () => show('') };
}

/** Shows the progress of a run. */
export type Progress = ReturnType<typeof progressOn>;

/** Shows the progress of a run: on a line if there is a terminal and it logs that much, otherwise in the log every ten seconds. */
export function progressOn(logger: Logger, stream: Output | null = null) {
  const line = stream?.isTTY && logger.isLevelEnabled('info') ? statusLineOn(stream) : null;
  let timer: NodeJS.Timeout | undefined;
  let state = { resource: '', reading: 1, pages: 0, pageCount: 0 };
  let waitsUntilMs = 0;

  const log = () => {
    const isWaiting = waitsUntilMs > Date.now();
    const waits = isWaiting && { waitsUntil: new Date(waitsUntilMs).toISOString() };
    logger.info({ ...state, ...waits }, isWaiting ? 'rate limited by the service; still waiting' : 'reading');
  };
  const close = () => {
    clearInterval(timer);
    line?.clear();
  };

  return {
    close,

    listStarted({ resource }) {
      logger.debug({ resource }, 'list started');
      state = { resource, reading: 1, pages: 0, pageCount: 0 };
      if (line === null) timer = setInterval(log, logEveryMs).unref();
    },

    walkStarted({ resource }, reading, pageCount) {
      logger.debug({ resource, reading, pageCount }, 'reading started');
      state = { resource, reading, pages: 0, pageCount };
    },

    pageDone({ resource }, pageNo, pageCount) {
      logger.trace({ resource, pageNo }, 'page done');
      const pages = state.pages + 1;
      state = { ...state, pages, pageCount };
      const all = Math.max(pages, pageCount);
      line?.show(`${resource} ${count(pages)}/${count(all)} pages, reading ${state.reading}`);
    },

    walkAgain({ resource }, reason) {
      logger.info({ resource, reason }, 'not proven yet; reading the list again');
    },

    listEnded(_list, { startedAt: _started, completedAt: _completed, ...entry }) {
      close();
      const { status } = entry;
      const level = status === 'completed' ? 'info' : status === 'failed' ? 'error' : 'warn';
      logger[level](entry, `list ${status}`);
    },

    /** The service asked for no requests until then, in milliseconds since 1970. */
    waiting(untilMs: number) {
      const isNews = untilMs > Math.max(waitsUntilMs, Date.now()) + sameWaitMs;
      waitsUntilMs = Math.max(waitsUntilMs, untilMs);
      if (!isNews) return;
      const until = new Date(untilMs).toISOString();
      line?.show(`${state.resource} waits until ${until}, as the service asked`);
      logger.info({ until }, 'rate limited by the service; waiting');
    },
  } satisfies ListObserver & { close(): void; waiting(untilMs: number): void };
}
