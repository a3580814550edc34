import type { PageAddress } from '../../../src/proof/answers.ts';
import type { Choices } from './choices.ts';
import { comingAgain, ofOtherNode, otherwise } from './coming-again.ts';
import type { NightService, Served } from './night.ts';
import { type Counts, type Moment, type Truth, truthOf } from './oracle.ts';
import type { WorldRecord } from './records.ts';
import { type ServiceOptions, SmallService } from './small-service.ts';

/**
 * How the records of a small list are ordered.
 *
 * - `ties`: by times that several share.
 * - `name`: they have ids, and are in another order.
 * - `inverted`: they look as if they were in the order of their ids.
 */
export type SmallOrder = 'id' | 'ties' | 'unseen' | 'name' | 'inverted';

/** Whether records have ids. */
export function hasIds(order: SmallOrder): boolean {
  return order === 'id' || order === 'name' || order === 'inverted';
}

/** A small list and what can happen to it. */
export interface SmallWorldOptions extends ServiceOptions {
  readonly order: SmallOrder;
  readonly records: readonly WorldRecord[];
  /** True if the keys fall along the list. */
  readonly isDown: boolean;
  readonly changesMax: number;
  /** How many of the changes can be moves; all if left out. */
  readonly movesMax?: number;
  /** True if records are only inserted and deleted (and moved), and no two are the same. */
  readonly isPlain?: boolean;
  /** Whether a record that went can come again, as it was or with another text: then its id is given again. */
  readonly comesAgain?: boolean;
  /** Whether a record can be exported again: its key is then greater than all others, so it moves to that end. */
  readonly isExportedAgain?: boolean;
  /** Whether another node can answer from now on, which writes all texts in its own way; that is a change, too. */
  readonly hasTwoNodes?: boolean;
  /** Whether records come only where the newest are. */
  readonly growsAtEnd?: boolean;
  /** How far keys can be behind; 0 if it is left out. */
  readonly lateness?: number;
  /** Whether neighbours change places if they are not further apart than that. */
  readonly isUnstable?: boolean;
}

/** The events of a world, for a person to read. */
export type Story = string[];

/** A list of a few records to which everything happens that can happen, one way at a time. */
export class SmallWorld implements NightService {
  readonly #options: SmallWorldOptions;
  readonly #choices: Choices;
  readonly story: Story = [];
  readonly #service: SmallService;
  /** What was listed at each moment of the world. */
  readonly #moments: Moment[] = [];
  /** The moment at which the run began. */
  #begin = 0;
  /** True as long as nothing has changed since the run began. */
  isStill = true;
  #list: WorldRecord[];
  /** The moment at which the last answer began. */
  answerBegan = 0;
  /** The lists since the answer before, the one of that moment included. */
  #recent: WorldRecord[][];
  /** Records that went. */
  readonly #gone: WorldRecord[] = [];
  #isOtherNode = false;
  /** The lists that one change can make of the present one; null until they are asked for. */
  #possible: WorldRecord[][] | null = null;
  #changesLeft: number;
  #moveCount = 0;
  #movesLeft: number;
  #nextNumber = 100;

  constructor(options: SmallWorldOptions, choices: Choices) {
    this.#options = options;
    this.#choices = choices;
    this.#list = [...options.records];
    this.#recent = [this.#list];
    this.#changesLeft = options.changesMax;
    this.#movesLeft = options.movesMax ?? options.changesMax;
    this.#service = new SmallService(options, this.#list, choices);
    this.#moments.push(this.#momentOfNow());
    this.story.push(`list ${this.#said(this.#list)}`);
  }

