import { type Contents, contentOf, type Entry } from './records.ts';
import type { ListName } from './scenario.ts';

/** One change: what left and what entered by it, null if nothing did. A record that moves is gone for an instant. */
interface Step {
  readonly left: string | null;
  readonly entered: string | null;
}

/** How many of each content were listed in a extraOverlap of time: the least and the most at one instant. */
export interface Lifetimes {
  readonly least: Contents;
  readonly most: Contents;
}

/** How many versions of a list are kept, for replicas that lag. */
const versionsKept = 10;

/** One list of the service, and how many records of each content were in it and when. */
export class ServiceList {
  readonly name: ListName;
  readonly entries: Entry[] = [];
  /** Records that were listed once. */
  readonly gone: Entry[] = [];
  /** Contents that were ever listed. */
  readonly ever = new Set<string>();
  /** By `uid`, the last readable contents of records that became unreadable since the last run ended. */
  readonly broken = new Map<number, string>();
  readonly #now = new Map<string, number>();
  readonly #steps: Step[] = [];
  /** The newest versions, the newest one last. */
  #versions: (readonly Entry[])[] = [[]];
  /** The number of changes before the run began. */
  #runBegan = 0;
  /** The same before the oldest answer of the reading was made. */
  #oldestAnswer = 0;

  constructor(name: ListName) {
    this.name = name;
  }

  /** Contents that are in the list now. */
  get now(): Contents {
    return this.#now;
  }

  /** How many changes there were. */
  get version(): number {
    return this.#steps.length;
  }

  /** True if nothing has changed since the run began. */
  get isStill(): boolean {
    return this.version === this.#runBegan;
  }

  /** The list as it was some changes ago, and its version then. */
  before(changes: number): { readonly entries: readonly Entry[]; readonly version: number } {
    const back = Math.min(changes, this.#versions.length - 1);
    return { entries: this.#versions.at(-1 - back) ?? [], version: this.version - back };
  }

  /** @param goesOn whether the run goes on with a reading that ended early: then its answers count as well. */
  beginRun(goesOn: boolean): void {
    this.#runBegan = this.version;
    if (!goesOn) this.#oldestAnswer = this.version;
  }

  endRun(): void {
    this.broken.clear();
  }

  /** Notes that an answer of this run shows a version of the list. */
  noteAnswer(version: number): void {
    this.#oldestAnswer = Math.min(this.#oldestAnswer, version);
  }

  /** Whether two records of one identity are listed now. */
  get hasTwins(): boolean {
    return this.recordsIn(this.#now)
      .values()
      .some(count => count > 1);
  }

  /** How many there are of each record, whatever its text is. Two exports of one identity are one record that is there twice. */
  recordsIn(contents: Contents): Contents {
    const counts = new Map<string, number>();
    for (const [content, count] of contents) {
      const name = this.recordOf(content);
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
    return counts;
  }

  /** The lifetimes of records: an edit does not end one. */
  lifetimesOfRecords(): Lifetimes {
    const recordOf = (content: string | null) => (content === null ? null : this.recordOf(content));
    const steps = this.#steps.slice(this.#oldestAnswer).flatMap(step => {
      const [left, entered] = [recordOf(step.left), recordOf(step.entered)];
      return left === entered && step.left !== step.entered ? [] : [{ left, entered }];
    });
    return lifetimesOf(this.recordsIn(this.#now), steps);
  }

  /** The lifetimes since the run began or, if a cache or a replica gave an older answer, since then. */
  lifetimes(): Lifetimes {
    return lifetimesOf(this.#now, this.#steps.slice(this.#oldestAnswer));
  }

  /** How many records with the identity of this content were listed at once in that time. Unreadable ones do not count. */
  mostOfIdentity(content: string): number {
    const identity = identityOf(content);
    const size = (one: string | null) => (one !== null && identityOf(one) === identity ? 1 : 0);
    let count = 0;
    for (const [one, times] of this.#now) count += times * size(one);
    let most = count;
    for (const { left, entered } of this.#steps.slice(this.#oldestAnswer).reverse()) {
      count += size(left) - size(entered);
      most = Math.max(most, count);
    }
    return most;
  }

  insert(entry: Entry, at: number): void {
    this.entries.splice(at, 0, entry);
    this.#note(null, this.#enter(entry));
  }

  remove(at: number): void {
    const [entry] = this.entries.splice(at, 1);
    if (entry === undefined) return;
    this.broken.delete(entry.uid);
    this.gone.push(entry);
    this.#note(this.#leave(entry), null);
  }

  /** Gives a record another content at its place; the old one is then a removed record. */
  replace(at: number, entry: Entry): void {
    const before = this.entries[at];
    if (before === undefined || contentOf(this.name, before) === contentOf(this.name, entry)) return;
    this.entries[at] = entry;
    const left = this.#leave(before);
    // Nobody can know a record by what it says no more, or by what it said while no answer showed it.
    const isNew = this.#steps.slice(this.#runBegan).some(step => step.entered === left && step.left !== left);
    if (!entry.isBroken || before.key !== entry.key || (left && isNew)) this.broken.delete(entry.uid);
    else if (left !== null) this.broken.set(entry.uid, left);
    this.#note(left, this.#enter(entry));
  }

  move(at: number, to: number): void {
    const [entry] = this.entries.splice(at, 1);
    if (entry === undefined) return;
    this.entries.splice(to, 0, entry);
    const content = contentOf(this.name, entry);
    this.#note(content, content);
  }

  /** Puts all records in another order, by their ranks. */
  reorder(rank: (entry: Entry, at: number) => number): void {
    const ranks = new Map(this.entries.map((entry, at) => [entry, rank(entry, at)]));
    this.entries.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
    for (const entry of this.entries) {
      const content = contentOf(this.name, entry);
      this.#note(content, content);
    }
  }

  /** In a list with ids, a record is its id. */
  recordOf(content: string): string {
    if (this.name === 'document-exports') return identityOf(content);
    return String((JSON.parse(content) as unknown[])[0]);
  }

  #note(left: string | null, entered: string | null): void {
    this.#steps.push({ left, entered });
    this.#versions.push([...this.entries]);
    if (this.#versions.length > versionsKept) this.#versions = this.#versions.slice(-versionsKept);
  }

  #enter(entry: Entry): string | null {
    const content = contentOf(this.name, entry);
    if (content === null) return null;
    this.#now.set(content, (this.#now.get(content) ?? 0) + 1);
    this.ever.add(content);
    return content;
  }

  #leave(entry: Entry): string | null {
    const content = contentOf(this.name, entry);
    if (content === null) return null;
    const count = (this.#now.get(content) ?? 0) - 1;
    if (count === 0) this.#now.delete(content);
    else this.#now.set(content, count);
    return content;
  }
}

/** All that an export says but its title, which can be edited. */
function identityOf(content: string): string {
  return JSON.stringify((JSON.parse(content) as unknown[]).toSpliced(1, 1));
}

/** The lifetimes in a extraOverlap of time, by its end and the changes until then. */
function lifetimesOf(now: Contents, steps: readonly Step[]): Lifetimes {
  const counts = new Map(now);
  const least = new Map(now);
  const most = new Map(now);
  const add = (content: string | null, step: 1 | -1) => {
    if (content === null) return;
    const count = (counts.get(content) ?? 0) + step;
    counts.set(content, count);
    least.set(content, Math.min(count, least.get(content) ?? 0));
    most.set(content, Math.max(count, most.get(content) ?? 0));
  };
  for (const { left, entered } of steps.toReversed()) {
    add(entered, -1);
    add(left, 1);
  }
  return { least, most };
}
