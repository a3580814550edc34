import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFilter } from '../../../../src/serve/api.ts';
import { type MirrorFile, openForReading } from '../../../../src/store/file/open.ts';
import { browsableOf, noFilter, type RecordFilter } from '../../../../src/store/read/browsable.ts';
import { type Change, changesThatFit } from '../../../../src/store/read/history/changes.ts';
import { registerFold } from '../../../../src/store/read/records/filter.ts';
import { findRecords, withId } from '../../../../src/store/read/records/find.ts';
import type { Scene } from '../../../support/scene.ts';
import { hasWords, type Item, isFrom, isWithin, now, openLibrary } from './library.ts';

let scene: Scene;
let mirror: MirrorFile;
let allChanges: readonly Change[];
beforeAll(async () => {
  scene = await openLibrary();
  mirror = openForReading(scene.database);
  registerFold(mirror.sqlite);
  allChanges = [...changesThatFit(mirror.sqlite, { sinceRunId: 0 })];
});
afterAll(async () => {
  mirror.close();
  await scene[Symbol.asyncDispose]();
});

const words = [
  'C:\\Users',
  'C:/Users',
  '\\',
  '%',
  '_',
  'e_n',
  '100 %',
  'strasse',
  'CAFÉ',
  'cafe\u0301',
  'ωmega',
  'two words',
  'südd',
  'GROSSARCHIV',
  '100%_\\',
  'R-1',
  'r-1 users',
  '\\ now',
  'nothing',
];
const named = ['7', '8', '77', 'plain', 'GROßARCHIV süd', '100%_\\', '100%__', '%', 'Plai', 'nobody'];
const times = [
  '2026-03-01',
  '2026-03-02',
  '2026-03-01T12:00:00',
  '2026-03-01T12:00:01',
  '2026-03-01T12:00:30',
  '2026-03-01T12:00:59',
  '2026-03-01T12:01:00',
];
const runTimes = [
  '2026-05-01',
  '2026-05-02',
  '2026-05-01T10:00:10',
  '2026-05-01T10:00:11',
  '2026-05-01T10:00:40',
  '2026-05-01T10:01:00',
];
const ranges = (all: readonly string[]) =>
  all.flatMap(one => [{ from: one }, { to: one }, ...all.map(other => ({ from: one, to: other }))]);

const filters: Partial<RecordFilter>[] = [
  {},
  ...words.map(q => ({ q })),
  ...named.flatMap(name => [{ source: name }, { destination: name }]),
  ...['invoice', 'Invoice', 'map', 'INVOICE', ''].map(kind => ({ kind })),
  { source: 'plain', q: 'words', kind: 'map' },
  { source: '7', destination: 'plain', q: 'r-' },
];

/** Whether an item of a list is as a filter says; its time is apart. */
function fits(resource: string, item: Item, filter: RecordFilter): boolean {
  const { filters: known } = browsableOf(resource);
  for (const side of ['source', 'destination'] as const) {
    const wanted = filter[side];
    if (wanted !== null && (known[side] === undefined || !isFrom(item, `${side}Connection`, wanted)))
      return false;
  }
  if (filter.kind !== null && item.sourceDocumentKind !== filter.kind) return false;
  return hasWords(resource, item, filter.q);
}

const order = { sort: '_id', isDescending: false };
const labelOf = (item: Item) => JSON.stringify(item.sourceDocumentReference ?? item.id);
const labels = (items: readonly Item[]) => items.map(labelOf).sort();

test.each([...filters, ...ranges(times)])('a list is filtered as plain JavaScript does it: %j', given => {
  const filter = { ...noFilter, ...given };
  for (const [resource, items] of Object.entries(now)) {
    const hasTime = browsableOf(resource).filters.time !== undefined;
    const wanted = items.filter(
      item =>
        fits(resource, item, filter) &&
        (hasTime ? isWithin(item.exportedAt, filter.from, filter.to) : (filter.from ?? filter.to) === null),
    );
    const found = findRecords(mirror.sqlite, { resource, filter, order, offset: 0, limit: 1000 });
    const texts = found.items.map(({ record }): Item => JSON.parse(record ?? '{}'));
    expect(labels(texts), resource).toEqual(labels(wanted));
    expect(found.count, resource).toBe(wanted.length);
  }
});

test.each([...filters, ...ranges(runTimes), { q: 'users', from: '2026-05-01T10:00:40' }])(
  'changes are filtered in the same way, those of versions that have ended, too: %j',
  given => {
    const filter = { ...noFilter, ...given, resource: null, operation: null, run: null };
    const found = [...changesThatFit(mirror.sqlite, { sinceRunId: 0, filter })];
    const wanted = allChanges.filter(
      ({ resource, record, changedAt }) =>
        fits(resource, JSON.parse(record ?? '{}'), filter) && isWithin(changedAt, filter.from, filter.to),
    );
    expect(new Set(allChanges.map(({ operation }) => operation)).size).toBe(3);
    expect(found).toEqual(wanted);
  },
);

test('a filter that a list does not have finds nothing in it', () => {
  for (const [resource, filter] of [
    ['collections', { kind: 'map' }],
    ['webhooks', { source: '7' }],
    ['connections', { from: '2026-01-01' }],
  ] as const) {
    const request = { resource, filter: { ...noFilter, ...filter }, order, offset: 0, limit: 10 };
    expect(findRecords(mirror.sqlite, request)).toEqual({
      items: [],
      count: 0,
    });
  }
});

test('a time in an address counts to the second, in UTC', () => {
  const paging = { pageNo: 1, pageSize: 1, page: 1, limit: 1, days: 30, timezone: 'UTC' };
  expect(readFilter({ ...paging, from: '2026-11-20T18:00:41.9+01:00', to: ' 2026-11-21 ' })).toEqual({
    ...noFilter,
    from: '2026-11-20T17:00:41',
    to: '2026-11-21',
  });
});

test('a record without an id of its own gets that of its row, unless it has a field of that name', () => {
  const text = { resource: 'document-exports', id: 3 };
  expect(withId({ ...text, ownId: null, record: '{"a":1}' })).toBe('{"_id":3,"a":1}');
  for (const record of ['{"a":1,"_id":"own"}', '{"_id":null}'])
    expect(withId({ ...text, ownId: null, record })).toBe(record);
  expect(withId({ ...text, ownId: null, record: '{"a":"\\"_id\\""}' })).toBe('{"_id":3,"a":"\\"_id\\""}');
  expect(withId({ ...text, ownId: 3, record: '{"id":3}' })).toBe('{"id":3}');
});
