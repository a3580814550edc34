import type { ServiceScenario } from './scenario.ts';

/** The same service without its lies; what is odd, but no lie, stays. */
export function truthful(service: ServiceScenario): ServiceScenario {
  return { ...service, pageNo: 'heeded', totals: { kind: 'right', by: 0 }, pageCounts: 'right' };
}

/** Pages of this size can be cut in two other ways, by 0.618 and 0.79 of it. */
export const sizeForThreeCuts = 5;

/**
 * Where contents stand twice, other cuts must show that they do: the service must allow them. Where all records are alike, a page after
 * the last one must not pass for one more.
 */
export function withManyCuts(
  { sizes, maxSize, defaultSize, beyond, ...service }: ServiceScenario,
  areAlike: boolean,
): ServiceScenario {
  return {
    ...service,
    beyond: areAlike && beyond === 'last-asked' ? 'last-own' : beyond,
    sizes: sizes.startsWith('ignored') || sizes === 'stepped' ? 'clamped' : sizes,
    maxSize: Math.max(maxSize, sizeForThreeCuts),
    defaultSize: Math.max(defaultSize, sizeForThreeCuts),
  };
}
