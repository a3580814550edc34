import { once } from 'node:events';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { DocmirrorError } from '../errors.ts';
import type { AskedFor, QueryString } from './api.ts';
import { HttpError } from './http.ts';
import type { ReaderData, TaskCall, TaskEnd, Tasks } from './reader.ts';

/** How many threads work at once for answers of one kind, and how many requests wait for one of them. */
type Bounds = { readonly threadsMax: number; readonly waitingMax: number; readonly isBehind: boolean };

const short: Bounds = { threadsMax: 1, waitingMax: 256, isBehind: false };
const long: Bounds = { threadsMax: 2, waitingMax: 64, isBehind: true };
/** A file keeps its thread as long as its client takes to read it. */
const files: Bounds = { threadsMax: 4, waitingMax: 16, isBehind: true };

/** When a server ends: how long a thread can finish its statement before it is ended amid it, which can abort the process, in milliseconds. */
const lastStatementMs = 1_500;
/** When to ask again after too many requests, in seconds. */
const busyS = 5;
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

/** The threads that read a mirror for a server. */
export type Readers = ReturnType<typeof readersOf>;

/** The threads that read a mirror for a server. They start when they are needed first. */
export function readersOf(data: Omit<ReaderData, 'isBehind'>) {
  const lanes = { short: laneOf(short, data), long: laneOf(long, data), files: laneOf(files, data) };
  const end = (isEnded: (reader: Reader) => boolean) =>
    Promise.all(Object.values(lanes).map(lane => lane.end(isEnded)));
  const refuse = () => {
    for (const lane of Object.values(lanes)) lane.refuse();
  };
  return {
    /** When the lists were completed. This and the figures are for probes, which come before all others. */
    freshness: () => lanes.short.use(null, reader => reader.ask('freshness')),
    figures: () => lanes.short.use(null, reader => reader.ask('figures')),

    /** The answer of an address, and the revision of the mirror that it is from. Throws an HttpError. */
    page(path: string, asked: AskedFor, options: { isHead: boolean; isLong: boolean; signal: AbortSignal }) {
      const { isHead, isLong, signal } = options;
      const lane = isLong && !isHead ? lanes.long : lanes.short;
      return lane.use(signal, reader => reader.ask('page', path, asked, isHead));
    },

    /** The number of a file's rows, and its bytes. The thread is free again when they are read, or when the signal says that nobody wants them. */
    file(name: string, query: QueryString, signal: AbortSignal): Promise<{ count: number; bytes: Readable }> {
      const begun = Promise.withResolvers<{ count: number; bytes: Readable }>();
      const sent = lanes.files.use(signal, async reader => {
        const count = await reader.ask('file', name, query);
        reader.isSending = true;
        const read = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => read.reject(gone()), { once: true });
        if (signal.aborted) read.reject(gone());
        const pieces = piecesOf(reader, signal, read.resolve);
        begun.resolve({ count, bytes: Readable.from(pieces, { objectMode: false }) });
        await read.promise.catch(() => reader.stop());
        reader.isSending = false;
      });
      sent.catch(begun.reject);
      return begun.promise;
    },

    refuse,

    /** Ends work of which nothing has been sent yet. */
    endUnsent: () => end(reader => !reader.isSending),

    async close(): Promise<void> {
      refuse();
      await end(() => true);
    },
  };
}

async function* piecesOf(reader: Reader, signal: AbortSignal, onEnd: () => void): AsyncGenerator<Uint8Array> {
  while (!signal.aborted) {
    const piece = await reader.ask('more');
    if (piece === null) return onEnd();
    yield piece;
  }
}

