import type { Random } from '../../examples/sample-service/random.ts';
import { eachList } from './mirror-rows.ts';
import { firstStatements, type HabitKind, habitKinds, type Paginator, plainPaginator } from './paginator.ts';
import type { Change, ListName, RunScenario, Scenario, ServiceScenario } from './scenario.ts';

/**
 * Whether instants are drawn in other zones. Only a program that keeps the row's text for the same instant holds what the oracle then
 * expects.
 */
const drawsZones = false;
/** The habits that some hundred seeds show. */
export const habitsDrawn: readonly HabitKind[] = habitKinds.filter(
  kind => drawsZones || kind !== 'instants in another zone',
);

/** The same scenario of a service with the habits of real paginators, each by itself on or off. */
export function withPaginator(scenario: Scenario, focus: ListName, random: Random): Scenario {
  const service = { ...scenario.service, ...drawPaginator(random, scenario.service) };
  const isTrimmed = service.trims !== 'none';
  const hidden = random.integer(3, 12);
  const isFilled = random.chance(0.08);
  // The requests for the last pages, and for those that are asked for once more.
  const requests = Math.ceil(scenario.lists[focus].size / service.maxSize) + 6;
  const runs = scenario.runs.map((run, at) => {
    const shift = run.shift && {
      ...run.shift,
      service: { ...run.shift.service, ...drawPaginator(random, run.shift.service) },
    };
    const isSplit = service.first !== 'rows' && random.chance(0.7);
    const moments = isSplit ? drawMoments(random, focus, requests) : [];
    const refill =
      isFilled && at > 0 && random.chance(0.7) ? { list: focus, tenths: random.integer(0, 9) } : null;
    return { ...run, shift, refill, during: [...run.during, ...moments] };
  });
  const lists = isTrimmed ? eachList(name => ({ ...scenario.lists[name], hidden })) : scenario.lists;
  return { ...scenario, service, lists, runs };
}

/** The habits of a service, as far as real paginators have them together. A service that lies about its totals has none of these. */
function drawPaginator(random: Random, { totals, pageNo, sizes, beyond }: ServiceScenario): Paginator {
  const forms = { shuffles: random.chance(0.4), zones: random.chance(0.4) && drawsZones };
  const first = random.pick(firstStatements);
  const isPlain = random.chance(0.4) || totals.kind !== 'right';
  // If a page has other records than its size and states a size that is not served, nothing tells the size.
  const isSizeStated = !sizes.endsWith('silently');
  const canHaveOrphans = first !== 'ids' && isSizeStated && beyond !== 'last-asked';
  const drawn = {
    first,
    splits: random.pick([1, 1, 2, 3]),
    // What has been counted already need not be deduced.
    deduces: random.chance(0.7) && first !== 'count',
    orphans: random.chance(0.4) && canHaveOrphans ? random.integer(1, 3) : 0,
    trims:
      random.chance(0.2) && pageNo === 'heeded' && isSizeStated
        ? random.pick(['all', 'seen'] as const)
        : 'none',
  } as const;
  const lacks = random.chance(0.06) && totals.kind === 'right' ? random.integer(1, 12) : 0;
  return { ...plainPaginator, ...(isPlain ? {} : drawn), ...forms, lacks };
}

/** Changes that hurt a page of two statements: at the ends, where lists grow, and in front of what is being read. */
function drawMoments(random: Random, list: ListName, requests: number): RunScenario['during'] {
  const place = () => (random.chance(0.5) ? random.pick([0, -1, -2]) : random.integer(0, 250));
  const drawOne = (): Change => ({ list, kind: random.pick(['insert', 'remove']), at: place(), to: place() });
  return Array.from({ length: random.integer(1, 4) }, () => {
    const request = random.integer(1, requests);
    return Array.from({ length: random.integer(1, 2) }, () => ({ request, change: drawOne() }));
  }).flat();
}
