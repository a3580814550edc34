import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentOf } from '../../../src/contract/content.ts';
import { type ListDefinition, listOf } from '../../../src/contract/lists.ts';
import { type MirrorRecord, readOne } from '../../../src/contract/record.ts';
import { instantMs } from '../../../src/contract/time.ts';
import { inFormOf } from '../../../src/store/write/versions.ts';
import { connection, documentExport, webhook } from '../../support/stand-in.ts';
import { anyZone, writtenIn } from '../../support/zones.ts';

const exports = listOf('document-exports');
const webhooks = listOf('webhooks');

const read = (list: ListDefinition, item: object) => readOne(list, JSON.stringify(item)) as MirrorRecord;
const readWebhook = (over: object) => read(webhooks, webhook(1, { ...over }));
const readExport = (exportedAt: unknown) => read(exports, documentExport(1, { exportedAt }));

/** The content of a record in the form of its row. */
function contentIn(list: ListDefinition, record: MirrorRecord, row: MirrorRecord): string {
  const time = list === exports ? row.scalars.at(-1) : null;
  return contentOf(list, inFormOf(list, record, { ...row, time: typeof time === 'string' ? time : null }));
}
const hasContentOf = (list: ListDefinition, record: MirrorRecord, row: MirrorRecord) =>
  contentIn(list, record, row) === row.contents.toString('hex');

const event = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__', '');
const element = fc.oneof(
  fc.record({ id: fc.integer({ min: 1, max: 4 }), name: fc.constantFrom('One', 'Other', null) }),
  // These fit no column, so that the whole array is beside the columns.
  fc.constantFrom<object | null>({ id: null, name: 'Without an id' }, { name: 'Another' }, null),
);
const sets = fc.record({
  events: fc.array(fc.oneof({ weight: 9, arbitrary: event }, { weight: 1, arbitrary: fc.constant(null) })),
  connections: fc.array(element),
});
/** Sets, and the same in another order. */
const shuffled = sets.chain(({ events, connections }) =>
  fc.record({
    known: fc.constant({ events, connections }),
    now: fc.record({ events: inAnyOrder(events), connections: inAnyOrder(connections) }),
  }),
);

function inAnyOrder<Element>(array: readonly Element[]): fc.Arbitrary<Element[]> {
  return fc.shuffledSubarray([...array], { minLength: array.length });
}

