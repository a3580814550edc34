import { mixed } from '../../examples/sample-service/random.ts';
import type { ListName } from './scenario.ts';

/** A record of the service. Only the simulation sees its `uid`. */
export interface Entry {
  readonly uid: number;
  /** Its id, or the base of the key of an export: exports can share one. */
  readonly key: number;
  /** When an export was made, in seconds. */
  readonly time: number;
  readonly text: number;
  readonly connections: readonly number[];
  /** True if its JSON has a wrong type, so that the mirror rejects it. */
  readonly isBroken: boolean;
  /** True if the token may not see it: then it is in no list, but it can take a place on a page. */
  readonly isHidden: boolean;
}

/** In which form a service writes what means the same in each form; null: always in one. */
export interface Form {
  /** Draws the order of the elements of sets. */
  readonly shuffle: number | null;
  /** Draws the zone of instants. */
  readonly zone: number | null;
}

/** Keys are so far apart at first: in a list in order, others come between them. */
export const keyStep = 100;

/** Which records tie: neighbours by their keys. */
export function tieOf(key: number, ties: number): number {
  return Math.floor(key / (ties * keyStep));
}

/** Contents, each with how many records have it. */
export type Contents = ReadonlyMap<string, number>;

/** Whether both have the same contents, each as often. */
export function isSame(one: Contents, other: Contents): boolean {
  return one.size === other.size && [...one].every(([content, count]) => other.get(content) === count);
}

/** How many records there are. */
export function sizeOf(contents: Contents): number {
  let size = 0;
  for (const count of contents.values()) size += count;
  return size;
}

/** A record as the service sends it; `nameOf` says what a connection is called now. */
export function itemOf(
  list: ListName,
  entry: Entry,
  nameOf: (id: number) => string | null,
  { shuffle, zone }: Form,
): object {
  const inOrder = <T>(set: readonly T[]) =>
    shuffle === null ? set : shuffled(set, hashOf(shuffle, entry.uid));
  const refs = entry.connections.map(id => ({ id, name: nameOf(id) }));
  const [sourceConnection = null, destinationConnection = null] = refs;
  const { key, time, text } = entry;
  // Some broken records still have their id.
  const isNameless = Math.floor(key / keyStep) % 2 === 0;
  const broken = entry.isBroken && isNameless ? 'no such thing' : null;
  const wrong = entry.isBroken && !isNameless ? ['no text'] : null;
  if (list === 'collections') {
    const name = wrong ?? `collection ${text}`;
    return { id: broken ?? key, name, sourceConnection, destinationConnection };
  }
  if (list === 'webhooks') {
    return {
      id: broken ?? key,
      endpoint: wrong ?? `https://hooks.example/${text}`,
      description: text % 2 === 0 ? null : 'odd',
      events: inOrder(eventsOf(entry)),
      connections: inOrder(refs),
    };
  }
  return {
    sourceConnection: broken ?? sourceConnection,
    sourceDocumentTitle: wrong ?? `title ${text}`,
    sourceDocumentReference: `R${key / keyStep}`,
    sourceDocumentVersion: null,
    sourceDocumentKind: 'letter',
    destinationConnection,
    destinationReference: `D${key / keyStep}`,
    exportedAt: exportedAt(time, zone === null ? 0 : hashOf(zone, entry.uid)),
  };
}

/**
 * The public columns of a record without names, as `mirror-rows.ts` reads them from the mirror, sets in order and instants in one zone; null
 * if the mirror rejects it, or if it is in no list.
 */
export function contentOf(list: ListName, entry: Entry): string | null {
  const { key, time, text, connections, isBroken, isHidden } = entry;
  if (isBroken || isHidden) return null;
  const [source = null, destination = null] = connections;
  if (list === 'collections') return JSON.stringify([key, `collection ${text}`, source, destination]);
  if (list === 'webhooks') {
    const description = text % 2 === 0 ? null : 'odd';
    const endpoint = `https://hooks.example/${text}`;
    const links = connections.toSorted((a, b) => a - b);
    return JSON.stringify([key, endpoint, description, eventsOf(entry).toSorted(), links]);
  }
  const own = [
    source,
    `title ${text}`,
    `R${key / keyStep}`,
    null,
    'letter',
    destination,
    `D${key / keyStep}`,
    exportedAt(time),
  ];
  return JSON.stringify(own);
}

/** Up to four events; one of four is there twice. */
function eventsOf({ key, text }: Entry): string[] {
  const number = text + Math.floor(key / keyStep);
  return Array.from({ length: number % 5 }, (_, at) => `event ${(text + at) % 3}`);
}

/** Minutes before UTC of the zones in which an instant is written. */
const zones = [0, 60, -330, 765];

function exportedAt(time: number, number = 0): string {
  const ms = 1_700_000_000_000 + time * 1000;
  const minutes = zones[number % zones.length] as number;
  if (minutes === 0) return new Date(ms).toISOString();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (part: number) => String(part).padStart(2, '0');
  const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1);
  return `${local}${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
}

/** The same elements in an order that a number draws. */
function shuffled<T>(set: readonly T[], number: number): readonly T[] {
  const ranks = new Map(set.map((element, at) => [element, hashOf(number, at)]));
  const rank = (element: T) => ranks.get(element) ?? 0;
  return set.toSorted((a, b) => rank(a) - rank(b));
}

/** A whole number below 2^32 that depends on all the given ones, and on their order. */
export function hashOf(...numbers: readonly number[]): number {
  let hash = 0;
  for (const number of numbers) hash = mixed((Math.imul(hash, 31) + number + 0x6d2b79f5) >>> 0);
  return hash;
}
