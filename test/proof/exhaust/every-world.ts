import type { PageAddress } from '../../../src/proof/answers.ts';
import type { Identity } from '../../../src/proof/keys.ts';
import { Choices } from './choices.ts';
import type * as Core from './core.ts';
import type { Mirror } from './mirror.ts';
import type { Plain } from './night.ts';
import type { Wrong } from './oracle.ts';
import { type PartsOptions, playParts } from './parts.ts';
import { Pages, type WorldRecord } from './records.ts';
import type { ServiceOptions } from './small-service.ts';
import { hasIds, type SmallOrder, SmallWorld, type Story } from './small-world.ts';

/** How far worlds go. */
export interface Bound extends ServiceOptions, Pick<PartsOptions, 'endsMax' | 'isJudgedByLastPart'> {
  readonly order: SmallOrder;
  readonly isDown: boolean;
  /** The greatest page size of the service. */
  readonly largest: number;
  /** The least number of records that neighbouring pages have in common. */
  readonly overlap: number;
  readonly recordsMin: number;
  readonly recordsMax: number;
  readonly changesMax: number;
  readonly movesMax?: number;
  readonly isPlain?: boolean;
  readonly underWayMax: number;
  /** If it is given, full scans have to agree, and no windows are looked at. */
  readonly plain?: Plain;
  /** If it is given, every sequence of so many pages is asked for instead of what docmirror would ask for. */
  readonly anyPages?: number;
  /** How far keys can be behind: lists of these keys, in every order that this allows. */
  readonly lateness?: number;
  readonly keys?: readonly number[];
  /** The lateness that an incremental sync knows, if it is not that of the list. */
  readonly learntLateness?: number;
  readonly isUnstable?: boolean;
  readonly comesAgain?: boolean;
  readonly isExportedAgain?: boolean;
  readonly growsAtEnd?: boolean;
  /** Whether a run before proved what the mirror has. */
  readonly isAfterCleanRun?: boolean;
  readonly hasTwoNodes?: boolean;
  /** Whether the lateness is known from a run before. */
  readonly isLearnt?: boolean;
  /** How many records can be anywhere: 0 or 1. */
  readonly outliers?: number;
  /** Whether dead rows are played together only, and not also one at a time: for bounds that are wide in another direction. */
  readonly areRowsTogether?: boolean;
  /** If it is given, only each list of that many is played. */
  readonly every?: number;
  /** If it is given, one of so many worlds is played in which more than one thing happens: others with each seed. */
  readonly oneOf?: number;
}

/** The results of all worlds within a bound. */
export interface Count {
  worlds: number;
  /** By the rule that proved it. */
  readonly claims: Map<string, number>;
  readonly wrong: Map<string, number>;
  /** The shortest story of something wrong, by what and by which rule. */
  readonly smallest: Map<string, Story>;
}

/** The numbers of keys and contents, in the order of lists that rise; twins have equal contents. A list of fewer records has the first of them. */
const listsWithTies = [
  '1.1 1.2 1.3 1.4',
  '1.1 1.2 2.3 2.4 2.5 3.6',
  '1.1 2.2 2.3 3.4 3.5 4.6',
  '1.1 2.2 3.3 3.4 4.5 5.6',
  '1.1 2.2 2.3 2.4 3.5 3.6',
  '1.1 2.2 3.3 4.4 4.5 4.6',
  '1.1 2.2 2.2 3.4 3.4 4.6',
  '1.1 1.1 2.3 3.4 4.5 4.5',
].map(list => list.split(' ').map(record => record.split('.').map(Number) as [key: number, content: number]));

/** Ids of lists that are in another order than that of their ids. */
const listsByName = {
  name: [
    [512, 256, 768, 1024, 1280, 1536],
    [256, 768, 512, 1024, 1280, 1536],
    [512, 768, 1024, 256, 1280, 1536],
    [1024, 256, 512, 768, 1280, 1536],
    [256, 512, 1024, 768, 1280, 1536],
  ],
  inverted: [[512, 1024, 1280, 256, 768]],
} as const;

