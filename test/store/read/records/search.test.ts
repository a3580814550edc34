import { afterAll, beforeAll, expect, test } from 'vitest';
import { keptResources } from '../../../../src/contract/lists.ts';
import { searchRecords } from '../../../../src/store/read/records/search.ts';
import { readMirror } from '../../../../src/store/read/sqlite.ts';
import type { Scene } from '../../../support/scene.ts';
import { foldOf, hasWords, type Item, now, openLibrary, states } from './library.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openLibrary();
});
afterAll(() => scene[Symbol.asyncDispose]());

const search = (text: string, offset = 0, limit = 1000) =>
  readMirror(scene.database, sqlite => searchRecords(sqlite, text, { offset, limit }));

const keyOf = (item: Item) => item.sourceDocumentReference ?? item.id;

/** The records that are gone, each as it was last. */
function goneOf(resource: string): Item[] {
  const all = new Map(
    states.flatMap(lists => (lists[resource] ?? []).map(item => [keyOf(item), item] as const)),
  );
  for (const item of now[resource] ?? []) all.delete(keyOf(item));
  return [...all.values()];
}

const connections: readonly Item[] = [
  { id: 7, name: 'Großarchiv Süd' },
  { id: 8, name: '100%_\\' },
  { id: 9, name: 'Plain' },
  { id: 10, name: 'PLAIN' },
  { id: 11, name: null },
];

test.each([
  'C:\\Users',
  '\\',
  '%',
  '_',
  'strasse',
  'café',
  'two words',
  'R-1',
  'r-13',
  'plain',
  '100%_\\',
  'D\\0',
  'now',
  'nothing',
])('a search over all lists finds what plain JavaScript finds, what is gone last: %s', text => {
  const found = search(text).map(({ resource, isRemoved, record }) => ({
    resource,
    isRemoved,
    item: JSON.parse(record ?? '{}') as Item,
  }));
  const labels = found.map(({ resource, isRemoved, item }) => `${resource} ${keyOf(item)} ${isRemoved}`);
  const wanted = keptResources.flatMap(resource => {
    const current = resource === 'connections' ? connections : (now[resource] ?? []);
    const hit = (items: readonly Item[], isRemoved: boolean) =>
      items
        .filter(item => hasWords(resource, item, text))
        .map(item => `${resource} ${keyOf(item)} ${isRemoved}`);
    return [...hit(current, false), ...hit(goneOf(resource), true)];
  });
  expect(labels.toSorted()).toEqual(wanted.sort());
  const isExact = ({ item }: (typeof found)[number]) =>
    [item.sourceDocumentReference, item.destinationReference].some(
      reference => typeof reference === 'string' && foldOf(reference) === foldOf(text),
    );
  const ranks = found.map(hit => (isExact(hit) ? 0 : 2) + Number(hit.isRemoved));
  expect(ranks).toEqual(ranks.toSorted());
  expect([...search(text, 0, 3), ...search(text, 3)]).toEqual(search(text));
});

test('a search for nothing finds nothing', () => {
  expect([search(''), search('  ')]).toEqual([[], []]);
});
