import { parentPort, workerData } from 'node:worker_threads';
import { TimeSlice } from '../../time-slice.ts';
import { openMirrorForReading } from '../file/open.ts';
import { sumOfRows } from '../receipts/altered-lists.ts';
import type { PartRead, RowsOrder } from './verify-rows.ts';

// A thread that compares rows for `verify`, over a connection of its own, until it comes to a part that is taken.

const { path, parts, taken }: RowsOrder = workerData;
using file = openMirrorForReading(path);
file.sqlite.pragma('cache_size = -2000');
// The transaction gets its state with its first read.
file.sqlite.exec('BEGIN; SELECT 1 FROM sqlite_schema');
parentPort?.postMessage(null);
for (const [at, part] of [...parts.entries()].reverse()) {
  if (Atomics.exchange(taken, at, 1) === 1) break;
  const altered: number[] = [];
  const sum = await sumOfRows(file.sqlite, part, new TimeSlice(null), id => altered.push(id));
  parentPort?.postMessage({ at, count: sum.count, checksum: `${sum}`, altered } satisfies PartRead);
}
