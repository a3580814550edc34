import type { Ask, PageAddress } from '../../../src/proof/window.ts';
import { Random } from '../../../src/sample/random.ts';
import type { NightService, Served } from './night.ts';
import type { WorldRecord } from './records.ts';

/** How a list changes while it is read. */
export const changeKinds = [
  'log with edits',
  'log with deletions',
  'edits only',
  'deletions only',
  'insertions at random places',
  'log that grows',
  'insertions and deletions',
  'sliding window',
  'queue',
  'moves',
] as const;
/** One of them. */
export type ChangeKind = (typeof changeKinds)[number];

/** The faults that a service can have. */
export const quirks = [
  'none',
  'cache from nights before',
  'replicas by address',
  'sizes cut in silence',
  'filter after paging',
  'no page beyond a number',
  'last page again',
  'stale totals',
  'empty for a night',
] as const;
/** One of them, or a service that gives one id to several records. */
export type Quirk = (typeof quirks)[number] | 'ids twice';

/**
 * How the records of a list are ordered: by their ids, by times that several share, or by something that nobody sees: `name` if they have
 * ids all the same.
 */
export type Order = 'id' | 'time' | 'unseen' | 'name';

/** The properties of a world. */
export interface WorldOptions {
  readonly order: Order;
  readonly kind: ChangeKind;
  readonly quirk: Quirk;
  /** Changes while one reading is made. */
  readonly rate: number;
  readonly count: number;
  readonly largest: number;
  /** Whether records of one time change places among themselves. */
  readonly isUnstable: boolean;
  /** How many of the records are equal to others, from 0 to 1. */
  readonly twinShare: number;
}

interface Living extends WorldRecord {
  readonly place: number;
}

/** A made-up service with one list. It knows which records were listed all through a run. */
export class RandomWorld implements NightService {
  readonly #random: Random;
  readonly #options: WorldOptions;
  readonly #isDown: boolean;
  readonly #cutTo: number;
  readonly #pagesServed: number;
  #list: Living[] = [];
  #nextId = 1;
  #nextContent = 1;
  #changesPerAnswer: number;
  /** By content, the smallest number of records that were listed at once since the run began. */
  #throughout = new Map<number, number>();
  #listed = new Set<number>();
  /** By content, how many are listed now. */
  readonly #now = new Map<number, number>();
  readonly #kept = new Map<string, Served>();
  #stale: Living[] = [];
  #night = 0;

  constructor(seed: number, options: WorldOptions) {
    this.#random = new Random(seed);
    this.#options = options;
    this.#isDown = this.#random.chance(0.5);
    this.#cutTo = Math.max(2, Math.floor(options.largest * 0.6));
    this.#pagesServed = this.#random.integer(2, 6);
    for (let at = 0; at < options.count; at++) this.#insert(this.#anyPlace());
    this.#changesPerAnswer = options.rate / Math.max(1, Math.ceil(options.count / options.largest));
  }

  get count(): number {
    return this.#list.length;
  }

  /** By content, how many were listed at every moment since the run began. */
  get throughout(): ReadonlyMap<number, number> {
    return this.#throughout;
  }

  /** The contents that were listed at any moment since the run began. */
  get listed(): ReadonlySet<number> {
    return this.#listed;
  }

  /** Lets some time go by, and begins a run. */
  beginNight(changes: number): void {
    this.#night++;
    this.#stale = [...this.#list];
    for (let change = 0; change < changes; change++) this.#changeOnce();
    this.#throughout = new Map(this.#now);
    this.#listed = new Set([...this.#now].filter(([, count]) => count > 0).map(([name]) => name));
  }

