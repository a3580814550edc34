import { eachList } from './mirror-rows.ts';
import { type Entry, hashOf, keyStep, tieOf } from './records.ts';
import {
  type Change,
  type ListName,
  type ListScenario,
  listNames,
  plainList,
  type Scenario,
  type Traffic,
} from './scenario.ts';
import { ServiceList } from './service-list.ts';

/** The lists in the order in which their word on a connection's name counts. */
const listsByWeight: readonly ListName[] = ['collections', 'webhooks', 'document-exports'];
const wordings = ['none', 'own', 'plain'] as const;
type Wording = (typeof wordings)[number];
/** The most records that a list grows to: a service that outgrows every reader proves nothing. */
const sizeMax = 600;

/** The service's lists and connections, as they are now and as they change. */
export class World {
  readonly lists: Readonly<Record<ListName, ServiceList>>;
  readonly #plans: Readonly<Record<ListName, ListScenario>>;
  /** How often each connection was renamed. */
  readonly #renames = new Map<number, number>();
  /** How a list words a connection's name, if it does not simply give it. */
  readonly #wordings = new Map<string, Wording>();
  readonly #synced: readonly ListName[];
  readonly #connectionCount: number;
  /** What emptied lists lack, the oldest last. */
  readonly #toFill = new Map<ListName, Entry[]>();
  #areNamesStill = true;
  #nextKey = keyStep * 10_000;
  #nextUid = 0;

