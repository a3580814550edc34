import { Random } from '../../../examples/sample-service/random.ts';
import { noFilter } from '../../../src/store/read/browsable.ts';
import { type Change, type ChangeKey, isAfter } from '../../../src/store/read/history/changes.ts';
import {
  CursorLost,
  feed,
  type Loss,
  type Position,
  positionText,
  readPosition,
} from '../../../src/store/read/history/feed.ts';
import {
  apply,
  type MadeBackup,
  type MadeChange,
  type MadeEvent,
  MadeMirror,
  madeResources,
} from '../../support/made-mirror.ts';

// A mirror with backups, restores and other runs with the same numbers, and consumers that follow it page by page. What a consumer has is
// compared with the model after each step: it is the beginning of the mirror's history, no more, no less, and nothing twice.

const stepsMax = 40;
const recordsMax = 6;

/** How often each thing happened, over all seeds: a simulation that plays nothing proves nothing. */
export type Played = Record<string, number>;

/** Plays some histories. */
export function playSeeds(first: number, count: number): Played {
  const played: Played = {};
  for (let seed = first; seed < first + count; seed++)
    try {
      playHistory(seed, played);
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error}`, { cause: error });
    }
  return played;
}

/** Plays a history; it throws what a consumer has wrong. */
function playHistory(seed: number, played: Played): void {
  const random = new Random(seed);
  // Of a history with gaps only the result can be compared.
  const hasGaps = random.chance(0.3);
  const backups: MadeBackup[] = [];
  let mirror = new MadeMirror();
  const consumers = [
    ...Array.from({ length: 3 }, () => new PagingConsumer(pickFilter(random, hasGaps), hasGaps, played)),
    new WholeConsumer(null, hasGaps, played),
    new BackwardConsumer(pickFilter(random, false), played),
  ];
  const note = (what: string) => {
    played[what] = (played[what] ?? 0) + 1;
  };
  const replace = (next: MadeMirror) => {
    mirror[Symbol.dispose]();
    mirror = next;
  };
  try {
    for (let steps = random.integer(10, stepsMax); steps > 0; steps--) {
      const what = random.fraction();
      if (what < 0.3) mirror.run(pickEvents(random));
      else if (what < 0.34) mirror.begin(pickEvents(random));
      else if (what < 0.38) mirror.end(random.pick(['completed', 'interrupted']));
      else if (what < 0.46) backups.push(mirror.backup());
      else if (what < 0.54 && backups.length > 0) {
        replace(new MadeMirror(random.pick(backups)));
        note('restored');
      } else if (what < 0.55) replace(new MadeMirror());
      else if (what < 0.6 && hasGaps) {
        const newest = mirror.log.at(-1)?.runId ?? 0;
        if (random.chance(0.7)) mirror.prune(random.integer(1, Math.max(1, newest)));
        else {
          mirror.begin(pickEvents(random), true);
          mirror.end();
        }
        note('gaps');
      } else random.pick(consumers).read(mirror, random);
    }
    mirror.end();
    for (const consumer of consumers)
      for (let pages = 0; !consumer.read(mirror, random); pages++)
        if (pages > 500) throw new Error('A consumer gets to no end.');
  } finally {
    mirror[Symbol.dispose]();
  }
}

function pickEvents(random: Random): MadeEvent[] {
  return Array.from({ length: random.integer(0, 5) }, () => ({
    resource: random.pick(madeResources),
    id: random.integer(1, recordsMax),
    kind: random.pick(['put', 'put', 'put', 'remove', 'replace']),
    name: `name ${random.integer(1, 4)}`,
  }));
}

/** What a consumer wants of the changes; null is all. */
type Wanted = Partial<Pick<MadeChange, 'resource' | 'operation' | 'name'>> | null;

function pickFilter(random: Random, isOfListsAlone: boolean): Wanted {
  const resource = { resource: random.pick(madeResources) };
  if (isOfListsAlone) return random.pick([null, resource]);
  return random.pick([
    null,
    null,
    resource,
    { operation: random.pick(['insert', 'update', 'removal']) },
    { name: `name ${random.integer(1, 4)}` },
  ]);
}

abstract class Consumer {
  readonly #wanted;
  readonly played;
  /** The text of its cursor; null before the first page, and when it begins after `sinceRun`. */
  cursor: string | null = null;
  sinceRun = 0;
  got: MadeChange[] = [];

  constructor(wanted: Wanted, played: Played) {
    this.#wanted = wanted;
    this.played = played;
  }

  get filter() {
    if (this.#wanted === null) return undefined;
    const { name, ...own } = this.#wanted;
    return { ...noFilter, resource: null, operation: null, run: null, q: name ?? '', ...own };
  }

  /** Those of the mirror's changes that it wants. */
  expected(mirror: MadeMirror): MadeChange[] {
    const { resource, operation, name } = this.#wanted ?? {};
    return mirror.log.filter(
      change =>
        (resource ?? change.resource) === change.resource &&
        (operation ?? change.operation) === change.operation &&
        change.name.includes(name ?? ''),
    );
  }

  /** Opens the feed where it is; if its past is not the mirror's, where both agree. */
  open(mirror: MadeMirror, random: Random, isDescending = false) {
    const changes = feed(mirror.sqlite, this.filter);
    if (this.cursor === null) return changes.since(this.sinceRun);
    const position = this.#position(random, isDescending);
    try {
      return changes.from(position);
    } catch (error) {
      if (!(error instanceof CursorLost)) throw error;
      this.note(error.loss.kind);
      this.onLoss(error.loss);
      this.cursor = null;
      return changes.since(this.sinceRun);
    }
  }

  note(what: string): void {
    this.played[what] = (this.played[what] ?? 0) + 1;
  }

  /** The position of its cursor, which now and then is one of docmirror 0.4. */
  #position(random: Random, isDescending: boolean): Position {
    let text = this.cursor ?? '';
    const { since, begunAfter, after, ...rest } = JSON.parse(text);
    // It did not know of a rebuild before it began.
    if (random.chance(0.1) && after !== null && begunAfter === undefined) {
      const { leafHash: _hash, ...key } = after;
      // The newest first, it had the run after which it began.
      const begun = since === undefined ? {} : { runId: since, leafIndex: null, leafHash: null, earlier: [] };
      text = JSON.stringify({ ...rest, ...begun, after: key });
      this.note('cursors of 0.4');
      this.onRepeat(since === undefined ? rest.runId : since);
    }
    const position = readPosition(text, isDescending);
    if (position === null) throw new Error(`The cursor ${text} is not read.`);
    return position;
  }

  /** Forgets what is delivered once more: changes of later runs than this one. */
  onRepeat(sinceRunId: number): void {
    this.got = this.got.filter(({ runId }) => runId <= sinceRunId);
  }

  onLoss({ sharedRunId }: Loss): void {
    this.sinceRun = sharedRunId;
    this.onRepeat(sharedRunId);
  }

  /** Takes some changes, and moves its cursor. */
  take(mirror: MadeMirror, changes: Iterable<Change>, next: Position): void {
    for (const change of changes) this.got.push(madeOf(change));
    this.cursor = positionText(mirror.sqlite, next);
  }

  /** Reads once. True if it has everything. */
  abstract read(mirror: MadeMirror, random: Random): boolean;
}

function madeOf({ runId, resource, recordId, operation, record }: Change): MadeChange {
  const { name, description }: Record<string, string> = JSON.parse(record ?? '{}');
  const found = madeResources.find(each => each === resource);
  if (found === undefined) throw new Error(`There is no change of ${resource}.`);
  return { runId, resource: found, recordId, operation, name: name ?? description ?? '' };
}

/** A consumer of the oldest changes first. */
abstract class ForwardConsumer extends Consumer {
  readonly #hasGaps;

  constructor(wanted: Wanted, hasGaps: boolean, played: Played) {
    super(wanted, played);
    this.#hasGaps = hasGaps;
  }

  override onLoss(loss: Loss): void {
    super.onLoss(loss);
    // What the mirror itself has no longer can't be got by going on.
    if (loss.kind !== 'rebuilt' && loss.kind !== 'pruned') return;
    this.sinceRun = 0;
    this.got = [];
  }

  check(mirror: MadeMirror, isComplete: boolean): boolean {
    assertOnce(this.got, isAfter);
    const expected = this.expected(mirror);
    if (this.#hasGaps) {
      if (isComplete) assertEqual(namesOf(this.got), namesOf(expected), 'the copy');
    } else {
      assertEqual(this.got, expected.slice(0, this.got.length), 'what it has');
      if (isComplete) assertEqual(this.got.length, expected.length, 'how many it has');
    }
    this.note(isComplete ? 'complete' : 'pages');
    return isComplete;
  }
}

/** As programs read over HTTP. */
class PagingConsumer extends ForwardConsumer {
  read(mirror: MadeMirror, random: Random): boolean {
    const { changes, next, isComplete } = this.open(mirror, random).upTo(random.integer(1, 4));
    this.take(mirror, changes, next);
    return this.check(mirror, isComplete);
  }
}

/** As `changes --next` reads, now and then with --until-run. */
class WholeConsumer extends ForwardConsumer {
  read(mirror: MadeMirror, random: Random): boolean {
    const ended = mirror.sqlite
      .prepare<[], number>("SELECT id FROM sync_runs WHERE status <> 'running' ORDER BY id")
      .pluck()
      .all();
    const newest = ended.at(-1) ?? 0;
    const until = random.chance(0.3) && ended.length > 0 ? random.pick(ended) : newest;
    const { changes, next } = this.open(mirror, random).through(until);
    this.take(mirror, changes, next);
    return this.check(mirror, until === newest);
  }
}

/** The newest first, back to the first run. It begins again if its past is not the mirror's. */
class BackwardConsumer extends Consumer {
  #expected: MadeChange[] = [];

  override onRepeat(): void {
    this.sinceRun = 0;
    this.got = [];
  }

  read(mirror: MadeMirror, random: Random): boolean {
    const opened = this.open(mirror, random, true);
    if (this.got.length === 0) this.#expected = this.expected(mirror).reverse();
    const { changes, next, isComplete } = opened.newestFirst(random.integer(1, 4));
    this.take(mirror, changes, next);
    assertOnce(this.got, (change, before) => isAfter(before, change));
    // What a pruning or a rebuild took away meanwhile is no longer there to be read.
    const has = new Set(this.got.map(each => JSON.stringify(each)));
    const all = this.#expected.map(each => JSON.stringify(each));
    for (const each of has)
      if (!all.includes(each)) throw new Error(`Newest first, it has ${each}, which was not listed.`);
    if (isComplete && mirror.isWhole) assertEqual(has.size, all.length, 'newest first, how many it has');
    this.note('newest first');
    return isComplete;
  }
}

function assertOnce(
  got: readonly ChangeKey[],
  follows: (change: ChangeKey, before: ChangeKey) => boolean,
): void {
  for (const [at, change] of got.entries()) {
    const before = got[at - 1];
    if (before !== undefined && !follows(change, before))
      throw new Error(`After ${JSON.stringify(before)} comes ${JSON.stringify(change)}.`);
  }
}

function namesOf(changes: readonly MadeChange[]): [string, string][] {
  const names = new Map<string, string>();
  for (const change of changes) apply(names, change);
  return [...names].sort();
}

function assertEqual(found: unknown, wanted: unknown, what: string): void {
  const [one, other] = [found, wanted].map(each => JSON.stringify(each));
  if (one !== other) throw new Error(`A consumer is wrong about ${what}: ${one}, not ${other}`);
}
