import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { connectionContent } from '../../src/contract/content.ts';
import { recordOfJson } from '../../src/contract/record.ts';

const contentOf = (resource: string, json: string) => recordOfJson(resource, json).content.toString('hex');

function first16(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 32);
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const references = new Set(['sourceConnection', 'destinationConnection', 'connections']);

/** The same by other means: what CONTRACT says of a content, read word for word. */
function expectedContent(record: { readonly [name: string]: Json }): string {
  const fields = Object.entries(record)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, references.has(name) ? idsAlone(value) : value] as const);
  return first16(canonical(Object.fromEntries(fields)));
}

function idsAlone(value: Json): Json {
  if (Array.isArray(value)) return value.map(idsAlone);
  return value !== null && typeof value === 'object' && 'id' in value ? { id: value.id as Json } : value;
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const object = value as { readonly [name: string]: Json };
  // A plain sort compares UTF-16 code units.
  const members = Object.keys(object).sort();
  return `{${members.map(name => `${JSON.stringify(name)}:${canonical(object[name] as Json)}`).join(',')}}`;
}

const documentExport = {
  sourceConnection: { id: 12, name: 'SAP S/4HANA' },
  sourceDocumentTitle: 'Purchase order "11985" – 株式会社',
  sourceDocumentReference: '4591282847',
  sourceDocumentVersion: '2',
  sourceDocumentKind: 'purchase-order',
  destinationConnection: { id: 103, name: 'Archive' },
  destinationReference: 's3://archive/31ad.pdf',
  exportedAt: '2026-08-26T09:11:58.563Z',
};
const collection = {
  id: 31,
  name: 'Invoices',
  sourceConnection: { id: 1, name: 'a' },
  destinationConnection: { id: 2, name: 'b' },
};
const webhook = {
  id: -25,
  endpoint: 'https://hooks.example.com/?key=1',
  description: 'x',
  events: ['b', 'a', 'b'],
  connections: [{ id: 2, name: 'two' }, { id: 1, name: 'one' }, null],
};

describe("a record's content is that of its canonical JSON:", () => {
  test.each<[what: string, resource: string, record: { readonly [name: string]: Json }]>([
    ['a document export', 'document-exports', documentExport],
    ['a collection', 'collections', collection],
    ['a webhook', 'webhooks', webhook],
    ['arrays that are empty', 'webhooks', { ...webhook, events: [], connections: [] }],
    [
      'unknown fields of all kinds',
      'collections',
      { ...collection, zebra: { b: 1, a: [null, { d: 1, c: -0.5 }] }, A: true, '7': 1e21 },
    ],
    [
      'names in the order of UTF-16 code units',
      'collections',
      { id: 1, '\u20ac': 1, '\ud83d\ude00': 2, '\ufb33': 3, '\r': 4, '1': 5, '\u0080': 6, ö: 7 },
    ],
    ['a connection without an id', 'collections', { ...collection, sourceConnection: { name: 'nameless' } }],
    [
      'a reference with further fields',
      'collections',
      { ...collection, sourceConnection: { id: 1, name: 'a', region: 'eu' } },
    ],
    ['half a surrogate pair in a field', 'collections', { ...collection, name: 'half \ud83d' }],
    [
      'half a surrogate pair in an unknown field and its name',
      'collections',
      { ...collection, '\ud800': '\ud83d x' },
    ],
    ['control characters', 'collections', { ...collection, name: '\u0000\u001f\u007f\b\f\u2028"\\/' }],
  ])('%s', (_what, resource, record) => {
    expect(contentOf(resource, JSON.stringify(record))).toBe(expectedContent(record));
  });

  test.each(['[]', '"A"', '{"name":"A"}', '{"id":"5","name":null}', '{"id":5,"name":7}'])(
    '%s is no connection',
    json => expect(() => recordOfJson('connections', json)).toThrow(SyntaxError),
  );

  test('any unknown fields', () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const unknown = fc.dictionary(
      fc.string({ unit: 'binary' }).filter(name => name !== '__proto__'),
      value,
      { maxKeys: 5 },
    );
    fc.assert(
      fc.property(unknown, further => {
        const record = { ...further, ...collection };
        expect(contentOf('collections', JSON.stringify(record))).toBe(expectedContent(record));
      }),
    );
  });

  test('numbers as the RFC writes them, and digits beyond those of a double as they were received', () => {
    const expected =
      '{"a":12345678901234567890123,"b":1.5,"c":[1e+400,{"d":0.1000000000000000055511151231257827}],"id":7}';
    const sent =
      '{"id": 7, "c": [1e+400, {"d": 0.1000000000000000055511151231257827}], "b": 1.50, "a": 12345678901234567890123}';
    expect(contentOf('collections', sent)).toBe(first16(expected));
    expect(contentOf('collections', '{"id":7,"b":1.50e0,"z":-0}')).toBe(first16('{"b":1.5,"id":7,"z":0}'));
  });

  test.each([
    ['18446744073709551616', '18446744073709552000'],
    ['-1180591620717411303424', '-1.1805916207174113e+21'],
    ['0.1000000000000000055511151231257827021181583404541015625', '0.1'],
    ['18446744073709551617', '18446744073709551617'],
  ])(
    'a number that is exactly a double as the RFC writes that, whatever digits it came in: %s',
    (sent, expected) => {
      expect(contentOf('collections', `{"id":7,"n":${sent}}`)).toBe(first16(`{"id":7,"n":${expected}}`));
    },
  );
});

