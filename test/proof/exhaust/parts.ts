import type { Choices } from './choices.ts';
import type * as Core from './core.ts';
import { copyOf, type Mirror } from './mirror.ts';
import { type Night, type NightOptions, playNight } from './night.ts';
import { removedByOne, type Wrong, wrongs } from './oracle.ts';
import type { Pages } from './records.ts';
import type { SmallWorld } from './small-world.ts';

/** How a list is read by several runs. */
export interface PartsOptions extends Omit<NightOptions, 'run' | 'endsNow' | 'kept'> {
  /** How often the reading can end early, each time before any answer; never if it is left out. */
  readonly endsMax?: number;
  /** Whether it is judged as if it had begun with its last part, to see that this matters. */
  readonly isJudgedByLastPart?: boolean;
  readonly isDown: boolean;
}

/** A reading to its end, and what is wrong with it and its parts. */
export interface Parts {
  readonly night: Night;
  /** The rule that the last part ended with, and how it went on with the others. */
  readonly rule: string;
  readonly found: readonly [Wrong, number][];
}

/** Plays a reading; if it ends early, the next run goes on with it. Each part is judged by what was listed since its oldest answer in use. */
export function playParts(
  core: typeof Core,
  mirror: Mirror,
  world: SmallWorld,
  pages: Pages,
  options: PartsOptions,
  choices: Choices,
): Parts {
  const { isDown, script, endsMax = 0, isJudgedByLastPart = false } = options;
  let left = endsMax;
  const endsNow = () => {
    if (left === 0 || choices.next(2) === 0) return false;
    left--;
    world.story.push('the reading ends early');
    return true;
  };
  const found: [Wrong, number][] = [];
  let night: Night | null = null;
  let begin = 0;
  for (let run = 1; night === null || night.kept !== null; run++) {
    begin = world.moment;
    const before = copyOf(mirror.rows);
    const kept: Night['kept'] = night?.kept ?? null;
    night = playNight(core, mirror, world, pages, { ...options, run, endsNow, kept });
    const since = isJudgedByLastPart ? begin : night.since;
    found.push(...wrongs(world.since(since), mirror, before, night));
    if (script === undefined) found.push(...removedByOne(night, isDown));
  }
  return { night, rule: night.verdict.rule + howItWentOn(night, left < endsMax), found };
}

function howItWentOn({ answers, isAfresh }: Night, hasEndedEarly: boolean): string {
  if (!hasEndedEarly) return '';
  if (isAfresh) return ' (read afresh)';
  return answers.some(({ isRecalled }) => isRecalled) ? ' (gone on with)' : ' (begun again)';
}