  change(): void {
    while (this.#changesLeft > 0) {
      this.#possible ??= this.#changes();
      const changes = this.#possible;
      const { hasTwoNodes = false } = this.#options;
      const chosen = this.#choices.next(changes.length + 1 + Number(hasTwoNodes));
      if (chosen === 0) return;
      this.#changesLeft--;
      if (chosen > changes.length) {
        this.#isOtherNode = !this.#isOtherNode;
        continue;
      }
      this.isStill = false;
      if (chosen > changes.length - this.#moveCount) this.#movesLeft--;
      const before = this.#list;
      this.#list = changes[chosen - 1] as WorldRecord[];
      this.#possible = null;
      const listed = new Set(this.#list.map(({ id }) => id));
      this.#gone.push(...before.filter(({ id }) => !listed.has(id)));
      this.#moments.push(this.#momentOfNow());
      this.#recent.push(this.#list);
      this.story.push(`now ${this.#said(this.#list)}`);
    }
  }

  /** The run begins only now: what happened before is not part of it. */
  beginRun(): void {
    this.#begin = this.moment;
    this.isStill = true;
    this.#recent = [this.#list];
    this.story.push('the run begins');
  }

  /** Whether the service has cut a page where a wrong total ends. */
  get hasCutAtTotal(): boolean {
    return this.#service.hasCutAtTotal;
  }

  /** The number of the present moment. */
  get moment(): number {
    return this.#moments.length - 1;
  }

  /** What was listed since the run began. */
  get truth(): Truth {
    return this.since(this.#begin);
  }

  /** What was listed since a moment. */
  since(moment: number): Truth {
    const truth = truthOf(this.#moments.slice(moment), this.nameOf);
    // With another key it is another record of the mirror, and both can be in it.
    if (this.#options.isExportedAgain === true)
      for (const name of truth.listed) truth.most.set(name, Number.POSITIVE_INFINITY);
    return truth;
  }

  /** Records of now that were listed at every moment since the run began. */
  listedAllTheTime(): WorldRecord[] {
    const { throughout } = this.truth;
    return this.#list.filter(record => (throughout.get(this.nameOf(record)) ?? 0) > 0);
  }

  pick(underWay: number): number {
    return underWay === 1 ? 0 : this.#choices.next(underWay);
  }

  answer({ index, size }: PageAddress): Served {
    const ways = this.#service.hasTwoStatements ? this.#recent.length : 1;
    const first = ways === 1 ? 0 : this.#choices.next(ways);
    const before = ways === 1 ? this.#list : (this.#recent[first] as WorldRecord[]);
    this.answerBegan =
      this.moment - (this.#recent.length - 1 - (ways === 1 ? this.#recent.length - 1 : first));
    this.#recent = [this.#list];
    if (before !== this.#list) this.story.push(`the first statement saw ${this.#said(before)}`);
    const { records, total, pageCount } = this.#service.serve(this.#list, { index, size }, before);
    const served = { records: this.#isOtherNode ? records.map(otherwise) : records, total, pageCount };
    this.story.push(`page ${index} of ${size}: ${this.#said(served.records)}, total ${served.total}`);
    return served;
  }

  /** The number that identifies a record. */
  readonly nameOf = ({ id, content, identity }: WorldRecord): number =>
    hasIds(this.#options.order) ? id : (identity ?? content);

  /** Every list that one change can make of this one. */
  #changes(): WorldRecord[][] {
    const list = this.#list;
    const made: WorldRecord[][] = [];
    for (const [at, record] of list.entries()) {
      made.push(list.toSpliced(at, 1));
      if (this.#options.isPlain !== true)
        made.push(
          list.toSpliced(at, 1, {
            ...record,
            content: this.#nextNumber++,
            identity: record.identity ?? record.content,
            before: record.content,
          }),
        );
      // An edit is taken back.
      if (this.#options.isPlain !== true && record.before !== undefined)
        made.push(list.toSpliced(at, 1, { ...record, content: record.before, before: record.content }));
    }
    for (let at = 0; at <= list.length; at++) {
      if (this.#options.growsAtEnd === true && at !== (this.#options.isDown ? 0 : list.length)) continue;
      const inserted =
        this.#options.lateness === undefined
          ? this.#inserted(list[at - 1], list[at])
          : this.#insertedNear(at);
      for (const record of inserted) made.push(list.toSpliced(at, 0, record));
    }
    made.push(...comingAgain(list, this.#gone, this.#options, () => this.#nextNumber++));
    for (let at = 1; at < list.length; at++) {
      const [before, record] = [list[at - 1] as WorldRecord, list[at] as WorldRecord];
      const isNear =
        this.#options.isUnstable && Math.abs(before.key - record.key) <= (this.#options.lateness ?? 0);
      const isTie = this.#options.order === 'ties' && before.key === record.key;
      if ((isTie || isNear) && before.content !== record.content)
        made.push(list.toSpliced(at - 1, 2, record, before));
    }
    const isUnseen = this.#options.order === 'unseen' || this.#options.order === 'name';
    const moved = isUnseen && this.#movesLeft > 0 ? this.#moved() : [];
    this.#moveCount = moved.length;
    made.push(...moved);
    return made;
  }

  #moved(): WorldRecord[][] {
    const list = this.#list;
    return list.flatMap((record, from) => {
      const others = list.toSpliced(from, 1);
      // A move by one place is the same as that of its neighbour.
      const places = [...Array(list.length).keys()].filter(to => to !== from && to !== from - 1);
      return places.map(to => others.toSpliced(to, 0, record));
    });
  }

  /** New records that can come between two: with a key of their own or, if keys can be shared, that of a neighbour. One is a twin. */
  #inserted(before: WorldRecord | undefined, after: WorldRecord | undefined): WorldRecord[] {
    const { order, isDown } = this.#options;
    const number = this.#nextNumber++;
    const twins = before === undefined || this.#options.isPlain === true ? [] : [{ ...before, id: number }];
    if (order === 'unseen') return [{ id: number, key: Number.NaN, content: number }, ...twins];
    if (order === 'inverted') return [];
    if (order === 'name') return [{ id: number, key: number, content: number }];
    const [low, high] = isDown ? [after, before] : [before, after];
    const key = ((low?.key ?? 0) + (high?.key ?? (low?.key ?? 0) + 1024)) / 2;
    if (order === 'id') return [{ id: key, key, content: number }];
    const shared = new Set([before, after].flatMap(record => (record === undefined ? [] : [record.key])));
    const own = low !== undefined && low.key === high?.key ? [] : [{ id: number, key, content: number }];
    return [...own, ...[...shared].map(other => ({ id: number, key: other, content: number })), ...twins];
  }

  /** New records that can come at a place of a list that is almost in order: as early and as late as their keys can be, and one in between. */
  #insertedNear(at: number): WorldRecord[] {
    const { order, isDown, lateness = 0 } = this.#options;
    const sign = isDown ? -1 : 1;
    const keys = this.#list.map(({ key }) => sign * key);
    const number = this.#nextNumber++;
    const least = Math.max(...keys.slice(0, at), Number.NEGATIVE_INFINITY) - lateness;
    const most = Math.min(...keys.slice(at), Number.POSITIVE_INFINITY) + lateness;
    const low = Number.isFinite(least) ? least : most - 2 * lateness - 512;
    const high = Number.isFinite(most) ? most : least + 2 * lateness + 512;
    const isId = order === 'id';
    const found = [low, (low + high) / 2, high].map(key => sign * key);
    // An id is on no other record, so it is a little off.
    const made = isId ? found.map(key => (keys.includes(sign * key) ? Number.NaN : key)) : found;
    if (isId) made.push(...[low + 1, high - 1].map(key => sign * key));
    return [...new Set(made)]
      .filter(key => !Number.isNaN(key) && !(isId && keys.includes(sign * key)))
      .filter(key => sign * key >= least && sign * key <= most)
      .map((key, no) => ({ id: isId ? key : number * 10 + no, key, content: number * 10 + no }));
  }

  #momentOfNow(): Moment {
    const counts: Counts = new Map();
    for (const record of this.#list) {
      if (!this.#service.isVisible(record)) continue;
      const name = this.nameOf(record);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return { counts, texts: this.#list.flatMap(({ content }) => [content, content + ofOtherNode]) };
  }

  #said(records: readonly WorldRecord[]): string {
    return `[${records.map(({ key, content }) => (Number.isNaN(key) ? content : `${content}@${key}`)).join(' ')}]`;
  }
}
