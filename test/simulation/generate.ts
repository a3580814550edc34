import { Random } from '../../examples/sample-service/random.ts';
import { withPaginator } from './draw-paginator.ts';
import { drawLife } from './life.ts';
import { plainPaginator } from './paginator.ts';
import { hashOf } from './records.ts';
import {
  beyondManners,
  type Change,
  type Crash,
  changeKinds,
  faultKinds,
  type ListName,
  type ListScenario,
  listNames,
  type Meddle,
  meddleKinds,
  pageNoManners,
  type RunScenario,
  type Scenario,
  type ServiceScenario,
  type Shift,
  sizeManners,
  tamperKinds,
  totalKinds,
  trafficKinds,
} from './scenario.ts';

/** Which features a seed has: each is on or off by itself, so that all combinations come up. */
interface Swarm {
  readonly random: Random;
  readonly focus: ListName;
  readonly focusSize: number;
  /** Records on a page, as the service cuts the list in focus. */
  readonly pageSize: number;
  /** True if most changes make records alike, or no longer alike. */
  readonly isTwinning: boolean;
  /** True if most changes are of the names that lists give connections. */
  readonly isNaming: boolean;
  /** True if the list is short, and the service mostly lies about it: lies must fit together to be believed. */
  readonly isLying: boolean;
  readonly isMoving: boolean;
  readonly isEdited: boolean;
  /** True if a list changes by itself while it is read. */
  readonly isBusy: boolean;
  /** True if pages are so large that they can overlap in a list of any length. */
  readonly hasLargePages: boolean;
  readonly order: ListScenario['order'];
  readonly hasCache: boolean;
  readonly hasReplica: boolean;
  readonly hasTies: boolean;
  readonly hasDoubles: boolean;
  readonly hasOddTotals: boolean;
  readonly hasFaults: boolean;
  readonly hasCrashes: boolean;
  readonly isTampered: boolean;
  readonly isParallel: boolean;
  readonly isIncremental: boolean;
  readonly changesSize: boolean;
  readonly shifts: boolean;
  readonly skips: boolean;
}

/** Pages of a list at the most, so that a scenario takes some milliseconds. */
const pagesMax = 16;
/** Lists of no more pages are always read in full. */
const pagesInFull = 10;
/** A longer list takes too long. */
const sizeMax = 330;
/** With pages of this size, a plan of pages that overlap reaches the end of a list of any length. */
const largePageMin = 26;
/** No service has pages so small that identical records can't be on two of them. */
const twinPageMin = 4;

/** The scenario of a seed: always the same. */
export function generate(seed: number): Scenario {
  const swarm = drawSwarm(new Random(seed));
  const { random } = swarm;
  const lists = {
    'document-exports': drawList(swarm, 'document-exports'),
    collections: drawList(swarm, 'collections'),
    webhooks: drawList(swarm, 'webhooks'),
  };
  const living = new Random(hashOf(seed, 4));
  const isRestless = living.chance(0.15);
  const isLively = living.chance(0.2);
  const service: ServiceScenario = {
    ...drawService(swarm),
    restless: isRestless ? living.pick(['nodes', 'each']) : 'none',
  };
  // Drawn by itself, so that each older seed keeps its story.
  const keeping = new Random(hashOf(seed, 1));
  const isPruned = keeping.chance(0.2);
  const others = new Random(hashOf(seed, 2));
  const isRestored = others.chance(0.1);
  const isMeddled = others.chance(0.1);
  const moments = new Random(hashOf(seed, 3));
  const withLife = (run: ReturnType<typeof drawRun>) =>
    isLively ? { ...run, during: [...run.during, ...drawLife(living, swarm.focus, requestsOf(swarm))] } : run;
  const runs = Array.from({ length: random.integer(1, 3) }, (_, at) => ({
    ...withLife(drawRun(swarm, at === 0)),
    keepHours: isPruned && keeping.chance(0.6) ? keeping.integer(0, 2) : null,
    refill: null,
    rollback: isRestored && at > 0 && others.chance(0.6) ? others.integer(1, at) : 0,
    meddles: isMeddled && at > 0 ? drawMany(others, 3, () => drawMeddle(others, moments, swarm.focus)) : [],
  }));
  const synced = random.chance(swarm.isNaming ? 0.9 : 0.35) ? listNames : [swarm.focus];
  // If there are few connections, most pages name all of them.
  const connections = random.pick([6, 6, 25]);
  const scenario = { connections, synced, service, lists, runs };
  return withPaginator(scenario, swarm.focus, new Random(hashOf(seed, 5)));
}