  constructor({ lists, synced, connections }: Pick<Scenario, 'lists' | 'synced' | 'connections'>) {
    this.#synced = synced;
    this.#connectionCount = connections;
    const planOf = (name: ListName) => (synced.includes(name) ? lists[name] : plainList);
    this.#plans = eachList(planOf);
    this.lists = eachList(name => this.#fill(new ServiceList(name)));
  }

  /** The name that a list gives a connection now; null if it gives none. */
  nameOf(list: ListName, id: number): string | null {
    const wording = this.#wordings.get(`${list} ${id}`) ?? 'plain';
    const name = `C${id} v${this.#renames.get(id) ?? 0}`;
    if (wording === 'plain') return name;
    return wording === 'none' ? null : `${name} of ${list}`;
  }

  /** The names of the connections that records refer to now, by id. If several lists give one, the list that counts most wins. */
  connectionNames(): Map<number, string | null> {
    const names = new Map<number, string | null>();
    for (const list of listsByWeight) {
      const seen = this.lists[list].entries.filter(({ isHidden }) => !isHidden);
      const ids = new Set(seen.flatMap(entry => entry.connections));
      for (const id of ids) names.set(id, names.get(id) ?? this.nameOf(list, id));
    }
    return names;
  }

  /** True if nothing has changed since the run began. */
  get isStill(): boolean {
    return this.#areNamesStill && listNames.every(name => this.lists[name].isStill);
  }

  /** @param goesOn the lists whose reading ended early in the run before. */
  beginRun(goesOn: ReadonlySet<ListName> = new Set()): void {
    this.#areNamesStill = true;
    for (const name of listNames) this.lists[name].beginRun(goesOn.has(name));
  }

  /** Takes what can't be read out of all lists. */
  mend(): void {
    for (const name of listNames) {
      const { entries } = this.lists[name];
      for (let at = entries.length - 1; at >= 0; at--) if (entries[at]?.isBroken) this.lists[name].remove(at);
    }
  }

  /** One change of a list by itself; `number` draws the place. */
  pass(name: ListName, kind: Traffic['kind'], number: number): void {
    const list = this.lists[name];
    const { length } = list.entries;
    const isDown = this.#plans[name].order === 'down';
    const drawn = modulo(hashOf(number), Math.max(1, length));
    const [end, oldest] = isDown ? [0, length - 1] : [length, 0];
    const half = Math.floor(drawn / 2);
    const older = isDown ? length - 1 - half : half;
    const grows = kind.startsWith('grow') || kind === 'insert' || kind === 'queue' || kind === 'slide';
    if (grows && length >= sizeMax) return;
    const edit = (at: number) => {
      const entry = list.entries[at];
      if (entry !== undefined) list.replace(at, { ...entry, text: entry.text + 1 });
    };
    if (kind === 'insert') this.#insert(list, this.#newEntry(list, drawn), drawn);
    else if (kind === 'grow-front' && !isDown) this.#insert(list, this.#newEntry(list, 0), 0);
    else if (grows) this.#insert(list, this.#newEntry(list, end), end);
    if (kind === 'edit' || kind === 'touch') edit(drawn);
    if (kind === 'touch' && length > 0 && this.#plans[name].order === 'free') list.move(drawn, length - 1);
    if (kind === 'remove') list.remove(drawn);
    if (kind === 'queue') list.remove(isDown ? older + 1 : older);
    if (kind === 'slide') list.remove(isDown ? oldest + 1 : oldest);
  }

  /** Empties a list but for so many tenths of its records, the oldest; returns what it lost. */
  empty(name: ListName, tenths: number): readonly Entry[] {
    const list = this.lists[name];
    const kept = Math.floor((list.entries.length * tenths) / 10);
    const newestFirst = list.entries.toSorted((a, b) => b.key - a.key || b.uid - a.uid);
    const lost = newestFirst.slice(0, list.entries.length - kept);
    for (const entry of lost) list.remove(list.entries.indexOf(entry));
    this.#toFill.set(name, [...lost]);
    return lost;
  }

  /** Brings back the oldest record that an emptied list lacks, if it lacks any. */
  fill(name: ListName): boolean {
    const entry = this.#toFill.get(name)?.pop();
    const list = this.lists[name];
    const at = entry === undefined ? -1 : list.gone.indexOf(entry);
    if (at >= 0) this.#bringBack(list, at, list.entries.length, false);
    return at >= 0;
  }

  /** Does one change; one that has nothing to work on does nothing. */
  change({ list: name, kind, at, to }: Change): void {
    if (!this.#synced.includes(name)) return;
    this.#areNamesStill &&= kind !== 'rename' && kind !== 'reword';
    const list = this.lists[name];
    const place = modulo(to, list.entries.length + 1);
    const isFree = this.#plans[name].order === 'free';
    if (!isFree && (kind === 'move' || kind === 'reorder')) return;
    if (kind === 'rename') this.#renames.set(1 + modulo(at, this.#connectionCount), 1 + to);
    else if (kind === 'reword') this.#reword(name, 1 + modulo(at, this.#connectionCount), to);
    else if (kind === 'insert') this.#insert(list, this.#newEntry(list, place), place);
    else if (kind === 'reorder') list.reorder(({ uid }, at) => (to % 2 === 0 ? -at : hashOf(to, uid)));
    else if (kind === 'return' || kind === 'renew') this.#bringBack(list, at, place, kind === 'renew');
    else if (list.entries.length > 0) this.#changeEntry(list, kind, modulo(at, list.entries.length), to);
  }

  /** Only a run over all lists can know that none gives a name. */
  #reword(list: ListName, connection: number, to: number): void {
    if (this.#synced.length < listNames.length) return;
    this.#wordings.set(`${list} ${connection}`, wordings[modulo(to, wordings.length)] as Wording);
  }

  #changeEntry(list: ServiceList, kind: Change['kind'], at: number, to: number): void {
    const entry = list.entries[at] as Entry;
    const other = list.entries[modulo(to, list.entries.length)] as Entry;
    const hasIds = list.name !== 'document-exports';
    if (kind === 'remove') list.remove(at);
    if (kind === 'move') list.move(at, modulo(to, list.entries.length));
    if (kind === 'update') list.replace(at, { ...entry, text: entry.text + 1 + modulo(to, 3) });
    if (kind === 'revert') list.replace(at, { ...entry, text: Math.max(0, entry.text - 1) });
    if (kind === 'relink')
      list.replace(at, { ...entry, connections: linksOf(to, list.name, this.#connectionCount) });
    if (kind === 'break') list.replace(at, { ...entry, isBroken: true });
    // No two records of a list with ids share one, so there all these only make records more alike.
    const { uid, key, time, text } = entry;
    if (kind === 'equalize') this.#put(list, at, hasIds ? { ...other, uid, key, time } : { ...other, uid });
    if (kind === 'rekey')
      this.#put(
        list,
        at,
        hasIds ? { ...entry, text: other.text } : { ...entry, key: other.key, time: other.time, text },
      );
    if (kind === 'twin') {
      const twin = this.#newEntry(list, hasIds ? modulo(to, list.entries.length + 1) : at);
      const like = { ...entry, uid: twin.uid };
      this.#insert(
        list,
        hasIds ? { ...like, key: twin.key, time: twin.time } : like,
        modulo(to, list.entries.length + 1),
      );
    }
  }

  #bringBack(list: ServiceList, at: number, place: number, isRenewed: boolean): void {
    if (list.gone.length === 0) return;
    const [back] = list.gone.splice(modulo(at, list.gone.length), 1);
    if (back === undefined) return;
    // A record that went to another place in an ordered list is still there.
    const isThere = list.entries.some(({ uid }) => uid === back.uid);
    const entry = isThere ? { ...back, uid: this.#nextUid++ } : back;
    // Another record might have its id now.
    const isTaken = list.name !== 'document-exports' && list.entries.some(({ key }) => key === entry.key);
    const { text } = entry;
    if (!isTaken) this.#insert(list, isRenewed ? { ...entry, text: text + 1 } : entry, place);
  }

  /** Inserts a record there or, in a list in order, at its own place. */
  #insert(list: ServiceList, entry: Entry, place: number): void {
    const { order } = this.#plans[list.name];
    if (order === 'free') {
      list.insert(entry, place);
      return;
    }
    const isAfter = ({ key }: Entry) => (order === 'up' ? key > entry.key : key < entry.key);
    const at = list.entries.findIndex(isAfter);
    list.insert(entry, at < 0 ? list.entries.length : at);
  }

  /** Gives a record another content; in a list in order it goes to its own place. */
  #put(list: ServiceList, at: number, entry: Entry): void {
    if (this.#plans[list.name].order === 'free' || list.entries[at]?.key === entry.key) {
      list.replace(at, entry);
      return;
    }
    list.remove(at);
    this.#insert(list, entry, at);
  }

  /** A new record for a place: in a list in order, with a key between those of its neighbours if one is free, or else the newest. */
  #newEntry(list: ServiceList, place: number): Entry {
    const { order } = this.#plans[list.name];
    if (order === 'free') return this.#entry(list.name, this.#nextNewest());
    const keys = [list.entries[place - 1]?.key, list.entries[place]?.key];
    const [low, high] = order === 'up' ? keys : keys.toReversed();
    const between = high === undefined ? null : Math.floor(((low ?? 0) + high) / 2);
    const isFree = between !== null && between > (low ?? 0) && between < (high as number);
    const taken = [...list.entries, ...list.gone].some(({ key }) => key === between);
    if (isFree && !taken) return this.#entry(list.name, between);
    return this.#entry(list.name, this.#nextNewest());
  }

