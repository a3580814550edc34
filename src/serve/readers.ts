import { once } from 'node:events';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { DocmirrorError } from '../errors.ts';
import type { AskedFor } from './address.ts';
import { HttpError } from './http.ts';
import type { LabelledFigures } from './metrics.ts';
import type { FreshnessNow } from './probes.ts';
import type { QueryString } from './query.ts';
import type { ReaderData, ReaderFailure, Said, Work } from './work.ts';

/** How many threads work at once for answers of one kind, and how many requests wait for one of them. */
interface Bounds {
  readonly threadsMax: number;
  readonly waitingMax: number;
  readonly isBehind: boolean;
}

const short: Bounds = { threadsMax: 1, waitingMax: 256, isBehind: false };
const long: Bounds = { threadsMax: 2, waitingMax: 64, isBehind: true };
/** A file keeps its thread as long as its client takes to read it. */
const files: Bounds = { threadsMax: 4, waitingMax: 16, isBehind: true };

/** When a server ends: how long a thread can finish its statement before it is ended amid it, which can abort the process, in milliseconds. */
const lastStatementMs = 1_500;
/** When to ask again after too many requests, in seconds. */
const busyS = 5;
const youngMbMax = 8;
const oldMbMax = 256;

/** The work of a thread failed: `answer` is for the client, and the cause for the log. */
export class ReaderError extends Error {
  readonly answer: HttpError;

  constructor({ statusCode, message, headers, code, error }: ReaderFailure) {
    super(message, { cause: code === null ? error : new DocmirrorError(code, error.message) });
    this.answer = new HttpError(statusCode, message, headers);
  }
}

/** The threads that read a mirror for a server. They start when they are needed first. */
export class Readers {
  readonly #short: Lane;
  readonly #long: Lane;
  readonly #files: Lane;

  constructor(data: Omit<ReaderData, 'isBehind'>) {
    const lane = (bounds: Bounds) => new Lane(data, bounds);
    [this.#short, this.#long, this.#files] = [lane(short), lane(long), lane(files)];
  }

  freshness(): Promise<FreshnessNow> {
    return this.#short.use(
      null,
      async reader => (await reader.ask({ kind: 'freshness' }, 'freshness')).freshness,
    );
  }

  figures(): Promise<LabelledFigures> {
    return this.#short.use(null, async reader => (await reader.ask({ kind: 'figures' }, 'figures')).figures);
  }

  /** The answer of an address, and the revision of the mirror that it is from. Throws a ReaderError, or an HttpError. */
  page(path: string, asked: AskedFor, options: { isHead: boolean; isLong: boolean; signal: AbortSignal }) {
    const { isHead, isLong, signal } = options;
    const lane = isLong && !isHead ? this.#long : this.#short;
    return lane.use(signal, reader => reader.ask({ kind: 'page', path, asked, isHead }, 'page'));
  }

