import type { ServiceError } from '../errors.ts';
import { count, duration } from '../render/numbers.ts';
import type { ListObserver } from '../sync/task.ts';
import { type Logger, loggedError } from './logging.ts';
import { drawEveryMs, type StatusLine } from './terminal.ts';

/** How often the progress of a list is logged, in milliseconds. */
const logEveryMs = 10_000;
/** A wait is not logged if it ends less than this after the last logged one, in milliseconds. */
const sameWaitMs = 1_000;

/** Shows the progress of a run. */
export type Progress = ReturnType<typeof progressOn>;

/** A list before its first page. `isWhole` is false while only its growing end is read; `from` is where the rate is counted from. */
const unread = {
  ...{ reading: 1, pages: 0, pageCount: 0, isWhole: false, done: 0, total: 0 },
  from: null as null | { readonly atMs: number; readonly done: number },
  /** Why a request is sent again; null if none is. */
  retry: null as null | string,
};

/** Shows the progress of a run: on the line of a terminal, otherwise in the log every ten seconds. */
export function progressOn(logger: Logger, line: StatusLine) {
  const isOnLine = line.isShown && logger.isLevelEnabled('fatal');
  let timer: NodeJS.Timeout | undefined;
  let state = { resource: '', ...unread };
  let waitsUntilMs = 0;

  const log = () => {
    const { resource, reading, pages, pageCount } = state;
    const isWaiting = waitsUntilMs > Date.now();
    const waits = isWaiting && { waitsUntil: new Date(waitsUntilMs).toISOString() };
    const said = isWaiting ? 'rate limited by the service; still waiting' : 'reading';
    logger.info({ resource, reading, pages, pageCount, ...waits }, said);
  };

  /** What the line says behind the name of the list, the most useful parts first. */
  const parts = (): string[] => {
    const { reading, isWhole, done, total, from, retry } = state;
    const nowMs = Date.now();
    const until = new Date(waitsUntilMs).toISOString().slice(11, 19);
    const wait = waitsUntilMs > nowMs ? `rate limited until ${until}Z` : retry;
    if (from === null) return [wait ?? 'asking for the first page'];
    const amount = `${count(Math.min(done, total))} records`;
    if (!isWhole) return [wait ?? 'looking for what is new', amount];
    const share = total === 0 ? 1 : Math.min(done / total, 1);
    const columns = Math.max(0, Math.floor((line.width() - 24) / 6));
    const bar = '#'.repeat(columns * share).padEnd(columns, '.');
    const shown = `[${bar}] ${String(Math.floor(100 * share)).padStart(3)}%`;
    if (wait !== null) return [shown, wait];
    const what = reading === 1 ? amount : `reading ${reading}, to prove it`;
    if (share === 1) return [shown, 'comparing and writing', what];
    const perSecond = (1_000 * (done - from.done)) / Math.max(1, nowMs - from.atMs);
    if (perSecond === 0) return [shown, what];
    const left = duration(1_000 * Math.ceil((total - done) / perSecond)).replace('.0', '');
    return [shown, `${left} left`, what, `${count(Math.round(perSecond))}/s`];
  };
  const draw = () => line.show(state.resource, ...parts());

  return {
    async close() {
      clearInterval(timer);
      await line.clear();
    },

    listStarted({ resource }) {
      logger.debug({ resource }, 'list started');
      state = { ...unread, resource };
      if (isOnLine) draw();
      timer = isOnLine ? setInterval(draw, drawEveryMs) : setInterval(log, logEveryMs);
      timer.unref();
    },

    readingStarted({ resource }, reading, pageCount) {
      logger.debug({ resource, reading, pageCount }, 'reading started');
      state = { ...unread, resource, reading, pageCount, isWhole: true };
    },

    pageDone({ resource }, { pageNo, ...page }) {
      logger.trace({ resource, pageNo }, 'page done');
      // After an outage the rate is counted from its end.
      const from = (state.retry === null && state.from) || { atMs: Date.now(), done: page.done };
      state = { ...state, ...page, pages: state.pages + 1, from, retry: null };
    },

    readAgain({ resource }, reason) {
      logger.info({ resource, reason }, 'not proven yet; reading the list again');
      const { reading, pageCount } = state;
      state = { ...unread, resource, reading: reading + 1, pageCount, isWhole: true };
    },

    listEnded(_list, outcome) {
      const { startedAt: _started, completedAt: _completed, errorOfAnyList: _any, ...rest } = outcome;
      // No text of a record goes into a log.
      const { unreadableTimes: _times, ...judged } = rest;
      const { open: _open, accepted: _accepted, ...entry } = judged;
      clearInterval(timer);
      const { status } = entry;
      const level = status === 'completed' ? 'info' : status === 'failed' ? 'error' : 'warn';
      if (logger.logsEnds) logger[level](entry, `list ${status}`);
    },

    /** A request failed, and is sent again. */
    retrying(error: ServiceError, tryNumber: number) {
      state = { ...state, retry: `retrying (try ${tryNumber + 1}): ${error.what}` };
      if (logger.logsEnds) logger.warn({ ...loggedError(error), tryNumber }, 'trying again');
    },

    /** The service asked for no requests until then, in milliseconds since 1970. */
    waiting(untilMs: number) {
      const isNews = untilMs > Math.max(waitsUntilMs, Date.now()) + sameWaitMs;
      waitsUntilMs = Math.max(waitsUntilMs, untilMs);
      const until = new Date(untilMs).toISOString();
      if (isNews) logger.info({ until }, 'rate limited by the service; waiting');
    },
  } satisfies ListObserver & Record<'close' | 'retrying' | 'waiting', unknown>;
}
