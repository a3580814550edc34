import { mixed } from '../../src/sample/random.ts';
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
export function itemOf(list: ListName, entry: Entry, nameOf: (id: number) => string | null): object {
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
      events: eventsOf(text),
      connections: refs,
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
    exportedAt: exportedAt(time),
  };
}

/** The public columns of a record without names, as `mirror-rows.ts` reads them from the mirror; null if the mirror rejects it. */
export function contentOf(list: ListName, entry: Entry): string | null {
  const { key, time, text, connections, isBroken } = entry;
  if (isBroken) return null;
  const [source = null, destination = null] = connections;
  if (list === 'collections') return JSON.stringify([key, `collection ${text}`, source, destination]);
  if (list === 'webhooks') {
    const description = text % 2 === 0 ? null : 'odd';
    const endpoint = `https://hooks.example/${text}`;
    return JSON.stringify([key, endpoint, description, eventsOf(text), connections]);
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

function eventsOf(text: number): string[] {
  return Array.from({ length: text % 3 }, (_, at) => `event ${(text + at) % 4}`);
}

function exportedAt(time: number): string {
  return new Date(1_700_000_000_000 + time * 1000).toISOString();
}

/** A whole number below 2^32 that depends on all the given ones, and on their order. */
export function hashOf(...numbers: readonly number[]): number {
  let hash = 0;
  for (const number of numbers) hash = mixed((Math.imul(hash, 31) + number + 0x6d2b79f5) >>> 0);
  return hash;
}
