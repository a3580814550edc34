import type { Guard } from './guard.ts';
import { guardsOfGrowth } from './guards-of-growth.ts';
import { guardsOfReadings } from './guards-of-readings.ts';
import { guardsOfStore } from './guards-of-store.ts';
import { guardsOfWalks } from './guards-of-walks.ts';

/** All guards. The folder `guards` keeps a scenario for each that fails without it. */
export const guards: readonly Guard[] = [
  ...guardsOfWalks,
  ...guardsOfReadings,
  ...guardsOfGrowth,
  ...guardsOfStore,
];
