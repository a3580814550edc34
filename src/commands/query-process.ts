import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DocmirrorError, type ErrorCode } from '../errors.ts';
import { type QueryFormat, queryPieces } from '../render/query-result.ts';
import { Query, type Statement } from '../store/read/query.ts';

// `query` starts this file as a process: neither SQLite nor a thread can be stopped while a row is computed, but a process can.

/** The task of the process. */
export interface QueryTask {
  readonly database: string;
  readonly statement: Statement;
  readonly format: QueryFormat;
  /** The width of the terminal, in characters; null for no limit. */
  readonly width: number | null;
}

/** Its last message; the result itself goes to its standard output. */
export type QueryEnd = { readonly rowCount: number } | { readonly code: ErrorCode; readonly message: string };

/** Pieces are collected up to this length before they are written, because one call for each line is slow. */
const chunkLength = 64 * 1024;

async function run({ database, statement, format, width }: QueryTask): Promise<QueryEnd> {
  using query = new Query(database, statement);
  query.holdStill();
  let rowCount = 0;
  const rows = function* () {
    rowCount = 0;
    for (const row of query.rows()) {
      rowCount++;
      yield row;
    }
  };
  const pieces = queryPieces({ columns: query.columns, rows }, format, width ?? Number.POSITIVE_INFINITY);
  let waiting: Uint8Array[] = [];
  let length = 0;
  const flush = async () => {
    const isTaken = process.stdout.write(Buffer.concat(waiting));
    waiting = [];
    length = 0;
    if (!isTaken) await once(process.stdout, 'drain');
  };
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    waiting.push(bytes);
    length += bytes.length;
    if (length >= chunkLength) await flush();
  }
  await flush();
  return { rowCount };
}

function problemOf(error: unknown): QueryEnd {
  if (error instanceof DocmirrorError) return { code: error.code, message: error.message };
  return {
    code: 'internal',
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

/** Runs the statement in another thread, so that this one notices when nobody waits for the result any more. */
function runInThread(task: unknown): void {
  const end = () => process.kill(process.pid, 'SIGKILL');
  process.once('disconnect', end);
  const thread = new Worker(new URL(import.meta.url), { workerData: task });
  thread.once('message', (message: QueryEnd) => {
    process.off('disconnect', end);
    process.send?.(message, () => process.disconnect());
  });
}

if (isMainThread) process.once('message', runInThread);
else parentPort?.postMessage(await run(workerData).catch(problemOf));
