import { Instants } from './instants.ts';
import { type Contents, contentOf, type Entry } from './records.ts';
import type { ListName } from './scenario.ts';

/** One list of the service, and how many records of each content have stood in it and when. */
export class ServiceList {
  readonly name: ListName;
  readonly entries: Entry[] = [];
  /** Records that were listed once. */
  readonly gone: Entry[] = [];
  /** How many records there were after each change. */
  readonly sizes: number[] = [0];
  /** Contents that were ever listed. */
  readonly ever = new Set<string>();
  #now = new Map<string, number>();
  #least = new Map<string, number>();
  #most = new Map<string, number>();
  #instants = new Instants(new Map());

  constructor(name: ListName) {
    this.name = name;
  }

  /** Contents that stand in the list now. */
  get now(): Contents {
    return this.#now;
  }

  /** Since the run began: how many of each content stood in the list at every instant, at the least. */
  get least(): Contents {
    return this.#least;
  }

  /** Since the run began: the most of each content that stood in the list at one instant. */
  get most(): Contents {
    return this.#most;
  }

  /** How the list stood since the run began. */
  get instants(): Instants {
    return this.#instants;
  }

  /** Begins to count `least` and `most` anew, and to note the instants. */
  beginRun(): void {
    this.#instants = new Instants(new Map(this.#now));
    this.#least = new Map(this.#now);
    this.#most = new Map(this.#now);
  }

  insert(entry: Entry, at: number): void {
    this.entries.splice(at, 0, entry);
    this.#instants.note(null, this.#enter(entry));
    this.sizes.push(this.entries.length);
  }

  remove(at: number): void {
    const [entry] = this.entries.splice(at, 1);
    if (entry === undefined) return;
    this.gone.push(entry);
    this.#instants.note(this.#leave(entry), null);
    this.sizes.push(this.entries.length);
  }

  /** Gives a record another content at its place; the old one is a bygone record. */
  replace(at: number, entry: Entry): void {
    const before = this.entries[at];
    if (before === undefined || contentOf(this.name, before) === contentOf(this.name, entry)) return;
    this.entries[at] = entry;
    this.#instants.note(this.#leave(before), this.#enter(entry));
    this.sizes.push(this.entries.length);
  }

  move(at: number, to: number): void {
    this.entries.splice(to, 0, ...this.entries.splice(at, 1));
    this.sizes.push(this.entries.length);
  }

  /** Puts all records in another order, by their ranks. */
  reorder(rank: (entry: Entry, at: number) => number): void {
    const ranks = new Map(this.entries.map((entry, at) => [entry, rank(entry, at)]));
    this.entries.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
    this.sizes.push(this.entries.length);
  }

  #enter(entry: Entry): string | null {
    const content = contentOf(this.name, entry);
    if (content === null) return null;
    const count = (this.#now.get(content) ?? 0) + 1;
    this.#now.set(content, count);
    this.#most.set(content, Math.max(count, this.#most.get(content) ?? 0));
    this.ever.add(content);
    return content;
  }

  #leave(entry: Entry): string | null {
    const content = contentOf(this.name, entry);
    if (content === null) return null;
    const count = (this.#now.get(content) ?? 0) - 1;
    if (count === 0) this.#now.delete(content);
    else this.#now.set(content, count);
    this.#least.set(content, Math.min(count, this.#least.get(content) ?? 0));
    return content;
  }
}
