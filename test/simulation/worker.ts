import { parentPort, workerData } from 'node:worker_threads';
import { Disk } from './disk.ts';
import { playSeed } from './seeds.ts';

/** The seeds that a worker plays: each `step`th of a range. */
export interface WorkerOrder {
  readonly from: number;
  /** The first seed that is not played. */
  readonly to: number;
  readonly step: number;
  readonly isShrinking: boolean;
}

const { from, to, step, isShrinking }: WorkerOrder = workerData;

using disk = new Disk();
for (let seed = from; seed < to; seed += step) {
  parentPort?.postMessage({ seed, ...(await playSeed(seed, disk, isShrinking)) });
}
