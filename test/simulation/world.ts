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

const connectionCount = 6;
/** The most records that a list grows to: a service that outgrows every reader proves nothing. */
const sizeMax = 600;

/** The service's lists and connections, as they stand now and as they change. */
export class World {
  readonly lists: Readonly<Record<ListName, ServiceList>>;
  /** How often each connection was renamed. */
  readonly #renames = new Map<number, number>();
  readonly #synced: readonly ListName[];
  #nextKey = 10_000;
  #nextUid = 0;

  constructor({ lists, synced }: Pick<Scenario, 'lists' | 'synced'>) {
    this.#synced = synced;
    const filled = (name: ListName) =>
      this.#fill(new ServiceList(name), synced.includes(name) ? lists[name] : plainList);
    this.lists = {
      'document-exports': filled('document-exports'),
      collections: filled('collections'),
      webhooks: filled('webhooks'),
    };
  }

  /** What a connection is called now. */
  nameOf(id: number): string {
    return `C${id} v${this.#renames.get(id) ?? 0}`;
  }

  /** The names of the connections that records refer to now, by id. */
  connectionNames(): Map<number, string> {
    const ids = listNames.flatMap(name => this.lists[name].entries).flatMap(entry => entry.connections);
    return new Map(ids.map(id => [id, this.nameOf(id)]));
  }

  beginRun(): void {
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
    const list = this.lists[name];
    const place = modulo(to, list.entries.length + 1);
    if (kind === 'rename') this.#renames.set(1 + modulo(at, connectionCount), 1 + to);
    else if (kind === 'insert') list.insert(this.#newEntry(), place);
    else if (kind === 'return') this.#bringBack(list, at, place);
    else if (list.entries.length > 0) this.#changeEntry(list, kind, modulo(at, list.entries.length), to);
  }

  #changeEntry(list: ServiceList, kind: Change['kind'], at: number, to: number): void {
    const entry = list.entries[at] as Entry;
    const other = list.entries[modulo(to, list.entries.length)] as Entry;
    const hasIds = list.name !== 'document-exports';
    if (kind === 'remove') list.remove(at);
    if (kind === 'move') list.move(at, modulo(to, list.entries.length));
    if (kind === 'update') list.replace(at, { ...entry, text: entry.text + 1 + modulo(to, 3) });
    if (kind === 'relink') list.replace(at, { ...entry, connections: linksOf(to, list.name) });
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
    const connections = [1 + (key % connectionCount), 1 + ((key + 1) % connectionCount)];
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
function linksOf(number: number, name: ListName): number[] {
  const count = Math.min(modulo(number, 4), name === 'webhooks' ? 3 : 2);
  return Array.from({ length: count }, (_, at) => 1 + modulo(number + at, connectionCount));
}

/** Also of negative numbers: -1 is the last. */
function modulo(number: number, count: number): number {
  return ((number % count) + count) % count;
}
