import { afterAll, beforeAll, expect, test } from 'vitest';
import { browsableOf, noFilter } from '../../../../src/store/read/browsable.ts';
import { MirrorState } from '../../../../src/store/read/history/as-of.ts';
import { foundTable, stateTable, type Table } from '../../../../src/store/read/records/table.ts';
import { readMirror } from '../../../../src/store/read/sqlite.ts';
import type { Scene } from '../../../support/scene.ts';
import { hasWords, type Item, now, openLibrary, type Ref, states } from './library.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openLibrary();
});
afterAll(() => scene[Symbol.asyncDispose]());

const objects = ({ columns, rows }: Table): Item[] =>
  [...rows].map(row => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
const isRef = (value: unknown): value is Ref =>
  typeof value === 'object' && value !== null && 'name' in value;

/** The cells of an item: each field by its column, and a connection by its id and its name. */
function cellsOf(item: Item, withNames: boolean): Item {
  const cells = Object.entries(item).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'id' || name === '_id') return [];
    if (name === 'connections' && Array.isArray(value)) {
      const refs = value.filter(isRef);
      const names: [string, unknown] = ['connection_names', refs.map(each => each.name)];
      return [['connection_ids', refs.map(({ id }) => id)], ...(withNames ? [names] : [])];
    }
    if (!name.endsWith('Connection')) return [[snake(name), value]];
    const ref = isRef(value) ? value : null;
    return [
      [`${snake(name)}_id`, ref?.id ?? null],
      ...(withNames ? [[`${snake(name)}_name`, ref?.name ?? null] as [string, unknown]] : []),
    ];
  });
  return Object.fromEntries(cells);
}

const sorted = (items: readonly Item[]) =>
  items.map(item => JSON.stringify(Object.entries(item).sort())).sort();
const withoutOwn = ({ id: _, _id, _extra, _first_seen_run_id, _changed_run_id, ...cells }: Item): Item =>
  cells;

test.each([1, 2, 3, null])('the lists as of run %s have the columns and values of their items', runId => {
  const state = states[(runId ?? 4) - 1] ?? now;
  for (const [resource, items] of Object.entries(state))
    for (const withNames of [true, false]) {
      const found = readMirror(scene.database, sqlite =>
        objects(stateTable(new MirrorState(sqlite, runId), resource, withNames)),
      );
      expect(sorted(found.map(withoutOwn)), resource).toEqual(
        sorted(items.map(item => cellsOf(item, withNames))),
      );
      expect(found.every(row => Number(row._changed_run_id) <= (runId ?? 4))).toBe(true);
      const own = found.map(row => row._extra).filter(extra => extra !== null);
      expect(own.length).toBe(items.filter(item => '_id' in item).length);
    }
});

/** By what SQLite sorts a value: a time by its moment, a text by its bytes with small letters from A to Z. Nothing comes first. */
function keyOf(value: unknown): number | Buffer | null {
  if (typeof value !== 'string') return typeof value === 'number' ? value : null;
  const ms = /^\d{4}-/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? Buffer.from(value.replace(/[A-Z]/g, letter => letter.toLowerCase())) : ms;
}

function compare(one: ReturnType<typeof keyOf>, other: ReturnType<typeof keyOf>): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  return Buffer.isBuffer(one) && Buffer.isBuffer(other)
    ? Buffer.compare(one, other)
    : Number(one) - Number(other);
}

test.each([
  ['document-exports', 'sourceDocumentTitle', false],
  ['document-exports', 'exportedAt', true],
  ['collections', 'name', true],
  ['webhooks', 'id', false],
])('a table of %s has what matches, by %s, with names beside ids', (resource, sort, isDescending) => {
  const { idName } = browsableOf(resource);
  const column = sort.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
  for (const q of ['', 'C:\\Users', '_']) {
    const filter = { ...noFilter, q };
    const request = { resource, filter, order: { sort, isDescending } };
    const { columns, found } = readMirror(scene.database, sqlite => {
      const table = foundTable(sqlite, request);
      return { columns: table.columns, found: objects(table) };
    });
    const wanted = (now[resource] ?? []).filter(item => hasWords(resource, item, q));
    expect(columns[0]?.name).toBe(idName);
    expect(sorted(found.map(withoutOwn)), q).toEqual(sorted(wanted.map(item => cellsOf(item, true))));
    expect(
      found.toSorted((a, b) => (isDescending ? -1 : 1) * compare(keyOf(a[column]), keyOf(b[column]))),
    ).toEqual(found);
  }
});
