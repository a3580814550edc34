import { once } from 'node:events';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { DocmirrorError } from '../errors.ts';
import { HttpError } from './http.ts';
import type { AskedFor, QueryString } from './query.ts';
import type { ReaderData, TaskCall, TaskEnd, Tasks } from './reader.ts';

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
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

/** The threads that read a mirror for a server. They start when they are needed first. */
export class Readers {
  readonly #short: Lane;
  readonly #long: Lane;
  readonly #files: Lane;

  constructor(data: Omit<ReaderData, 'isBehind'>) {
    const lane = (bounds: Bounds) => new Lane(bounds, { ...data, isBehind: bounds.isBehind });
    [this.#short, this.#long, this.#files] = [lane(short), lane(long), lane(files)];
  }

  /** When the lists were completed. This and the figures are for probes, which come before all others. */
  freshness() {
    return this.#short.use(null, reader => reader.ask('freshness'));
  }

  /** The numbers for metrics. */
  figures() {
    return this.#short.use(null, reader => reader.ask('figures'));
  }

  /** The answer of an address, and the revision of the mirror that it is from. Throws a ReaderError, or an HttpError. */
  page(path: string, asked: AskedFor, options: { isHead: boolean; isLong: boolean; signal: AbortSignal }) {
    const { isHead, isLong, signal } = options;
    const lane = isLong && !isHead ? this.#long : this.#short;
    return lane.use(signal, reader => reader.ask('page', path, asked, isHead));
  }

  /** The number of a file's rows, and its bytes. The thread is free again when they are read, or when the signal says that nobody wants them. */
  file(name: string, query: QueryString, signal: AbortSignal): Promise<{ count: number; bytes: Readable }> {
    const begun = Promise.withResolvers<{ count: number; bytes: Readable }>();
    const sent = this.#files.use(signal, async reader => {
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
    const piece = await reader.ask('more');
    if (piece === null) return onEnd();
    yield piece;
  }
}

/** Threads for answers of one kind, and the requests that wait for them in their order; probes are first. */
class Lane {
  readonly #data: ReaderData;
  readonly #bounds: Bounds;
  readonly #all = new Set<Reader>();
  readonly #idle: Reader[] = [];
  readonly #waiting: PromiseWithResolvers<Reader>[] = [];
  #isEnding = false;

  constructor(bounds: Bounds, data: ReaderData) {
    this.#bounds = bounds;
    this.#data = data;
  }

  /**
   * Works with a thread as soon as one is free; a probe has no signal. What waits is left out if its client goes. What was begun is
   * finished: to end a thread amid a statement can abort the process.
   */
  async use<T>(signal: AbortSignal | null, work: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#isEnding) throw ending();
    if (signal !== null && this.#waiting.length >= this.#bounds.waitingMax) throw tooMany();
    const turn = Promise.withResolvers<Reader>();
    this.#waiting.splice(signal === null ? 0 : this.#waiting.length, 0, turn);
    const leave = () => {
      const place = this.#waiting.indexOf(turn);
      if (place >= 0) this.#waiting.splice(place, 1);
      turn.reject(gone());
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#next();
    const reader = await turn.promise;
    try {
      return await work(reader);
    } finally {
      this.#idle.push(reader);
      this.#next();
    }
  }

  refuse(): void {
    this.#isEnding = true;
    for (const { reject } of this.#waiting.splice(0)) reject(ending());
  }

  async end(isEnded: (reader: Reader) => boolean): Promise<void> {
    await Promise.all([...this.#all].filter(isEnded).map(reader => reader.end(ending())));
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const reader = this.#idle.shift() ?? this.#started();
    // One that was ended is missing until its thread is gone.
    if (reader?.isEnded) this.#next();
    else if (reader !== null) this.#waiting.shift()?.resolve(reader);
  }

  #started(): Reader | null {
    if (this.#all.size >= this.#bounds.threadsMax) return null;
    const reader = new Reader(this.#data, () => {
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
  /** Settled when the thread has answered. */
  #working: Promise<unknown> = Promise.resolve();
  #giveUp: (why: Error) => void = () => undefined;
  #why: Error | null = null;

  constructor(data: ReaderData, onGone: () => void) {
    this.#worker = new Worker(script, { workerData: data, resourceLimits });
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#worker.on('exit', () => {
      this.#fail(new Error('A thread that reads the mirror ended.'));
      onGone();
    });
  }

  get isEnded(): boolean {
    return this.#why !== null;
  }

  /** Asks the thread for a task. Throws a ReaderError if that fails, and why the thread ended if it has. */
  async ask<Name extends keyof Tasks>(name: Name, ...given: Parameters<Tasks[Name]>) {
    if (this.#why !== null) throw this.#why;
    const { promise: ended, reject } = Promise.withResolvers<never>();
    this.#giveUp = reject;
    const answered = once(this.#worker, 'message');
    this.#working = answered.catch(() => undefined);
    this.#worker.postMessage({ name, given } satisfies TaskCall);
    const [said] = await Promise.race([answered, ended]);
    const end: TaskEnd<ReturnType<Tasks[Name]>> = said;
    if ('failure' in end) throw new ReaderError(end.failure);
    return end.value;
  }

  /** Ends the reading of a file between two pieces. */
  async stop(): Promise<void> {
    await this.#working;
    if (!this.isEnded) await this.ask('stop');
  }

  /** Ends the thread when its statement has ended, or after some time. What it is asked for fails at once. */
  async end(why: Error): Promise<void> {
    this.#fail(why);
    await Promise.race([this.#working, wait(lastStatementMs, undefined, { ref: false })]);
    await this.#worker.terminate();
  }

  #fail(why: Error): void {
    this.#why ??= why;
    this.#giveUp(why);
  }
}

/** The work of a thread failed: `answer` is for the client, and the cause for the log. */
export class ReaderError extends Error {
  readonly answer: HttpError;

  constructor({
    statusCode,
    message,
    headers,
    code,
    error,
  }: Extract<TaskEnd<never>, { failure: unknown }>['failure']) {
    super(message, { cause: code === null ? error : new DocmirrorError(code, error.message) });
    this.answer = new HttpError(statusCode, message, headers);
  }
}

const gone = () => new HttpError(499, 'The client is gone.');
const ending = () => new HttpError(503, 'The server is ending.', { connection: 'close' });
const tooMany = () =>
  new HttpError(503, 'Too many requests of this kind wait already.', { 'retry-after': String(busyS) });