describe('a set', () => {
  test('in any order of its elements is the same, whatever is in it', () => {
    fc.assert(
      fc.property(shuffled, ({ known, now }) => {
        const [row, record] = [readWebhook(known), readWebhook(now)];
        expect(hasContentOf(webhooks, record, row)).toBe(true);
      }),
    );
  });

  test('with an element more, less, twice or another is a change', () => {
    const change = fc.constantFrom('more', 'less', 'twice', 'another');
    const member = fc.constantFrom('events' as const, 'connections' as const);
    fc.assert(
      fc.property(shuffled, member, change, fc.nat(), ({ known, now }, name, kind, n) => {
        const array: unknown[] = [...now[name]];
        const place = n % Math.max(1, array.length);
        const fresh = name === 'events' ? 'new' : connection(99);
        fc.pre(kind === 'more' || array.length > 0);
        if (kind === 'more') array.splice(place, 0, fresh);
        if (kind === 'less') array.splice(place, 1);
        if (kind === 'twice') array.push(array[place]);
        if (kind === 'another') array[place] = fresh;
        const [row, record] = [readWebhook(known), readWebhook({ ...now, [name]: array })];
        expect(hasContentOf(webhooks, record, row)).toBe(false);
        const at = name === 'events' ? 0 : 1;
        expect(inFormOf(webhooks, record, { ...row, time: null }).arrays[at]).toEqual(record.arrays[at]);
      }),
    );
  });

  test.each([
    ['missing', {}, { events: [] }],
    ['null', { events: null }, { events: [] }],
    ['once', { events: ['a', 'a'] }, { events: ['a'] }],
    ['twice, and another once', { events: ['a', 'a', 'b'] }, { events: ['a', 'b', 'b'] }],
    ['a number in words', { connections: [connection(1)] }, { connections: [{ id: null, name: '1' }] }],
  ])('that is otherwise is a change: %s', (_what, known, now) => {
    const { events: _events, ...rest } = webhook(1);
    const row = read(webhooks, { ...rest, ...known });
    expect(hasContentOf(webhooks, read(webhooks, { ...rest, ...now }), row)).toBe(false);
  });

  test('keeps its order in a record of which something else was edited', () => {
    const row = readWebhook({ events: ['b', 'a', 'c'], connections: [connection(2), connection(1)] });
    const over = { events: ['c', 'b', 'a'], connections: [connection(1), connection(3)] };
    const record = inFormOf(webhooks, readWebhook({ ...over, description: 'Edited' }), {
      ...row,
      time: null,
    });
    expect(record.arrays).toEqual([
      ['b', 'a', 'c'],
      [1, 3],
    ]);
    expect(record.scalars).toContain('Edited');
  });

  test('that fits no column keeps its order, and gets the names of now', () => {
    const nameless = { id: null, name: 'Without an id' };
    const known = readWebhook({ connections: [connection(2), nameless, connection(1)] });
    const now = [{ id: 1, name: 'Renamed' }, connection(2), nameless];
    const record = inFormOf(webhooks, readWebhook({ connections: now, language: 'de' }), {
      ...known,
      time: null,
    });
    expect(JSON.parse(record.extra ?? '')).toEqual({
      connections: [connection(2), nameless, { id: 1, name: 'Renamed' }],
      language: 'de',
    });
    expect(record.arrays[1]).toEqual([2, null, 1]);
  });

  test('beside a text that is no JSON is read as it comes', () => {
    const record = readWebhook({ events: ['b', 'a'] });
    const form = { ...readWebhook({ events: ['a', 'b'] }), time: null, extra: '{' };
    expect(inFormOf(webhooks, record, form)).toBe(record);
  });
});

describe('an instant', () => {
  const instant = fc.integer({ min: Date.UTC(1960, 0, 2), max: Date.UTC(2060, 0, 1) });

  test('in any zone, and any way of writing it, is the same', () => {
    fc.assert(
      fc.property(instant, anyZone, anyZone, (ms, before, after) => {
        const [known, now] = [writtenIn(before, ms), writtenIn(after, ms)];
        expect(instantMs(now)).toBe(ms);
        expect(hasContentOf(exports, readExport(now), readExport(known))).toBe(true);
      }),
    );
  });

  test('a millisecond later is another one, however it is written', () => {
    fc.assert(
      fc.property(instant, anyZone, anyZone, (ms, before, after) => {
        const [row, record] = [readExport(writtenIn(before, ms)), readExport(writtenIn(after, ms + 1))];
        expect(inFormOf(exports, record, { ...row, time: writtenIn(before, ms) })).toBe(record);
      }),
    );
  });

  test.each([
    ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123457Z'],
    ['2026-01-01T00:00:00.123456Z', '2026-01-01T01:00:00.123+01:00'],
    ['2026-01-01T00:00:00.0001Z', '2026-01-01T00:00:00Z'],
    ['soon', 'Soon'],
    ['2026-02-30T00:00:00Z', '2026-03-02T00:00:00Z'],
    ['', null],
  ])('is a change if it is another one: %j and %j', (known, now) => {
    expect(hasContentOf(exports, readExport(now), readExport(known))).toBe(false);
  });

  test.each([
    ['2026-01-01T00:00:00.123456Z', '2026-01-01T01:00:00.123456000+01:00'],
    ['2026-01-01T00:00:00.1Z', '2026-01-01 00:00:00.100'],
    ['2026-01-01', '2025-12-31T19:00:00-05'],
  ])('is no change if it is written otherwise: %j and %j', (known, now) => {
    expect(hasContentOf(exports, readExport(now), readExport(known))).toBe(true);
  });
});
