import { hashOf } from './random.ts';
import type { Entry } from './records.ts';
import {
  type Change,
  type ListName,
  type ListScenario,
  listNames,
  plainList,
  type Scenario,
} from './scenario.ts';
import { ServiceList } from './service-list.ts';

/** The lists in the order in which their word on a connection's name counts. */
const listsByWeight: readonly ListName[] = ['collections', 'webhooks', 'document-exports'];
const wordings = ['none', 'own', 'plain'] as const;
type Wording = (typeof wordings)[number];
/** The most records that a list grows to: a service that outgrows every reader proves nothing. */
const sizeMax = 600;

/** The service's lists and connections, as they stand now and as they change. */
export class World {
  readonly lists: Readonly<Record<ListName, ServiceList>>;
  /** How often each connection was renamed. */
  readonly #renames = new Map<number, number>();
  /** What a list says of a connection's name, where it does not simply give it. */
  readonly #wordings = new Map<string, Wording>();
  readonly #synced: readonly ListName[];
  readonly #connectionCount: number;
  #isStill = true;
  #nextKey = 10_000;
  #nextUid = 0;

  constructor({ lists, synced, connections }: Pick<Scenario, 'lists' | 'synced' | 'connections'>) {
    this.#synced = synced;
    this.#connectionCount = connections;
    const filled = (name: ListName) =>
      this.#fill(new ServiceList(name), synced.includes(name) ? lists[name] : plainList);
    this.lists = {
      'document-exports': filled('document-exports'),
      collections: filled('collections'),
      webhooks: filled('webhooks'),
    };
  }

  /** What a list calls a connection now; null where it does not say. */
  nameOf(list: ListName, id: number): string | null {
    const wording = this.#wordings.get(`${list} ${id}`) ?? 'plain';
    const name = `C${id} v${this.#renames.get(id) ?? 0}`;
    if (wording === 'plain') return name;
    return wording === 'none' ? null : `${name} of ${list}`;
  }

  /** The names of the connections that records refer to now, by id: of the lists that give one, that counts which counts most. */
  connectionNames(): Map<number, string | null> {
    const names = new Map<number, string | null>();
    for (const list of listsByWeight) {
      const ids = new Set(this.lists[list].entries.flatMap(entry => entry.connections));
      for (const id of ids) names.set(id, names.get(id) ?? this.nameOf(list, id));
    }
    return names;
  }

  /** True where nothing has changed since the run began. */
  get isStill(): boolean {
    return this.#isStill && listNames.every(name => this.lists[name].instants.isOne);
  }

  beginRun(): void {
    this.#isStill = true;
    for (const name of listNames) this.lists[name].beginRun();
  }

  /** Takes what can't be read out of all lists. */
  mend(): void {
    for (const name of listNames) {
      const { entries } = this.lists[name];
      for (let at = entries.length - 1; at >= 0; at--) if (entries[at]?.isBroken) this.lists[name].remove(at);
    }
  }

  /** A new record at one end, as lists that grow by themselves get it. */
  grow(name: ListName, end: 'front' | 'back'): void {
    const list = this.lists[name];
    if (list.entries.length < sizeMax)
      list.insert(this.#newEntry(), end === 'front' ? 0 : list.entries.length);
  }

  /** Does one change; one that has nothing to work on does nothing. */
  change({ list: name, kind, at, to }: Change): void {
    if (!this.#synced.includes(name)) return;
    this.#isStill &&= kind !== 'rename' && kind !== 'reword';
    const list = this.lists[name];
    const place = modulo(to, list.entries.length + 1);
    if (kind === 'rename') this.#renames.set(1 + modulo(at, this.#connectionCount), 1 + to);
    else if (kind === 'reword') this.#reword(name, 1 + modulo(at, this.#connectionCount), to);
    else if (kind === 'insert') list.insert(this.#newEntry(), place);
    else if (kind === 'reorder') list.reorder(({ uid }, at) => (to % 2 === 0 ? -at : hashOf(to, uid)));
    else if (kind === 'return') this.#bringBack(list, at, place);
    else if (list.entries.length > 0) this.#changeEntry(list, kind, modulo(at, list.entries.length), to);
  }

  /** What no list gives can only be known by a run over all of them. */
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
    if (kind === 'relink')
      list.replace(at, { ...entry, connections: linksOf(to, list.name, this.#connectionCount) });
    if (kind === 'break') list.replace(at, { ...entry, isBroken: true });
    // No two records of a list with ids share one, so there all these only make records more alike.
    if (kind === 'equalize')
      list.replace(at, { ...other, uid: entry.uid, key: hasIds ? entry.key : other.key });
    if (kind === 'rekey')
      list.replace(at, hasIds ? { ...entry, text: other.text } : { ...entry, key: other.key });
    if (kind === 'twin') {
      const { uid, key } = this.#newEntry();
      list.insert({ ...entry, uid, key: hasIds ? key : entry.key }, modulo(to, list.entries.length + 1));
    }
  }

  #bringBack(list: ServiceList, at: number, place: number): void {
    if (list.gone.length === 0) return;
    const [entry] = list.gone.splice(modulo(at, list.gone.length), 1);
    if (entry !== undefined) list.insert(entry, place);
  }

  #newEntry(): Entry {
    return this.#entry(this.#nextKey++);
  }

  #entry(key: number): Entry {
    const connections = [1 + (key % this.#connectionCount), 1 + ((key + 1) % this.#connectionCount)];
    return { uid: this.#nextUid++, key, text: 0, connections, isBroken: false };
  }

  #fill(list: ServiceList, { size, doubles }: ListScenario): ServiceList {
    const entries = Array.from({ length: size }, (_, at) => this.#entry(1 + at));
    for (const { at, of, text } of list.name === 'document-exports' && size > 0 ? doubles : []) {
      const { uid } = entries[at % size] as Entry;
      entries[at % size] = { ...(entries[of % size] as Entry), uid, text };
    }
    for (const entry of entries) list.insert(entry, list.entries.length);
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
