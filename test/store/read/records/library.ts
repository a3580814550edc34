import { resourceNames } from '../../../../src/contract/lists.ts';
import { syncScene } from '../../../support/in-process.ts';
import { type Scene, setScene } from '../../../support/scene.ts';
import { tamper } from '../../verify/tamper.ts';

// A mirror after four runs with records of all kinds of texts, and the items that the service had at each of them.

export interface Ref {
  readonly id: number;
  readonly name: string | null;
}

export type Item = Readonly<Record<string, unknown>>;
export type Lists = Readonly<Record<string, readonly Item[]>>;

const archive: Ref = { id: 7, name: 'Großarchiv Süd' };
const wild: Ref = { id: 8, name: '100%_\\' };
const plain: Ref = { id: 9, name: 'Plain' };
const twin: Ref = { id: 10, name: 'PLAIN' };
const nameless: Ref = { id: 11, name: null };

const titles = [
  'C:\\Users\\anna',
  'C:/Users/anna',
  'C:Users',
  '100 % done',
  '100 x done',
  'file_name',
  'fileXname',
  'Straße in Zürich',
  'STRASSE',
  'Cafe\u0301',
  'café',
  'Ωmega ωMEGA',
  'two words',
  'words two',
  null,
];
const times = [
  '2026-03-01T11:59:59.999Z',
  '2026-03-01T12:00:00.000Z',
  '2026-03-01T12:00:00.999Z',
  '2026-03-01T12:00:30.000Z',
  '2026-03-01T13:01:00.000+01:00',
  '2026-03-01T23:59:59.999Z',
  '2026-03-02T00:00:00.000Z',
  null,
];
const at = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;

const exports = Array.from(
  { length: 48 },
  (_, i): Item => ({
    sourceConnection: at([archive, wild, plain, twin, nameless, null], i),
    sourceDocumentTitle: at(titles, i),
    sourceDocumentReference: `R-${i}`,
    sourceDocumentVersion: null,
    sourceDocumentKind: at(['invoice', 'Invoice', 'map', null], i),
    destinationConnection: at([plain, archive, null], i),
    destinationReference: at([`D\\${i}`, `D_${i}`, `R-${47 - i}`, null], i),
    exportedAt: at(times, i),
    ...(i % 9 === 0 && { _id: `own ${i}` }),
  }),
);
const collections = titles.map(
  (name, i): Item => ({
    id: i + 1,
    name,
    sourceConnection: at([archive, plain, null], i),
    destinationConnection: at([twin, wild], i),
  }),
);
const webhooks = titles.map(
  (description, i): Item => ({
    id: i + 1,
    endpoint: `https://host.example/${i}`,
    description,
    events: at([['a'], ['a', 'b\\'], []], i),
    connections: at([[plain, archive], [], [wild, wild]], i),
  }),
);

/** When each run ended: so near that a time cut to the minute would not keep them apart. */
export const endedAt = [
  '2026-05-01T10:00:10.500Z',
  '2026-05-01T10:00:40.500Z',
  '2026-05-01T10:01:00.000Z',
  '2026-05-02T00:00:00.000Z',
];

const without = (items: readonly Item[], ...places: number[]) =>
  items.filter((_, place) => !places.includes(place));
const retitled = (items: readonly Item[], member: string, ...places: number[]) =>
  items.map((item, place) =>
    places.includes(place) ? { ...item, [member]: `${item[member]} \\ now` } : item,
  );

/** The lists at each run. */
export const states: readonly Lists[] = [
  { 'document-exports': exports, collections, webhooks },
  {
    'document-exports': retitled(exports, 'sourceDocumentTitle', 0, 3, 7),
    collections: without(collections, 0, 6),
    webhooks: retitled(webhooks, 'description', 1, 9),
  },
  {
    'document-exports': without(retitled(exports, 'sourceDocumentTitle', 0, 3, 7), 0, 13, 30),
    collections: without(retitled(collections, 'name', 8), 0),
    webhooks: without(retitled(webhooks, 'description', 1, 9), 1, 3),
  },
];

/** The lists as they are now: the fourth run changes nothing. */
export const now = states.at(-1) as Lists;

export async function openLibrary(): Promise<Scene> {
  const scene = await setScene();
  for (const lists of [...states, now]) {
    for (const resource of resourceNames) scene.service.lists[resource] = [...(lists[resource] ?? [])];
    const { status } = await syncScene(scene, { allowMassRemoval: true });
    if (status !== 'completed') throw new Error(`A run of the library is ${status}.`);
  }
  for (const [place, time] of endedAt.entries()) {
    tamper(
      scene.database,
      `UPDATE sync_run_resources SET completed_at = '${time}' WHERE run_id = ${place + 1}`,
    );
    tamper(scene.database, `UPDATE sync_runs SET completed_at = '${time}' WHERE id = ${place + 1}`);
  }
  return scene;
}

/** A text without its case, and with its accents composed. */
export const foldOf = (text: string) => text.normalize('NFC').toLowerCase().toUpperCase();

const isRef = (value: unknown): value is Ref =>
  typeof value === 'object' && value !== null && 'name' in value;
export const namesOf = (item: Item): (string | null)[] =>
  Object.values(item)
    .flat()
    .filter(isRef)
    .map(({ name }) => name);

const searched: Readonly<Record<string, readonly string[]>> = {
  'document-exports': ['sourceDocumentTitle', 'sourceDocumentReference', 'destinationReference'],
  collections: ['name'],
  webhooks: ['description'],
  connections: ['name'],
};

/** Whether all words are in the texts of an item, or in the names of its connections. */
export function hasWords(resource: string, item: Item, q: string): boolean {
  const texts = [...(searched[resource] ?? []).map(member => item[member]), ...namesOf(item)];
  const words = foldOf(q)
    .split(/\s+/)
    .filter(word => word !== '');
  return words.every(word => texts.some(text => typeof text === 'string' && foldOf(text).includes(word)));
}

/** Whether an item has a connection in a member: by its id, or its name in any case. */
export function isFrom(item: Item, member: string, wanted: string): boolean {
  const ref = item[member];
  if (!isRef(ref)) return false;
  if (/^\d+$/.test(wanted)) return ref.id === Number(wanted);
  return ref.name !== null && foldOf(ref.name) === foldOf(wanted);
}

/** Whether a time is in a range whose last second, or day, counts whole. */
export function isWithin(time: unknown, from: string | null, to: string | null): boolean {
  if (from === null && to === null) return true;
  if (typeof time !== 'string') return false;
  const text = new Date(time).toISOString();
  return text >= (from ?? '') && (to === null || text.slice(0, to.length) <= to);
}