/** Threads for answers of one kind, and the requests that wait for them in their order; probes are first. */
function laneOf({ threadsMax, waitingMax, isBehind }: Bounds, data: Omit<ReaderData, 'isBehind'>) {
  const all = new Set<Reader>();
  const idle: Reader[] = [];
  const waiting: PromiseWithResolvers<Reader>[] = [];
  let isEnding = false;

  const started = () => {
    if (all.size >= threadsMax) return null;
    const reader = readerOf({ ...data, isBehind }, () => {
      all.delete(reader);
      next();
    });
    all.add(reader);
    return reader;
  };
  const next = (): void => {
    if (waiting.length === 0) return;
    const reader = idle.shift() ?? started();
    // One that was ended is missing until its thread is gone.
    if (reader?.isEnded()) next();
    else if (reader !== null) waiting.shift()?.resolve(reader);
  };
  return {
    /**
     * Works with a thread as soon as one is free; a probe has no signal. What waits is left out if its client goes. What was begun is
     * finished: to end a thread amid a statement can abort the process.
     */
    async use<T>(signal: AbortSignal | null, work: (reader: Reader) => Promise<T>): Promise<T> {
      if (isEnding) throw ending();
      if (signal !== null && waiting.length >= waitingMax) throw tooMany();
      const turn = Promise.withResolvers<Reader>();
      waiting.splice(signal === null ? 0 : waiting.length, 0, turn);
      const leave = () => {
        const place = waiting.indexOf(turn);
        if (place >= 0) waiting.splice(place, 1);
        turn.reject(gone());
      };
      signal?.addEventListener('abort', leave, { once: true });
      next();
      const reader = await turn.promise;
      try {
        return await work(reader);
      } finally {
        idle.push(reader);
        next();
      }
    },

    refuse(): void {
      isEnding = true;
      for (const { reject } of waiting.splice(0)) reject(ending());
    },

    async end(isEnded: (reader: Reader) => boolean): Promise<void> {
      await Promise.all([...all].filter(isEnded).map(reader => reader.end(ending())));
    },
  };
}

type Reader = ReturnType<typeof readerOf>;

const script = new URL(`./reader${extname(import.meta.filename)}`, import.meta.url);

/** One thread. It is asked for one thing at a time. */
function readerOf(data: ReaderData, onGone: () => void) {
  const worker = new Worker(script, { workerData: data, resourceLimits });
  /** Settled when the thread has answered. */
  let working: Promise<unknown> = Promise.resolve();
  let giveUp: (why: Error) => void = () => undefined;
  let whyEnded: Error | null = null;
  const fail = (why: Error) => {
    whyEnded ??= why;
    giveUp(why);
  };
  worker.on('error', fail);
  worker.on('exit', () => {
    fail(new Error('A thread that reads the mirror ended.'));
    onGone();
  });
  /** Asks the thread for a task. Throws an HttpError if that fails, and why the thread ended if it has. */
  const ask = async <Name extends keyof Tasks>(name: Name, ...given: Parameters<Tasks[Name]>) => {
    if (whyEnded !== null) throw whyEnded;
    const { promise: ended, reject } = Promise.withResolvers<never>();
    giveUp = reject;
    const answered = once(worker, 'message');
    working = answered.catch(() => undefined);
    worker.postMessage({ name, given } satisfies TaskCall);
    const [said] = await Promise.race([answered, ended]);
    const end: TaskEnd<ReturnType<Tasks[Name]>> = said;
    if (!('failure' in end)) return end.value;
    const { statusCode, message, headers, code, error } = end.failure;
    // An error of its own class lost its members on the way.
    const cause = code === null ? error : new DocmirrorError(code, error.message);
    throw new HttpError(statusCode, message, headers, cause);
  };
  return {
    isSending: false,
    isEnded: () => whyEnded !== null,
    ask,

    /** Ends the reading of a file between two pieces. */
    async stop(): Promise<void> {
      await working;
      if (whyEnded === null) await ask('stop');
    },

    /** Ends the thread when its statement has ended, or after some time. What it is asked for fails at once. */
    async end(why: Error): Promise<void> {
      fail(why);
      await Promise.race([working, wait(lastStatementMs, undefined, { ref: false })]);
      await worker.terminate();
    },
  };
}

const gone = () => new HttpError(499, 'The client is gone.');
const ending = () => new HttpError(503, 'The server is ending.', { connection: 'close' });
const tooMany = () =>
  new HttpError(503, 'Too many requests of this kind wait already.', { 'retry-after': String(busyS) });