  change(): void {
    for (let left = this.#changesPerAnswer; left > 0; left--)
      if (this.#random.chance(left)) this.#changeOnce();
    if (this.#options.isUnstable && this.#random.chance(0.3)) this.#shuffleTies();
  }

  pick(underWay: number): number {
    return this.#random.integer(0, underWay - 1);
  }

  answer(address: Ask): Served {
    const { quirk } = this.#options;
    const text = `${address.index}/${address.sent ?? address.size}`;
    if (quirk === 'cache from nights before') {
      const kept = this.#kept.get(text);
      if (kept !== undefined) return kept;
      const served = this.#serve(this.#list, address);
      // A cache keeps about half of the pages, for longer than one night.
      if (this.#random.chance(0.5)) this.#kept.set(text, served);
      return served;
    }
    if (quirk === 'replicas by address') {
      const isLate = (address.index * 31 + (address.sent ?? address.size) * 17) % 3 === 0;
      return this.#serve(isLate ? this.#stale : this.#list, address);
    }
    return this.#serve(this.#list, address);
  }

  /** A cache that keeps a page for eight nights has forgotten it by then. */
  forgetPages(): void {
    this.#kept.clear();
  }

  #serve(list: readonly Living[], { index, size }: PageAddress): Served {
    const { quirk } = this.#options;
    const cut = (asked: number, page: number) => list.slice(page * asked, (page + 1) * asked);
    const total = list.length;
    switch (quirk) {
      case 'sizes cut in silence':
        return { records: cut(Math.min(size, this.#cutTo), index), total };
      case 'filter after paging':
        return {
          records: cut(size, index).filter(record => !this.#isHidden(record)),
          total: this.#filtered(total),
        };
      case 'no page beyond a number':
        return { records: index > this.#pagesServed ? [] : cut(size, index), total };
      case 'last page again': {
        const last = Math.max(0, Math.ceil(total / size) - 1);
        return { records: cut(size, Math.min(index, last)), total };
      }
      case 'empty for a night':
        return this.#night === 2 ? { records: [], total: 0 } : { records: cut(size, index), total };
      case 'stale totals':
        return { records: cut(size, index), total: this.#stale.length };
      default:
        return { records: cut(size, index), total };
    }
  }

  #filtered(total: number): number {
    return this.#random.chance(0.5) ? total : this.#list.filter(record => !this.#isHidden(record)).length;
  }

  /** A record that the service counts and never shows. */
  #isHidden({ content, place }: Living): boolean {
    const { quirk, count } = this.#options;
    // Half of the list is without them, so that some first pages are whole and the service is found out later.
    return quirk === 'filter after paging' && content % 5 === 0 && place > count / 2;
  }

  #changeOnce(): void {
    const { kind } = this.#options;
    const random = this.#random;
    const append = () => this.#insert(this.#lastPlace() + random.fraction());
    const isFirstHalf = random.chance(0.5);
    if (kind === 'log that grows') append();
    else if (kind === 'edits only') this.#edit();
    else if (kind === 'deletions only') this.#delete(random.integer(0, this.#list.length - 1));
    else if (kind === 'insertions at random places') this.#insert(this.#anyPlace());
    else if (kind === 'moves') this.#move();
    else if (kind === 'log with edits') isFirstHalf ? append() : this.#edit();
    else if (kind === 'log with deletions')
      isFirstHalf ? append() : this.#delete(random.integer(0, this.#list.length - 1));
    else if (kind === 'insertions and deletions')
      isFirstHalf ? this.#insert(this.#anyPlace()) : this.#delete(random.integer(0, this.#list.length - 1));
    else if (kind === 'queue')
      isFirstHalf ? append() : this.#delete(this.#isDown ? this.#list.length - 1 : 0);
    else {
      append();
      this.#delete(this.#isDown ? this.#list.length - 1 : 0);
    }
  }

  #anyPlace(): number {
    return this.#random.fraction() * Math.max(10, this.#options.count);
  }

  #lastPlace(): number {
    const newest = this.#isDown ? this.#list[0] : this.#list.at(-1);
    return newest?.place ?? 0;
  }

  /** Places lie on a line; ids and times are made of them. If keys are times, about every third place is shared. */
  #insert(at: number): void {
    const { order, count, quirk } = this.#options;
    const isShared =
      order === 'time' || quirk === 'ids twice' || (this.#options.isUnstable && order !== 'id');
    const place = isShared ? Math.round(at * (count > 200 ? 1 : 2)) / (count > 200 ? 1 : 2) : at;
    const key = this.#keyOf(place);
    const twin = this.#random.chance(this.#options.twinShare) ? this.#twinFor(key) : undefined;
    this.#put({
      id: this.#hasIds ? key : this.#nextId++,
      key,
      content: twin?.content ?? this.#nextContent++,
      place,
    });
  }

  get #hasIds(): boolean {
    return this.#options.order === 'id' || this.#options.order === 'name';
  }

  #keyOf(place: number): number {
    const { order } = this.#options;
    if (order === 'unseen') return Number.NaN;
    if (order === 'name') return this.#nextId++;
    return order === 'id' ? Math.round(place * 2 ** 30) : place;
  }

  /** A record that a new one with this key can be equal to. */
  #twinFor(key: number): Living | undefined {
    const { order } = this.#options;
    if (this.#hasIds || this.#list.length === 0) return undefined;
    if (order === 'time') return this.#list.find(other => other.key === key);
    return this.#list[this.#random.integer(0, this.#list.length - 1)];
  }

  #put(record: Living): void {
    const isAfter = (other: Living) =>
      this.#isDown ? other.place < record.place : other.place > record.place;
    let at = this.#list.findIndex(isAfter);
    if (at < 0) at = this.#list.length;
    if (this.#options.isUnstable) {
      while (at > 0 && this.#list[at - 1]?.place === record.place && this.#random.chance(0.5)) at--;
    }
    this.#list.splice(at, 0, record);
    this.#note(record, 1);
  }

  #delete(at: number): void {
    const [record] = this.#list.splice(at, 1);
    if (record !== undefined) this.#note(record, -1);
  }

  #edit(): void {
    if (this.#list.length === 0) return;
    const at = this.#random.integer(0, this.#list.length - 1);
    const record = this.#list[at] as Living;
    const edited = { ...record, content: this.#nextContent++ };
    this.#list[at] = edited;
    this.#note(edited, 1);
    this.#note(record, -1);
  }

  #move(): void {
    if (this.#list.length < 2) return;
    const [record] = this.#list.splice(this.#random.integer(0, this.#list.length - 1), 1) as [Living];
    const before = this.#throughout.get(this.nameOf(record));
    this.#note(record, -1);
    this.#put({ ...record, place: this.#anyPlace() });
    // It was listed all the time.
    if (before !== undefined) this.#throughout.set(this.nameOf(record), before);
  }

  #shuffleTies(): void {
    for (let at = 1; at < this.#list.length; at++) {
      const [before, record] = [this.#list[at - 1] as Living, this.#list[at] as Living];
      if (before.place !== record.place || this.#random.chance(0.5)) continue;
      this.#list[at - 1] = record;
      this.#list[at] = before;
    }
  }

  /** Notes that a record was added to the list, or removed from it. */
  #note(record: Living, step: 1 | -1): void {
    if (this.#isHidden(record)) return;
    const name = this.nameOf(record);
    const now = (this.#now.get(name) ?? 0) + step;
    this.#now.set(name, now);
    if (step === 1) this.#listed.add(name);
    else if (now < (this.#throughout.get(name) ?? 0)) this.#throughout.set(name, now);
  }

  /** The number that identifies a record. */
  nameOf({ id, content }: WorldRecord): number {
    return this.#hasIds ? id : content;
  }
}