/** Contents of lists without ties: two records can be the same only if no key is seen. */
function contentsOf(order: SmallOrder): readonly (readonly number[])[] {
  const plain = [1, 2, 3, 4, 5, 6];
  if (order === 'id') return [plain];
  return [plain, [1, 1, 3, 4, 5, 6], [1, 2, 3, 3, 5, 6], [1, 2, 3, 4, 5, 1]];
}

/** The same for lists of given keys: one at each key, and one between two. */
function deadOf({ keys = [], isDown }: Bound): number[] {
  const at = [...new Set(keys)];
  const dead = at.flatMap((key, no) => [key - (key - (at[no - 1] ?? 0)) / 2, key]);
  return [...dead, (at.at(-1) ?? 0) + 100].map(key => (isDown ? 2048 - key : key));
}

/** Rows of records that were gone before the run, at places where a key can be. */
const deadKeys = [128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1792];

/**
 * Plays every world within a bound: every list, mirror, sequence of changes and order of answers.
 *
 * @param isFirstEnough whether to stop when something is wrong.
 */
export function playEveryWorld(core: typeof Core, bound: Bound, isFirstEnough = false): Count {
  const count: Count = { worlds: 0, claims: new Map(), wrong: new Map(), smallest: new Map() };
  for (const [number, records] of listsOf(bound).entries()) {
    const pages = new Pages(core, identityOf(bound.order));
    const choices = new Choices(bound.oneOf, number);
    do {
      const world = new SmallWorld({ ...bound, records }, choices);
      const mirror = mirrorOf(records, bound, choices);
      const script = bound.anyPages === undefined ? {} : { script: scriptOf(bound, bound.anyPages, choices) };
      const options = { ...bound, ...script, identity: identityOf(bound.order) };
      choices.begin();
      const { night, rule, found } = playParts(core, mirror, world, pages, options, choices);
      if (world.hasCutAtTotal) enter(count, { rule: `${rule} (cut at its total)`, isProven: false }, [], []);
      else enter(count, { ...night.verdict, rule }, found, world.story);
      if (isFirstEnough && count.wrong.size > 0) return count;
    } while (choices.advance());
  }
  return count;
}

/** Pages of all sizes up to the largest, those that can have a record and one more. No page is asked for twice. */
function scriptOf({ largest, recordsMax }: Bound, count: number, choices: Choices): PageAddress[] {
  const pages: PageAddress[] = [];
  for (let size = 1; size <= largest; size++)
    for (let index = 0; index * size <= recordsMax; index++) pages.push({ index, size });
  const script: PageAddress[] = [];
  for (let left = count; left > 0; left--) {
    const [page] = pages.splice(choices.next(pages.length), 1);
    if (page !== undefined) script.push(page);
  }
  return script;
}

