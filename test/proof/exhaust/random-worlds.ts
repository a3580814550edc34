import { Random } from '../../../src/sample/random.ts';
import type * as Core from './core.ts';
import { type Mirror, playNight } from './night.ts';
import { type Wrong, wrongs } from './oracle.ts';
import {
  type ChangeKind,
  changeKinds,
  type Order,
  type Quirk,
  quirks,
  RandomWorld,
  type WorldOptions,
} from './random-world.ts';
import { Pages } from './records.ts';

/** How large lists and pages are. */
export type Extent = 'small' | 'big' | 'wide';
/** The page sizes and the most records of each extent. */
export const extents: Readonly<Record<Extent, { sizes: readonly [number, number]; countMax: number }>> = {
  small: { sizes: [10, 24], countMax: 200 },
  big: { sizes: [25, 60], countMax: 900 },
  wide: { sizes: [100, 500], countMax: 3000 },
};
/** Changes while one reading is made. */
export const rates: readonly number[] = [0.1, 0.3, 1, 3, 10];

const nights = 3;
/** A mirror is as old as copies that are kept and replicas that lag, and as wrong as a service that says that a list is empty. */
const outOfDate: readonly Quirk[] = ['cache from nights before', 'replicas by address', 'empty for a night'];

/** A broken promise after a night. */
export interface Finding {
  readonly seed: number;
  readonly night: number;
  /** `late`: a kept copy or a replica was as old as that. */
  readonly what: Wrong | 'late';
  readonly rule: string;
  readonly world: WorldOptions;
  readonly record: number;
}

/** One night, as the tables count it. */
export interface CountedNight {
  readonly world: WorldOptions;
  readonly extent: Extent;
  readonly night: number;
  readonly rule: string;
  readonly isProven: boolean;
  readonly requests: number;
  readonly secondLook: number;
  readonly pages: number;
  readonly undecided: number;
  readonly isOnePage: boolean;
}

/** The kinds of worlds to play; all if left out. */
export interface Choice {
  readonly orders?: readonly Order[];
  readonly quirks?: readonly Quirk[];
  readonly extents?: readonly Extent[];
  readonly kinds?: readonly ChangeKind[];
}

/** Plays one world for some nights. */
export function playWorld(
  core: typeof Core,
  seed: number,
  choice: Choice = {},
): { findings: Finding[]; nights: CountedNight[] } {
  const random = new Random(seed * 2654435761);
  const extent = random.pick((choice.extents ?? ['small', 'big', 'wide']) as [Extent]);
  const { sizes, countMax } = extents[extent];
  const world: WorldOptions = {
    order: random.pick((choice.orders ?? ['id', 'time', 'time', 'unseen', 'name']) as [Order]),
    kind: random.pick((choice.kinds ?? changeKinds) as [ChangeKind]),
    quirk: random.pick((choice.quirks ?? ['none', 'none', 'none', ...quirks]) as [Quirk]),
    rate: rates[seed % rates.length] as number,
    count: random.integer(0, countMax),
    largest: random.integer(...sizes),
    isUnstable: random.chance(0.5),
    twinShare: random.pick([0, 0, 0.002, 0.05]),
  };
  const isMoved = world.kind === 'moves' && (world.order === 'id' || world.order === 'time');
  // A record whose visible key can't change never moves.
  const options = isMoved ? { ...world, kind: 'log with edits' as const } : world;
  return playNights(core, seed, options, extent, random);
}

function playNights(
  core: typeof Core,
  seed: number,
  world: WorldOptions,
  extent: Extent,
  random: Random,
): { findings: Finding[]; nights: CountedNight[] } {
  const service = new RandomWorld(seed, world);
  const identity = world.order === 'id' || world.order === 'name' ? 'id' : 'content';
  const pages = new Pages(core, identity);
  const mirror: Mirror = { rows: new Map(), learnt: null, totalBefore: null };
  const isOld = outOfDate.includes(world.quirk);
  const findings: Finding[] = [];
  const counted: CountedNight[] = [];
  for (let night = 0; night < nights; night++) {
    const before = new Map(
      [...mirror.rows].map(([content, { record, count }]) => [content, { record, count }]),
    );
    service.beginNight(night === 0 ? 0 : random.integer(0, 6));
    const size = service.count;
    const played = playNight(core, mirror, service, pages, {
      identity,
      largest: world.largest,
      underWayMax: random.integer(1, 4),
      run: night,
    });
    const base = { seed, night, rule: played.verdict.rule, world };
    for (const [what, record] of wrongs(service, mirror, before, played)) {
      const isLate = isOld && what !== 'wrongly removed';
      findings.push({ ...base, what: isLate ? 'late' : what, record });
    }
    counted.push({
      world,
      extent,
      night,
      rule: played.verdict.rule,
      isProven: played.isProven,
      requests: played.requests,
      secondLook: played.secondLookRequests,
      pages: Math.max(1, Math.ceil(size / world.largest)),
      undecided: played.undecided,
      isOnePage: size < world.largest,
    });
  }
  return { findings, nights: counted };
}
