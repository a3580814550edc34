import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { keptResources, tableOf } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { attempt } from '../../errors.ts';
import type { TimeSlice } from '../../time-slice.ts';
import { otherWriters } from '../file/lock-file.ts';
import type { MirrorFile } from '../file/open.ts';
import { type RowsPart, sumOfRows } from '../receipts/altered-lists.ts';
import { firstValue, type Sqlite } from '../tables/ask.ts';

/** What a second thread gets: all parts of the rows, and 1 at the place of each that a thread has taken. */
export interface RowsOrder {
  readonly path: string;
  readonly parts: readonly RowsPart[];
  readonly taken: Uint8Array<SharedArrayBuffer>;
}

/** What it finds in the part at a place: the sum, and the ids of the rows that are not as docmirror wrote them. */
export type PartRead = { at: number; count: number; checksum: string; altered: readonly number[] };

const rowsPerPart = 20_000;
/** With fewer, below some 40,000 rows, a second thread takes longer to start than it saves. */
const sharedPartsMin = keptResources.length + 2;

/**
 * Begins a transaction, and to compare all rows in its state of the mirror. If there are many, and two processors, a second thread compares
 * them from now on, from the last one back. Disposal ends it after its part, in some 50 ms: amid a statement, that can abort the process.
 */
export async function beginRows({ path, sqlite }: MirrorFile) {
  const parts = keptResources.flatMap(each => attempt(() => partsOf(sqlite, each)) ?? [{ resource: each }]);
  const taken = new Uint8Array(new SharedArrayBuffer(parts.length));
  const hasChanged = otherWriters(sqlite);
  const canShare = parts.length >= sharedPartsMin && availableParallelism() > 1;
  const thread = canShare ? attempt(() => threadOf({ path, parts, taken })) : null;
  const end = () => Promise.resolve(taken.fill(1)).then(() => thread?.ended);
  await thread?.begun;
  sqlite.exec('BEGIN');
  // The thread began its transaction between these two questions. If nobody wrote meanwhile, both see the same state.
  if (hasChanged()) await end().then(() => thread?.read.clear());
  return {
    /** True while the second thread has parts to take. */
    isShared: () => thread !== null && Atomics.load(taken, 0) === 0,

    /** The sums of the rows of each list, and of the connections. `tell` gets the rows that are not as docmirror wrote them, in their order. */
    async sums(slice: TimeSlice, tell: (table: string, id: number) => void) {
      const sums = new Map(keptResources.map(resource => [resource, new Sum()]));
      for (const [at, part] of parts.entries()) {
        const tellOf = (id: number) => tell(tableOf(part.resource), id);
        if (Atomics.exchange(taken, at, 1) === 1) await thread?.ended;
        const read = thread?.read.get(at);
        read?.altered.forEach(tellOf);
        // What the thread has taken and not answered for, because it ended early, is read here, too.
        const sum = read ? Sum.from(read.count, read.checksum) : await sumOfRows(sqlite, part, slice, tellOf);
        sums.set(part.resource, sum.plus(sums.get(part.resource) as Sum));
      }
      return sums;
    },
    [Symbol.asyncDispose]: end,
  };
}

/** The parts of a list, equal ranges of ids; all connections are one. The first and the last have no bound, whatever ids there are by then. */
function partsOf(sqlite: Sqlite, resource: RowsPart['resource']): RowsPart[] {
  const ask = (what: string) => firstValue<number>(sqlite, `SELECT ${what} FROM ${tableOf(resource)}`) ?? 0;
  const count = resource === 'connections' ? 1 : Math.max(Math.ceil(ask('count(*)') / rowsPerPart), 1);
  const [least, last] = [ask('min(id)'), ask('max(id)')];
  const bounds = Array.from({ length: count }, (_, at) => least + Math.floor(((last - least) / count) * at));
  bounds[0] = Number.NEGATIVE_INFINITY;
  return bounds.map((after, at) => ({ resource, after, to: bounds[at + 1] ?? Number.POSITIVE_INFINITY }));
}

/** Starts the second thread. Its first message says that its transaction has begun. */
function threadOf(order: RowsOrder) {
  const script = new URL(`./rows-thread${extname(import.meta.filename)}`, import.meta.url);
  const worker = new Worker(script, { workerData: order, resourceLimits: { maxOldGenerationSizeMb: 256 } });
  const until = (event: string) => new Promise<void>(resolve => worker.once(event, () => resolve()));
  const [ended, read] = [until('exit'), new Map<number, PartRead>()];
  worker.on('message', (part: PartRead | null) => part && read.set(part.at, part));
  worker.on('error', () => undefined);
  return { begun: Promise.race([until('message'), ended]), ended, read };
}
