import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseItems } from '../../src/contract/page.ts';
import { readPage } from '../../src/service/page.ts';

const pagination = { pageCount: 2, pageNo: 1, pageSize: 2, totalRecordCount: 3 };
const items = [{ id: 1, name: '"pagination":{}' }, { id: 2 }];
const read = (text: string, isKnown: (digest: string) => boolean = () => false) =>
  readPage(Buffer.from(text), 'GET /', (bytes, digest) => ({
    items: isKnown(digest) ? null : parseItems(bytes),
    unknown: bytes,
  }));

describe('a page', () => {
  test.each<[layout: string, write: (total: number, list: unknown) => object]>([
    ['last', (total, list) => ({ items: list, pagination: { ...pagination, totalRecordCount: total } })],
    ['first', (total, list) => ({ pagination: { ...pagination, totalRecordCount: total }, items: list })],
  ])('with its pagination %s has a digest of its items alone', (_layout, write) => {
    const digestOf = (total: number, list: unknown) =>
      read(JSON.stringify(write(total, list), null, 1)).digest;
    expect(digestOf(4, items)).toBe(digestOf(3, items));
    expect(digestOf(3, [...items, { id: 3 }])).not.toBe(digestOf(3, items));
  });

  test('whose last record ends in a pagination of its own is read as it is', () => {
    const odd = [{ id: 1, pagination: { pageNo: 9 } }];
    expect(read(JSON.stringify({ pagination, items: odd }))).toMatchObject({
      pagination,
      items: odd,
    });
  });

  test('that is nested too deep to be written again is refused in words', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const late = `{"a":"${'x'.repeat(5_000)}","items":[${deep}],"pagination":${JSON.stringify(pagination)}}`;
    expect(() => read(late)).toThrow('nested too deep');
  });

  const itemsJson = JSON.stringify(items);
  const paginationJson = JSON.stringify(pagination);
  const plain = read(`{"items":${itemsJson},"pagination":${paginationJson}}`).digest;

  test.each([
    ['a request id before', `{"requestId":"r-1","items":${itemsJson},"pagination":${paginationJson}}`],
    [
      'brackets in what follows',
      `{"items":${itemsJson},"pagination":${paginationJson},"links":[["a]"],[{}]],"x":"]"}`,
    ],
    ['items in what follows', `{"items":${itemsJson},"pagination":${paginationJson},"echo":{"items":[7]}}`],
    ['letters of the names escaped', `{"it\\u0065ms":${itemsJson},"p\\u0061gination":${paginationJson}}`],
    ['a byte order mark', `\uFEFF{"items":${itemsJson},"pagination":${paginationJson}}`],
    ['white space', ` {\n "items" :\t${itemsJson} ,\r\n "pagination" : ${paginationJson}\n}\n`],
    [
      'more before its items than is looked at',
      `{"a":"${'x'.repeat(5_000)}","items":${itemsJson},"pagination":${paginationJson}}`,
    ],
    [
      'more after its items than is looked at',
      `{"items":${itemsJson},"pagination":${paginationJson},"a":"${']'.repeat(70_000)}"}`,
    ],
  ])('with %s says the same', (_what, text) => {
    const page = read(text);
    expect(page).toMatchObject({ pagination, digest: plain, items });
    const again = read(text, digest => digest === plain);
    expect(again).toMatchObject({ pagination, digest: plain, items: null });
  });

  test('keeps its items byte for byte, and nothing that surrounds them', () => {
    const list = '[ {"id": 1.50, "a": "}],\\"\\\\"}, 12345678901234567890 ]';
    const page = read(`{"echo":1,"items": ${list} ,"pagination":${paginationJson}}`);
    expect(page.bytes.toString()).toBe(list);
    expect(JSON.stringify(page.items)).toBe('[{"id":1.5,"a":"}],\\"\\\\"},12345678901234567890]');
  });

  test('names the members beside its items and its pagination, whose values are not kept', () => {
    const text = `{"took":3,"items":${itemsJson},"pagination":${paginationJson},"meta":{"id":"r-1"},"next":null}`;
    const expected = [
      { field: 'took', jsonType: 'number', isInAnswer: true },
      { field: 'meta', jsonType: 'object', isInAnswer: true },
      { field: 'next', jsonType: 'null', isInAnswer: true },
    ];
    expect(read(text).otherMembers).toEqual(expected);
    expect(read(text.replace('items', 'it\\u0065ms')).otherMembers).toEqual(expected);
  });

  test.each([
    ['', 'the body is empty'],
    ['<html>', 'not complete JSON'],
    ['{"items":[],"pagination":{"pageCount":1', 'not complete JSON'],
    ['{"items":[]}', 'pagination'],
    [`{"items":{},"pagination":${paginationJson}}`, 'it has no array "items"'],
    [`{"pagination":${paginationJson}}`, 'it has no array "items"'],
    ['null', 'it has no array "items"'],
    [
      '{"items":[],"pagination":{"pageNo":1,"pageSize":1,"totalRecordCount":1}}',
      'pagination.pageCount is missing',
    ],
  ])('is not what %j is: %s', (text, words) => {
    expect(() => read(text)).toThrow(words);
  });

  describe('says in its pagination by', () => {
    const numbersOf = (over: object) =>
      read(JSON.stringify({ items, pagination: { ...pagination, ...over } })).pagination;

    test('digits in a text the number that they are', () => {
      const texts = { pageCount: '2', pageNo: '1', pageSize: '002', totalRecordCount: '3' };
      expect(numbersOf(texts)).toEqual(pagination);
      expect(numbersOf({ totalRecordCount: '123456789012345' }).totalRecordCount).toBe(123_456_789_012_345);
      // Pages are counted as numbers, not as texts.
      const truncated = { ...pagination, pageNo: '9', pageCount: '10', pageSize: '2' };
      expect(read(JSON.stringify({ items, pagination: truncated, truncated: true })).items).toHaveLength(2);
    });

    test.each([-1, '-1', -0, -9007199254740991])('a total of %j that it has none', total => {
      expect(numbersOf({ totalRecordCount: total }).totalRecordCount).toBe(0);
      expect(numbersOf({ pageCount: total }).pageCount).toBe(0);
    });

    test('a page size below 0 nothing', () => {
      expect(() => numbersOf({ pageSize: '-1' })).toThrow('pagination.pageSize is below 0: "-1"');
    });

    test('a page number below 0 that number', () => {
      expect(numbersOf({ pageNo: '-1' }).pageNo).toBe(-1);
    });

    test.each([
      ['pageSize', '1e3', '"1e3"'],
      ['pageSize', ' 100 ', '" 100 "'],
      ['pageSize', '', '""'],
      ['pageNo', '1.0', '"1.0"'],
      ['pageNo', '+1', '"+1"'],
      ['pageCount', 1.5, '1.5'],
      ['pageCount', null, 'null'],
      ['totalRecordCount', '1,003', '"1,003"'],
      ['totalRecordCount', '1234567890123456', '"1234567890123456"'],
      ['totalRecordCount', '٣', '"٣"'],
      ['totalRecordCount', { value: 10_000, relation: 'gte' }, '{"value":10000,"relation":"gte"}'],
      ['totalRecordCount', 'x'.repeat(500), `"${'x'.repeat(39)}`],
    ])('a %s of %j nothing, in words that show it', (name, value, shown) => {
      expect(() => numbersOf({ [name]: value })).toThrow(
        new RegExp(`pagination\\.${name} is not a whole number: ${RegExp.escape(shown)}$`),
      );
    });
  });

  const withMember = (name: string, value: string, list: string) => [
    `{"${name}":${value},"items":${list},"pagination":${paginationJson}}`,
    `{"items":${list},"pagination":${paginationJson},"${name}":${value}}`,
    `{"items":${list},"${name}":${value},"pagination":${paginationJson}}`,
    `{"a":"${'x'.repeat(5_000)}","items":${list},"pagination":${paginationJson},"${name}":${value}}`,
  ];
  const messages = {
    isFault: ['"index not ready"', 'true', '503', '["a"]', '{"code":1}'],
    isNone: ['null', 'false', '""', '0', '[]', '{}'],
  };
  const flag = { isFault: ['true'], isNone: ['false', 'null'] };
  const success = { isFault: ['false'], isNone: ['true', 'null'] };
  const status = {
    isFault: ['"error"', '"FAILED"', '500', '"503"', 'false'],
    isNone: ['"ok"', '"success"', '200', '"200"', 'null', 'true'],
  };

  const members: readonly [names: string, values: typeof flag][] = [
    ['error errors fault', messages],
    ['success ok isSuccess', success],
    ['status statusCode', status],
    ['timed_out timedOut partial isPartial incomplete incomplete_results hasErrors', flag],
  ];

  test.each(members.flatMap(([names, values]) => names.split(' ').map(name => [name, values] as const)))(
    'says by its "%s" that it failed or is partial, or that all is well',
    (name, { isFault, isNone }) => {
      for (const value of isFault)
        for (const list of ['[]', itemsJson]) {
          const { digest } = read(`{"items":${list},"pagination":${paginationJson}}`);
          for (const text of withMember(name, value, list)) {
            expect(() => read(text), text).toThrow(`because its member "${name}" says`);
            expect(() => read(text, each => each === digest), text).toThrow(
              `because its member "${name}" says`,
            );
          }
        }
      for (const value of isNone)
        for (const text of withMember(name, value, itemsJson))
          expect(read(text), text).toMatchObject({ pagination, digest: plain });
    },
  );

  test('is not cut short by a "truncated" that says that pages follow a full one', () => {
    const truncated = (list: unknown, over = {}) =>
      JSON.stringify({ items: list, pagination: { ...pagination, ...over }, truncated: true });
    expect(read(truncated(items))).toMatchObject({ pagination, digest: plain, items });
    expect(read(truncated(items), () => true)).toMatchObject({ pagination, digest: plain, items: null });
    for (const text of [
      truncated(items.slice(1)),
      truncated([]),
      truncated([], { pageSize: 0 }),
      truncated(items, { pageNo: 2 }),
      truncated(items, { pageCount: undefined }),
    ]) {
      expect(() => read(text), text).toThrow('because its member "truncated" says');
      expect(() => read(text, () => true), text).toThrow('because its member "truncated" says');
    }
  });

  test('can have an error in one of its records', () => {
    const list = [{ id: 1, error: 'the export failed' }];
    expect(read(JSON.stringify({ items: list, pagination })).items).toMatchObject(list);
  });

  test('of many items is read in parts, which say what the whole says', () => {
    const odd = fc.string({
      unit: fc.constantFrom('}', '{', ',', '[', ']', '"', '\\', ' ', 'é', '\u2028'),
      maxLength: 40,
    });
    const value = fc.oneof(odd, fc.integer(), fc.array(fc.record({ a: odd }), { maxLength: 4 }));
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('', ' ', '\n  '),
        (some, gap) => {
          const list = Array.from({ length: 2_000 }, (_, at) => ({ at, value: some[at % some.length] }));
          const text = `[${list.map(each => gap + JSON.stringify(each)).join(',')}]`;
          expect(parseItems(Buffer.from(text))).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('that is not UTF-8 is none', () => {
    expect(() => readPage(Buffer.from([0x7b, 0xff, 0x7d]), '')).toThrow('not valid UTF-8');
  });
});