function drawSwarm(random: Random): Swarm {
  const focus = random.pick(['document-exports', 'document-exports', 'collections', 'webhooks']);
  const isLying = random.chance(0.15);
  const hasLargePages = random.chance(0.4);
  const hasDoubles = random.chance(0.35);
  const pageMin = hasLargePages ? largePageMin : hasDoubles ? twinPageMin : 2;
  const isIncremental = random.chance(0.5);
  // Lists of few pages are always read in full.
  const isLong = isIncremental && random.chance(0.4);
  const large = isLong
    ? random.integer(pagesInFull * largePageMin + 1, sizeMax)
    : random.chance(0.3)
      ? random.integer(120, 300)
      : random.integer(20, 120);
  const small = random.chance(0.12) ? random.integer(40, 200) : random.integer(0, 40);
  const focusSize = isLying ? random.integer(0, 10) : hasLargePages ? large : small;
  const isDeep = random.chance(0.3);
  const least = Math.max(pageMin, isLong ? 0 : Math.ceil(focusSize / (isDeep ? pagesMax : 7)));
  return {
    random,
    focus,
    focusSize,
    pageSize: Math.min(60, random.integer(least, isLong || isDeep ? least + 2 : least * 3)),
    isTwinning: random.chance(0.25),
    isNaming: random.chance(0.15),
    isLying,
    isMoving: random.chance(0.5),
    isEdited: random.chance(0.5),
    isBusy: random.chance(0.4),
    hasLargePages,
    order: random.pick(['free', 'free', 'up', 'up', 'down']),
    hasCache: random.chance(0.15),
    hasReplica: random.chance(0.1),
    hasTies: random.chance(0.25),
    hasDoubles,
    hasOddTotals: random.chance(isLying ? 0.6 : 0.1),
    hasFaults: random.chance(0.15),
    hasCrashes: random.chance(0.2),
    isTampered: random.chance(0.2),
    isParallel: random.chance(0.5),
    isIncremental,
    changesSize: random.chance(0.15),
    shifts: random.chance(0.1),
    skips: random.chance(0.15),
  };
}

function drawService(swarm: Swarm): ServiceScenario {
  const { random, pageSize, focusSize, isLying, hasOddTotals, hasDoubles } = swarm;
  const kind = hasOddTotals ? random.pick(totalKinds) : 'right';
  const by = {
    right: 0,
    capped: Math.max(1, focusSize + random.integer(-pageSize, pageSize)),
    stale: random.integer(1, 4),
    off: random.pick([-2, -1, 1, 2]),
    served: 0,
  };
  const isIgnored = random.chance(isLying ? 0.5 : 0.04);
  const isSmall = random.chance(0.4);
  return {
    firstPageNo: random.pick([0, 1]),
    defaultSize: isSmall ? random.integer(hasDoubles ? twinPageMin : 2, pageSize) : pageSize,
    maxSize: pageSize,
    sizes: random.pick(sizeManners),
    beyond: random.pick(beyondManners),
    pageNo: isIgnored ? random.pick(pageNoManners) : 'heeded',
    totals: { kind, by: by[kind] },
    pageCounts: hasOddTotals ? random.pick(['right', 'capped', 'too-high']) : 'right',
    ...plainPaginator,
    restless: 'none',
    noise: random.chance(isIgnored ? 0.5 : 0.1),
    paginationFirst: random.chance(0.15),
    cache: swarm.hasCache ? { nth: random.integer(1, 3), hours: random.pick([0.5, 2, 5]) } : null,
    replicaLag: swarm.hasReplica ? random.integer(1, 6) : 0,
  };
}

function drawList(swarm: Swarm, name: ListName): ListScenario {
  const { random, focus, focusSize, hasTies, hasDoubles, isBusy, isNaming } = swarm;
  const size = name === focus ? focusSize : random.chance(isNaming ? 0.1 : 0.7) ? 0 : random.integer(1, 6);
  const doubles = hasDoubles && name === 'document-exports' ? random.integer(1, 4) : 0;
  const order = name === focus ? swarm.order : 'free';
  const mayTie = order === 'free' ? swarm.hasLargePages : name === 'document-exports';
  const canTie = hasTies && name === focus && mayTie;
  const kind = random.pick(trafficKinds);
  return {
    size,
    doubles: Array.from({ length: doubles }, () => ({
      at: random.integer(0, 200),
      of: random.integer(0, 200),
      text: random.chance(0.6) ? 0 : 1,
    })),
    traffic: isBusy && name === focus ? { kind, every: random.integer(1, 12) } : null,
    order,
    // Small pages can all be in the order of their ids by chance, although the service's order is another one. No service has pages so
    // small.
    ties: canTie ? random.integer(2, 8) : 1,
    hidden: 0,
  };
}