/** Counts a world. */
export function enter(
  count: Count,
  { rule, isProven }: { rule: string; isProven: boolean },
  found: readonly [Wrong, number][],
  story: Story,
): void {
  count.worlds++;
  if (isProven) add(count.claims, rule);
  for (const [what, record] of found) {
    const name = `${what}, by ${rule}`;
    add(count.wrong, name);
    const known = count.smallest.get(name);
    if (known === undefined || known.length > story.length + 1)
      count.smallest.set(name, [...story, `${what}: ${record}`]);
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function identityOf(order: SmallOrder): Identity {
  return hasIds(order) ? 'id' : 'content';
}

/** The lists, each once: lists that differ only by names are one. */
export function listsOf(bound: Bound): WorldRecord[][] {
  return allListsOf(bound).filter((_, at) => at % (bound.every ?? 1) === 0);
}

function allListsOf(bound: Bound): WorldRecord[][] {
  const { order, recordsMin, recordsMax, isDown, isPlain, lateness, keys } = bound;
  if (keys !== undefined)
    return (bound.outliers === 1 ? withOutlier : (all: number[][]) => all)(ordersOf(keys, lateness ?? 0)).map(
      list => list.map((key, at) => recordOf(order, isDown ? 2048 - key : key, at + 1)),
    );
  const whole: WorldRecord[][] =
    order === 'name' || order === 'inverted'
      ? listsByName[order].map(list => list.map((key, at) => recordOf(order, key, at + 1)))
      : order === 'ties'
        ? listsWithTies.map(list => list.map(([key, content], id) => ({ id, key: key * 256, content })))
        : contentsOf(isPlain === true ? 'id' : order).map(contents =>
            contents.map((content, at) => recordOf(order, (at + 1) * 256, content)),
          );
  const lists = new Map<string, WorldRecord[]>();
  for (const list of whole) {
    for (let count = recordsMin; count <= Math.min(recordsMax, list.length); count++) {
      const records = list.slice(0, count);
      if (isDown) records.reverse();
      lists.set(JSON.stringify(records), records);
    }
  }
  return [...lists.values()];
}

/** Every order of keys in which none is further than the lateness behind one before it. */
function ordersOf(keys: readonly number[], lateness: number): number[][] {
  if (keys.length === 0) return [[]];
  const least = Math.min(...keys);
  return [...keys.keys()]
    .filter(at => (keys[at] as number) <= least + lateness && keys.indexOf(keys[at] as number) === at)
    .flatMap(at => ordersOf(keys.toSpliced(at, 1), lateness).map(rest => [keys[at] as number, ...rest]));
}

/** The lists, and all in which one record is at another place; each once. */
function withOutlier(lists: number[][]): number[][] {
  const found = new Map<string, number[]>();
  for (const list of lists)
    for (const from of list.keys())
      for (const to of list.keys()) {
        const moved = list.toSpliced(from, 1).toSpliced(to, 0, list[from] as number);
        found.set(JSON.stringify(moved), moved);
      }
  return [...found.values()];
}

function recordOf(order: SmallOrder, key: number, content: number): WorldRecord {
  return {
    id: identityOf(order) === 'id' ? key : content,
    key: order === 'unseen' ? Number.NaN : key,
    content,
  };
}

/**
 * A mirror that knows nothing, or all that is listed and dead rows: one of them, or all. The decision on a row depends on the
 * answers and on no other row, so the mirrors that know some of the listed records are played with these.
 */
function mirrorOf(records: readonly WorldRecord[], bound: Bound, choices: Choices): Mirror {
  const { order, anyPages, isDown, lateness, isLearnt, areRowsTogether } = bound;
  const rows: Mirror['rows'] = new Map();
  const mirror: Mirror = {
    rows,
    learnt:
      order === 'name'
        ? 'none'
        : isLearnt
          ? {
              direction: isDown ? 'down' : 'up',
              lateness: lateness ?? 0,
              extraOverlap: 0,
              outliers: bound.outliers ?? 0,
            }
          : null,
    totalBefore: null,
  };
  const isRowAlone = order !== 'unseen' && anyPages === undefined && areRowsTogether !== true;
  const chosen = choices.next(
    isRowAlone ? (bound.keys === undefined ? deadKeys : deadOf(bound)).length + 2 : 2,
  );
  if (chosen === 0) return mirror;
  for (const record of records) {
    const row = rows.get(record.content);
    if (row === undefined) rows.set(record.content, { record, count: 1 });
    else row.count++;
  }
  const keys = records.map(({ key }) => key);
  for (const [at, key] of (bound.keys === undefined ? deadKeys : deadOf(bound)).entries()) {
    const isThere = chosen === 1 || !isRowAlone || at === chosen - 2;
    if (!isThere || (identityOf(order) === 'id' && keys.includes(key))) continue;
    const record = { ...recordOf(order, key, 50 + at), id: identityOf(order) === 'id' ? key : 50 + at };
    rows.set(record.content, { record, count: 1 });
  }
  return mirror;
}
