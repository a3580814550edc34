import { Choices } from './choices.ts';
import type * as Core from './core.ts';
import { type Bound, type Count, enter, listsOf } from './every-world.ts';
import { type IncrementalNight, playIncremental } from './incremental-night.ts';
import type { Wrong } from './oracle.ts';
import { Pages, type WorldRecord } from './records.ts';
import { SmallWorld } from './small-world.ts';

/** Plays every incremental sync within a bound: the list changes before it and while it goes on. */
export function playEveryGrowth(core: typeof Core, bound: Bound, isFirstEnough = false): Count {
  const count: Count = { worlds: 0, claims: new Map(), wrong: new Map(), smallest: new Map() };
  const identity = bound.order === 'id' ? 'id' : 'content';
  for (const [number, records] of listsOf(bound).entries()) {
    if (records.length === 0 || new Set(records.map(({ content }) => content)).size < records.length)
      continue;
    const pages = new Pages(core, identity);
    const choices = new Choices(bound.oneOf, number);
    do {
      const world = new SmallWorld({ ...bound, records }, choices);
      world.change();
      world.beginRun();
      const night = playIncremental(core, records, world, pages, {
        ...bound,
        identity,
        ...(bound.isLearnt
          ? {
              keyOrder: {
                direction: bound.isDown ? 'down' : 'up',
                lateness: bound.learntLateness ?? bound.lateness ?? 0,
                extraOverlap: 1,
                outliers: 0,
              } as const,
            }
          : {}),
      });
      const isProven = night.kind === 'done';
      const found = isProven
        ? wrongsOf(records, world, night, bound.isLearnt ? (bound.learntLateness ?? bound.lateness ?? 0) : 0)
        : [];
      enter(count, { rule: night.kind, isProven }, found, world.story);
      if (isFirstEnough && count.wrong.size > 0) return count;
    } while (choices.advance());
  }
  return count;
}

/** Every record newer than all known ones must be there. If nothing changed meanwhile, a sign of other changes must not be overlooked. */
function wrongsOf(
  records: readonly WorldRecord[],
  world: SmallWorld,
  { rows, isOlderNew }: IncrementalNight,
  lateness: number,
): [Wrong, number][] {
  const newest = Math.max(...records.map(({ key }) => key)) - lateness;
  const held = new Map<number, number>();
  for (const { record, count } of rows.values()) add(held, world.nameOf(record), count);
  const listed = new Map<number, number>();
  const newer = new Map<number, number>();
  for (const record of world.listedAllTheTime()) {
    add(listed, world.nameOf(record), 1);
    if (record.key >= newest) add(newer, world.nameOf(record), 1);
  }
  const found: [Wrong, number][] = [];
  for (const [name, count] of newer) {
    const due = Math.min(count, world.truth.throughout.get(name) ?? 0);
    if ((held.get(name) ?? 0) < due) found.push(['lost', name]);
  }
  if (!world.isStill) return found;
  // A total that does not fit, or a new record among the known ones, shows that the rest is not as it was.
  const isOther = [...listed].some(([name, count]) => held.get(name) !== count);
  const counts = [held, listed].map(each => [...each.values()].reduce((sum, count) => sum + count, 0));
  if (counts[0] !== counts[1] || (isOlderNew && isOther)) found.push(['kept although gone', counts[1] ?? 0]);
  return found;
}

function add(counts: Map<number, number>, name: number, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}
