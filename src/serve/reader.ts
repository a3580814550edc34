import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { DocmirrorError } from '../errors.ts';
import { iterateMirror, readMirror } from '../store/read/sqlite.ts';
import { type AskedFor, apiAddresses, type QueryString, revisionNow } from './api.ts';
import { toHttpError } from './http.ts';
import { labelledFigures } from './metrics.ts';
import { fileAddresses, pageAddresses } from './pages.ts';
import { freshnessNow } from './probes.ts';

// A thread that reads the mirror for the server: one task at a time, each over a connection of its own, which is opened for it.
// So the file of a mirror, or of a share, can be replaced between two answers.

/** What a thread gets when it starts. */
export interface ReaderData {
  readonly database: string;
  /** A list without a completed run for longer than this is stale, in milliseconds; null if no list ever is. */
  readonly maxAgeMs: number | null;
  /** Of all metrics; if there are none, those of the mirror's newest run. */
  readonly labels: Readonly<Record<string, string>>;
  readonly trigger: string | null;
  /** True if it leaves the processor to others. */
  readonly isBehind: boolean;
}

const data: ReaderData = workerData;
const { database, labels, trigger } = data;
// On Linux this is the priority of the thread alone: answers that take long leave the processor to probes and short ones.
if (data.isBehind && platform() === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const addresses = [...apiAddresses, ...pageAddresses(database, data.maxAgeMs)];
let pieces: Iterator<string> | null = null;

const tasks = {
  freshness: () => freshnessNow(database),

  figures: () => ({ ...labelledFigures(database, labels, trigger), error: null }),

  /** `path` is that of the address, with its parameters' names. A HEAD is checked, and has no body. */
  page(path: string, asked: AskedFor, isHead: boolean) {
    return readMirror(database, sqlite => {
      const { check, make } = found(addresses, each => each.path === path);
      check?.(sqlite, asked);
      return { body: isHead ? null : make(sqlite, asked), revision: revisionNow(sqlite) };
    });
  },

  /** Begins a file, from one state of the mirror, and says how many rows it has without the heading. */
  file(name: string, query: QueryString): number {
    const { read } = found(fileAddresses, each => each.name === name);
    pieces = iterateMirror(database, function* (sqlite) {
      const { pieces, count } = read(sqlite, query);
      yield String(count);
      yield* pieces;
    });
    return Number(pieces.next().value);
  },

  /** The next piece of the file; null after the last. */
  more(): Uint8Array<ArrayBuffer> | null {
    const next = pieces?.next();
    return next?.done === false ? new TextEncoder().encode(next.value) : null;
  },

  stop: () => void pieces?.return?.(),
};

/** What a thread can be asked for, one at a time. All of it can be cloned. */
export type Tasks = typeof tasks;

/** The request for a task. */
export type TaskCall = { readonly name: keyof Tasks; readonly given: readonly unknown[] };

/** What a thread answers: the value of the task, or what the client is told of its failure and what the log is. */
export type TaskEnd<Value> = { readonly value: Value } | { readonly failure: ReturnType<typeof failureOf> };

parentPort?.on('message', ({ name, given }: TaskCall) => {
  try {
    const value: unknown = Reflect.apply(tasks[name], tasks, given);
    say({ value }, value instanceof Uint8Array && value.buffer instanceof ArrayBuffer ? [value.buffer] : []);
  } catch (error) {
    say({ failure: failureOf(error) });
  }
});

function say(end: TaskEnd<unknown>, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(end, transferred);
}

function found<T>(all: readonly T[], isIt: (each: T) => boolean): T {
  const it = all.find(isIt);
  if (it === undefined) throw new Error('No answers are made for this address.');
  return it;
}

function failureOf(error: unknown) {
  const { statusCode, message, headers } = toHttpError(error);
  const code = error instanceof DocmirrorError ? error.code : null;
  const cause = error instanceof Error ? error : new Error(String(error));
  return { statusCode, message, headers, code, error: cause };
}
