import type { ServiceScenario } from './scenario.ts';

/** The same service without its lies; what is odd, but no lie, stays. */
export function truthful(service: ServiceScenario): ServiceScenario {
  return {
    ...service,
    pageNo: 'heeded',
    totals: { kind: 'right', by: 0 },
    pageCounts: 'right',
    restless: 'none',
    trims: 'none',
    lacks: 0,
    cache: null,
    replicaLag: 0,
  };
}

/** With pages of this size, a plan of pages that overlap reaches the end of a list of any length. */
export const sizeForOverlap = 26;

/** The same service with pages that can overlap: only these show how often a record is there that is there twice. */
export function withOverlap({ sizes, maxSize, defaultSize, ...service }: ServiceScenario): ServiceScenario {
  return {
    ...service,
    sizes: sizes.startsWith('ignored') || sizes === 'stepped' ? 'clamped' : sizes,
    maxSize: Math.max(maxSize, sizeForOverlap),
    defaultSize: Math.max(defaultSize, sizeForOverlap),
  };
}
