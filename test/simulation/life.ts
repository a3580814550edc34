import type { Random } from '../../examples/sample-service/random.ts';
import { type ListName, type RunScenario, recordChangeKinds } from './scenario.ts';

/** Changes of a few records during a run: they are edited, edited back, removed, and come again as they were or with another text. */
export function drawLife(random: Random, list: ListName, requests: number): RunScenario['during'] {
  const at = random.integer(0, 250);
  return Array.from({ length: random.integer(0, 6) }, () => ({
    request: random.integer(1, requests),
    change: {
      list,
      kind: random.pick(recordChangeKinds),
      // Mostly the same one.
      at: random.chance(0.7) ? at : random.integer(0, 250),
      to: random.integer(0, 250),
    },
  }));
}
