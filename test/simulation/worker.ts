import { parentPort, workerData } from 'node:worker_threads';
import { Disk } from './disk.ts';
import { playSeed } from './seeds.ts';

/** The seeds that a worker plays: each `step`th of a range. */
export interface WorkerOrder {
  readonly from: number;
  /** The first seed that is not played. */
  readonly to: number;
  readonly step: number;
  readonly only: string | null;
  readonly isShrinking: boolean;
}

const { from, to, step, only, isShrinking }: WorkerOrder = workerData;

using disk = new Disk();
for (let seed = from; seed < to; seed += step) {
  const { found, coverage, runs } = await playSeed(seed, disk, { only, isShrinking });
  parentPort?.postMessage({ seed, found, runs, counts: coverage?.counts ?? null });
}
