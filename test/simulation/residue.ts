import type { Shown } from './answers.ts';
import type { Entry } from './records.ts';
import { type ListName, listNames } from './scenario.ts';
import type { ServiceList } from './service-list.ts';

/** Sizes of pages by which the whole list was read without a record's being shown: then no reader can know of it. */
const cutsForResidue = 2;

interface Sight {
  /** The number of the answer that showed a record last, or before which it was first listed. */
  readonly lastSeen: Map<Entry, number>;
  /** By size of page, then by offset: the number of the last answer. */
  readonly answered: Map<number, Map<number, number>>;
}

/**
 * Knows which records the service's order hid from all readings. This is the residue of the design, a service that lies in
 * the same way to readings with different cuts; it is told by what the service did.
 */
export class Residue {
  readonly #sights: Readonly<Record<ListName, Sight>>;
  #answers = 0;

  constructor() {
    const [exports, collections, webhooks] = listNames;
    const sight = (): Sight => ({ lastSeen: new Map(), answered: new Map() });
    this.#sights = { [exports]: sight(), [collections]: sight(), [webhooks]: sight() };
  }

  /** Notes an answer; `list` is as it stood then. */
  note(list: ServiceList, { size, offset, entries }: Shown): void {
    const { lastSeen, answered } = this.#sights[list.name];
    this.#answers++;
    for (const entry of list.entries) if (!lastSeen.has(entry)) lastSeen.set(entry, this.#answers - 1);
    for (const entry of entries) lastSeen.set(entry, this.#answers);
    const offsets = answered.get(size) ?? new Map<number, number>();
    answered.set(size, offsets.set(offset, this.#answers));
  }

  /** The records of a list, as it stands, that no reader could know of. */
  hidden(list: ServiceList): Entry[] {
    const { lastSeen, answered } = this.#sights[list.name];
    const sizes = [...answered.keys()];
    return list.entries.filter(entry => {
      const since = lastSeen.get(entry);
      if (since === undefined) return false;
      const isRead = (size: number) => wasReadSince(answered.get(size), size, list.entries.length, since);
      return sizes.filter(isRead).length >= cutsForResidue;
    });
  }
}

function wasReadSince(
  offsets: ReadonlyMap<number, number> | undefined,
  size: number,
  total: number,
  since: number,
): boolean {
  for (let offset = 0; offset < total; offset += size) {
    if ((offsets?.get(offset) ?? 0) <= since) return false;
  }
  return true;
}