  #nextNewest(): number {
    this.#nextKey += keyStep;
    return this.#nextKey;
  }

  #entry(name: ListName, key: number): Entry {
    const { order, ties, hidden } = this.#plans[name];
    const number = Math.floor(key / keyStep);
    const connections = [1 + (number % this.#connectionCount), 1 + ((number + 1) % this.#connectionCount)];
    const time = order === 'free' ? key : ties > 1 ? tieOf(key, ties) * ties * keyStep : key;
    const uid = this.#nextUid++;
    const isHidden = hidden > 0 && hashOf(uid) % hidden === 0;
    return { uid, key, time, text: 0, connections, isBroken: false, isHidden };
  }

  #fill(list: ServiceList): ServiceList {
    const { size, doubles, order } = this.#plans[list.name];
    const keyAt = (at: number) => keyStep * (order === 'down' ? size - at : 1 + at);
    const entries = Array.from({ length: size }, (_, at) => this.#entry(list.name, keyAt(at)));
    for (const { at, of, text } of list.name === 'document-exports' && size > 0 ? doubles : []) {
      const { uid } = entries[at % size] as Entry;
      entries[at % size] = { ...(entries[of % size] as Entry), uid, text };
    }
    for (const entry of entries) this.#insert(list, entry, list.entries.length);
    return list;
  }
}

/** No links for a multiple of 4; only webhooks have more than two. */
function linksOf(number: number, name: ListName, connectionCount: number): number[] {
  const count = Math.min(modulo(number, 4), name === 'webhooks' ? 3 : 2);
  return Array.from({ length: count }, (_, at) => 1 + modulo(number + at, connectionCount));
}

/** Also of negative numbers: -1 is the last. */
function modulo(number: number, count: number): number {
  return ((number % count) + count) % count;
}