describe("a record's content does not say", () => {
  const plain = contentOf('collections', JSON.stringify(collection));
  test.each([
    [
      'what a connection is called',
      JSON.stringify({ ...collection, sourceConnection: { id: 1, name: 'renamed' } }),
    ],
    [
      'what else is known of a connection',
      JSON.stringify({ ...collection, sourceConnection: { id: 1, region: 'eu' } }),
    ],
    ['that a field is null', JSON.stringify({ ...collection, colour: null })],
    [
      'in which order its fields came',
      JSON.stringify(Object.fromEntries(Object.entries(collection).reverse())),
    ],
    ['how it was written', JSON.stringify(collection, null, 2).replace('"Invoices"', '"\\u0049nvoices"')],
  ])('%s', (_what, record) => expect(contentOf('collections', record)).toBe(plain));
});

test('an empty array says something else than one that is missing', () => {
  expect(contentOf('webhooks', '{"id":1,"events":[]}')).not.toBe(contentOf('webhooks', '{"id":1}'));
});

test("a connection's content is its id, its name and its further fields", () => {
  const hex = (id: number, name: string | null, extra: string | null) =>
    connectionContent({ id, name, extra }).toString('hex');
  expect(hex(5, 'five', null)).toBe(first16('{"id":5,"name":"five"}'));
  expect(hex(5, null, null)).toBe(first16('{"id":5}'));
  expect(hex(5, 'five', '{"z":1,"a":null,"big":12345678901234567890}')).toBe(
    first16('{"big":12345678901234567890,"id":5,"name":"five","z":1}'),
  );
  expect(hex(5, null, '{"name":"\\ud83d"}')).toBe(first16('{"id":5,"name":"\\ud83d"}'));
});

test('ignored fields are left out of a content, also if they have a column now', () => {
  const of = (json: string, ...ignored: string[]) =>
    recordOfJson('collections', json, new Set(ignored)).content.toString('hex');
  const plain = contentOf('collections', '{"id":1,"name":"x","b":2}');
  expect(of('{"id":1,"name":"x","b":2,"a":{"c":1}}', 'a')).toBe(plain);
  expect(of('{"id":1,"name":"x","b":2}', 'a')).toBe(plain);
  expect(of('{"id":1,"name":"x","b":2}', 'a', 'b', 'name')).toBe(contentOf('collections', '{"id":1}'));
  expect(of('{"id":1,"name":"x"}', 'name')).toBe(contentOf('collections', '{"id":1}'));
});