function drawMeddle(random: Random, moments: Random, focus: ListName): Meddle {
  return {
    list: random.chance(0.8) ? focus : random.pick(listNames),
    kind: random.pick(meddleKinds),
    row: random.integer(-1, 200),
    to: random.integer(0, 200),
    request: moments.chance(0.5) ? moments.integer(1, 12) : 0,
  };
}

function drawRun(
  swarm: Swarm,
  isFirst: boolean,
): Omit<RunScenario, 'keepHours' | 'refill' | 'rollback' | 'meddles'> {
  const { random, pageSize, isParallel } = swarm;
  const requests = requestsOf(swarm);
  const sizeMin = Math.min(pageSize, swarm.hasLargePages ? largePageMin : swarm.hasDoubles ? twinPageMin : 2);
  const size = swarm.changesSize ? random.integer(sizeMin, pageSize) : pageSize;
  return {
    skips: swarm.skips && random.chance(0.6) ? listNames.filter(() => random.chance(0.4)) : [],
    pageSize: random.chance(swarm.changesSize ? 0.8 : 0.5) ? size : null,
    concurrency: isParallel ? random.integer(2, 8) : 1,
    schedule: isParallel ? random.integer(1, 1_000_000) : 0,
    incremental: swarm.isIncremental && random.chance(0.8),
    guarded: random.chance(0.1),
    lies: random.chance(0.8),
    before: swarm.isEdited && !isFirst ? drawMany(random, 6, () => drawChange(swarm)) : [],
    during: swarm.isMoving ? drawMany(random, 4, () => drawMoment(swarm, requests)).flat() : [],
    faults:
      swarm.hasFaults && random.chance(0.7)
        ? [{ request: random.integer(1, requests), kind: random.pick(faultKinds) }]
        : [],
    shift: swarm.shifts && random.chance(0.6) ? drawShift(swarm, requests) : null,
    crash: swarm.hasCrashes && random.chance(0.6) ? drawCrash(random, requests) : null,
    tampers:
      swarm.isTampered && !isFirst
        ? drawMany(random, 5, () => ({
            kind: random.pick(['copy', ...tamperKinds]),
            table: random.integer(0, 5),
            row: random.integer(0, 20),
            column: random.integer(0, 11),
          }))
        : [],
  };
}

/** So many requests of a run, or some more, are worth a change. */
function requestsOf({ focusSize, pageSize }: Swarm): number {
  return Math.ceil(focusSize / pageSize) * 2 + 6;
}

/** Mostly for a whole run: the service was set up again since the last one. */
function drawShift(swarm: Swarm, requests: number): Shift {
  const { random, pageSize } = swarm;
  const service = drawService({
    ...swarm,
    pageSize: random.integer(swarm.hasDoubles ? twinPageMin : 2, Math.max(twinPageMin, pageSize * 2)),
  });
  return { request: random.chance(0.6) ? 0 : random.integer(1, requests), service };
}

function drawCrash(random: Random, requests: number): Crash {
  const at = random.pick(['request', 'clock', 'event']);
  const nth = random.integer(1, at === 'request' ? requests : 12);
  const way =
    at === 'request' ? random.pick(['kill', 'kill', 'throw', 'signal']) : random.pick(['kill', 'signal']);
  return { at, nth, way };
}

/** Changes between two requests: often two at once, which no count has to show. */
function drawMoment(swarm: Swarm, requests: number): RunScenario['during'] {
  const { random } = swarm;
  const request = random.integer(1, requests);
  const drawOne = () => ({ request, change: drawChange(swarm) });
  return random.chance(0.4) ? [drawOne(), drawOne()] : [drawOne()];
}

function drawChange({ random, focus, isTwinning, isNaming }: Swarm): Change {
  const list = random.chance(isNaming ? 0.4 : 0.9) ? focus : random.pick(listNames);
  // Edges are where lists grow, and where pages meet their end.
  const place = () => (random.chance(0.3) ? random.pick([0, -1]) : random.integer(0, 250));
  const most = random.pick(['insert', 'remove', 'update', 'move']);
  const alike = random.pick(['twin', 'twin', 'equalize', 'rekey', 'update']);
  const naming = random.pick(['reword', 'reword', 'rename', 'relink']);
  const plain = isTwinning && random.chance(0.7) ? alike : most;
  const often = isNaming && random.chance(0.7) ? naming : plain;
  return {
    list,
    kind: random.chance(0.6) ? often : random.pick(changeKinds),
    at: place(),
    to: place(),
  };
}

function drawMany<T>(random: Random, most: number, draw: () => T): T[] {
  return Array.from({ length: random.integer(0, most) }, draw);
}