  /** The number of a file's rows, and its bytes. The thread is free again when they are read, or when the signal says that nobody wants them. */
  file(name: string, query: QueryString, signal: AbortSignal): Promise<{ count: number; bytes: Readable }> {
    const begun = Promise.withResolvers<{ count: number; bytes: Readable }>();
    const ended = this.#files.use(signal, async reader => {
      const { count } = await reader.ask({ kind: 'file', name, query }, 'begun');
      reader.isSending = true;
      const read = Promise.withResolvers<void>();
      const abandon = () => read.reject(gone());
      signal.addEventListener('abort', abandon, { once: true });
      if (signal.aborted) abandon();
      const pieces = piecesOf(reader, signal, read.resolve);
      begun.resolve({ count, bytes: Readable.from(pieces, { objectMode: false }) });
      await read.promise
        .catch(() => reader.stop())
        .finally(() => signal.removeEventListener('abort', abandon));
      reader.isSending = false;
    });
    ended.catch(begun.reject);
    return begun.promise;
  }

  /** Refuses what waits, and what comes. */
  refuse(): void {
    for (const lane of this.#lanes()) lane.refuse();
  }

  /** Ends work of which nothing has been sent yet. */
  endUnsent(): void {
    for (const lane of this.#lanes()) lane.end(reader => !reader.isSending);
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.refuse();
    await Promise.all(this.#lanes().map(lane => lane.end(() => true)));
  }

  #lanes(): readonly Lane[] {
    return [this.#short, this.#long, this.#files];
  }
}

async function* piecesOf(reader: Reader, signal: AbortSignal, onEnd: () => void): AsyncGenerator<Uint8Array> {
  while (!signal.aborted) {
    const said = await reader.ask({ kind: 'more' }, 'piece', 'done');
    if (said.kind === 'done') return onEnd();
    yield said.bytes;
  }
}

interface Turn {
  readonly isProbe: boolean;
  readonly take: (reader: Reader) => void;
  readonly refuse: (error: Error) => void;
}

/** Threads for answers of one kind, and the requests that wait for them in their order; probes are first. */
class Lane {
  readonly #data: Omit<ReaderData, 'isBehind'>;
  readonly #bounds: Bounds;
  readonly #all = new Set<Reader>();
  readonly #idle: Reader[] = [];
  readonly #waiting: Turn[] = [];
  #isEnding = false;

  constructor(data: Omit<ReaderData, 'isBehind'>, bounds: Bounds) {
    this.#data = data;
    this.#bounds = bounds;
  }

  /**
   * Works with a thread as soon as one is free. What waits is left out if its client goes. What was begun is finished: to end a thread
   * amid a statement can abort the process.
   */
  async use<T>(signal: AbortSignal | null, work: (reader: Reader) => Promise<T>): Promise<T> {
    const reader = await this.#take(signal);
    try {
      return await work(reader);
    } finally {
      this.#idle.push(reader);
      this.#next();
    }
  }

  refuse(): void {
    this.#isEnding = true;
    for (const { refuse } of this.#waiting.splice(0)) refuse(ending());
  }

  async end(isEnded: (reader: Reader) => boolean): Promise<void> {
    await Promise.all([...this.#all].filter(isEnded).map(reader => reader.end(ending())));
  }

  #take(signal: AbortSignal | null): Promise<Reader> {
    const { promise, resolve, reject } = Promise.withResolvers<Reader>();
    const turn: Turn = { isProbe: signal === null, take: resolve, refuse: reject };
    if (this.#isEnding) reject(ending());
    else if (this.#waiting.length >= this.#bounds.waitingMax && !turn.isProbe) reject(tooMany());
    else {
      const place = turn.isProbe ? 0 : this.#waiting.length;
      this.#waiting.splice(place, 0, turn);
      this.#next();
    }
    const leave = () => {
      const place = this.#waiting.indexOf(turn);
      if (place >= 0) this.#waiting.splice(place, 1);
      reject(gone());
    };
    signal?.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', leave));
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const reader = this.#idle.shift() ?? this.#started();
    if (reader === null) return;
    // One that was ended is missing until its thread is gone.
    if (reader.isEnded) this.#next();
    else this.#waiting.shift()?.take(reader);
  }

  #started(): Reader | null {
    if (this.#all.size >= this.#bounds.threadsMax) return null;
    const reader = new Reader({ ...this.#data, isBehind: this.#bounds.isBehind }, () => {
      this.#all.delete(reader);
      this.#next();
    });
    this.#all.add(reader);
    return reader;
  }
}

const script = new URL(`./reader${extname(import.meta.filename)}`, import.meta.url);

/** One thread. It is asked for one thing at a time. */
class Reader {
  /** True while a file is sent from it. */
  isSending = false;
  readonly #worker: Worker;
  #answer: PromiseWithResolvers<Said> | null = null;
  /** Settled by the next message; null if none is awaited. */
  #working: Promise<unknown> | null = null;
  #why: Error | null = null;

  constructor(data: ReaderData, onGone: () => void) {
    const resourceLimits = { maxYoungGenerationSizeMb: youngMbMax, maxOldGenerationSizeMb: oldMbMax };
    this.#worker = new Worker(script, { workerData: data, resourceLimits });
    this.#worker.on('message', (said: Said) => {
      this.#working = null;
      this.#settle(answer => answer.resolve(said));
    });
    this.#worker.on('error', (error: unknown) =>
      this.#fail(error instanceof Error ? error : new Error(String(error))),
    );
    this.#worker.on('exit', () => {
      this.#fail(new Error('A thread that reads the mirror ended.'));
      onGone();
    });
  }

  get isEnded(): boolean {
    return this.#why !== null;
  }

  /** Asks the thread, which answers by one of these kinds. Throws a ReaderError if its work fails, and why it ended if it has. */
  async ask<Kind extends Said['kind']>(
    work: Work,
    ...kinds: readonly Kind[]
  ): Promise<Extract<Said, { kind: Kind }>> {
    if (this.#why !== null) throw this.#why;
    this.#answer = Promise.withResolvers<Said>();
    this.#working = once(this.#worker, 'message');
    this.#working.catch(() => undefined);
    this.#worker.postMessage(work);
    const said = await this.#answer.promise;
    if (said.kind === 'failed') throw new ReaderError(said.failure);
    if (isOneOf(said, kinds)) return said;
    throw new Error(`A thread was asked for ${work.kind} and answered ${said.kind}.`);
  }

  /** Ends the reading of a file between two pieces. */
  async stop(): Promise<void> {
    await this.#working?.catch(() => undefined);
    if (!this.isEnded) await this.ask({ kind: 'stop' }, 'done');
  }

  /** Ends the thread when its statement has ended, or after some time. What it is asked for fails at once. */
  async end(why: Error): Promise<void> {
    this.#fail(why);
    const working = this.#working?.catch(() => undefined);
    if (working) await Promise.race([working, wait(lastStatementMs, undefined, { ref: false })]);
    await this.#worker.terminate();
  }

  #fail(why: Error): void {
    this.#why ??= why;
    this.#settle(answer => answer.reject(why));
  }

  #settle(settle: (answer: PromiseWithResolvers<Said>) => void): void {
    const answer = this.#answer;
    this.#answer = null;
    if (answer !== null) settle(answer);
  }
}

function isOneOf<Kind extends Said['kind']>(
  said: Said,
  kinds: readonly Kind[],
): said is Extract<Said, { kind: Kind }> {
  return kinds.some(kind => kind === said.kind);
}

const gone = () => new HttpError(499, 'The client is gone.');
const ending = () => new HttpError(503, 'The server is ending.', { connection: 'close' });
const tooMany = () =>
  new HttpError(503, 'Too many requests of this kind wait already.', { 'retry-after': String(busyS) });
