import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PageContent, PageError, readContent, readPage } from '../../src/contract/page.ts';

const pagination = { pageCount: 2, pageNo: 1, pageSize: 2, totalRecordCount: 3 };
const items = [{ id: 1, name: '"pagination":{}' }, { id: 2 }];
const itemsOf = ({ parts }: PageContent) => parts.flatMap(part => part.items);
const read = (text: string, isKnown?: (digest: string) => boolean) => readPage(Buffer.from(text), isKnown);

describe('a page', () => {
  const layouts: [layout: string, write: (total: number, list: unknown) => string][] = [
    [
      'with its pagination last',
      (total, list) =>
        JSON.stringify({ items: list, pagination: { ...pagination, totalRecordCount: total } }),
    ],
    [
      'with its pagination first',
      (total, list) =>
        JSON.stringify({ pagination: { ...pagination, totalRecordCount: total }, items: list }, null, 1),
    ],
    [
      'with its pagination in the middle',
      (total, list) =>
        JSON.stringify({ a: 1, pagination: { ...pagination, totalRecordCount: total }, items: list }),
    ],
  ];

  test.each(layouts)('%s has a digest of its items alone', (_layout, write) => {
    const page = read(write(3, items));
    expect(page).toMatchObject({ pagination, content: { parts: [{ items }] } });
    expect(read(write(4, items)).itemsDigest).toBe(page.itemsDigest);
    expect(read(write(3, [...items, { id: 3 }])).itemsDigest).not.toBe(page.itemsDigest);
  });

  test.each(layouts.slice(0, 2))('%s is not parsed again if its items are known', (_layout, write) => {
    const { itemsDigest } = read(write(3, items));
    const again = read(write(4, items), digest => digest === itemsDigest);
    expect(again).toMatchObject({ content: null, pagination: { totalRecordCount: 4 } });
  });

  test('whose last record ends in a pagination of its own is read as it is', () => {
    const odd = [{ id: 1, pagination: { pageNo: 9 } }];
    expect(read(JSON.stringify({ pagination, items: odd }))).toMatchObject({
      pagination,
      content: { parts: [{ items: odd }] },
    });
  });

  const itemsJson = JSON.stringify(items);
  const paginationJson = JSON.stringify(pagination);
  const plain = read(`{"items":${itemsJson},"pagination":${paginationJson}}`).itemsDigest;

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
    expect(page).toMatchObject({ pagination, itemsDigest: plain, content: { parts: [{ items }] } });
    const again = read(text, digest => digest === plain);
    expect(again).toMatchObject({ pagination, itemsDigest: plain, content: null });
  });

  test('that has items twice is read by the last of them', () => {
    const text = `{"items":[{"id":9}],"items":${itemsJson},"pagination":${paginationJson}}`;
    expect(read(text)).toMatchObject({ pagination, content: { parts: [{ items }] } });
    const other = `{"items":${itemsJson},"items":[{"id":9}],"pagination":${paginationJson}}`;
    expect(read(other).itemsDigest).not.toBe(read(text).itemsDigest);
  });

  test('keeps its items byte for byte, and nothing that surrounds them', () => {
    const list = '[ {"id": 1.50, "a": "}],\\"\\\\"}, 12345678901234567890 ]';
    const page = read(`{"echo":1,"items": ${list} ,"pagination":${paginationJson}}`);
    expect(page.items.toString()).toBe(list);
    expect(page.content?.parts.map(({ text }) => text())).toEqual([list]);
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

  test('is read whatever surrounds its items', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), fc.jsonValue(), (before, list, after) => {
        const text = JSON.stringify({ before, items: list, pagination, after }, null, 1);
        const page = read(text);
        const sent = JSON.parse(JSON.stringify(list));
        expect([page.content && itemsOf(page.content), JSON.parse(page.items.toString())]).toEqual([
          sent,
          sent,
        ]);
      }),
      { numRuns: 200 },
    );
  });

  test('whose request id changes is known all the same', () => {
    const write = (id: number) =>
      `{"requestId":"r-${id}","items":${itemsJson},"pagination":${paginationJson},"tookMs":${id}}`;
    const { itemsDigest } = read(write(1));
    expect(read(write(2), digest => digest === itemsDigest).content).toBe(null);
  });

  test.each([
    ['', 'the body is empty'],
    ['<html>', 'not complete JSON'],
    ['{"items":[],"pagination":{"pageCount":1', 'not complete JSON'],
    ['{"items":[]}', 'pagination'],
    ['{"items":{},"pagination":{}}', 'not a page'],
    ['[]', 'not a page'],
    ['{"items":[],"pagination":{"pageCount":-1,"pageNo":1,"pageSize":1,"totalRecordCount":1}}', 'pageCount'],
  ])('is not what %j is: %s', (text, words) => {
    expect(() => read(text)).toThrow(PageError);
    expect(() => read(text)).toThrow(words);
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

  test.each(
    Object.entries({
      ...{
        error: messages,
        errors: messages,
        fault: messages,
        success,
        ok: success,
        isSuccess: success,
        status,
        statusCode: status,
      },
      ...{
        timed_out: flag,
        timedOut: flag,
        partial: flag,
        isPartial: flag,
        incomplete: flag,
        incomplete_results: flag,
        truncated: flag,
        hasErrors: flag,
      },
    }),
  )('says by its "%s" that it failed or is partial, or that all is well', (name, { isFault, isNone }) => {
    for (const value of isFault)
      for (const list of ['[]', itemsJson]) {
        const { itemsDigest } = read(`{"items":${list},"pagination":${paginationJson}}`);
        for (const text of withMember(name, value, list)) {
          expect(() => read(text), text).toThrow(`because its member "${name}" says`);
          const again = () => read(text, digest => digest === itemsDigest);
          expect(again, text).toThrow(PageError);
        }
      }
    for (const value of isNone)
      for (const text of withMember(name, value, itemsJson))
        expect(read(text), text).toMatchObject({ pagination, itemsDigest: plain });
  });

  test('can have an error in one of its records', () => {
    const list = [{ id: 1, error: 'the export failed' }];
    expect(read(JSON.stringify({ items: list, pagination })).content).toMatchObject({
      parts: [{ items: list }],
    });
  });

  test('of many items is read in parts, which say what the whole says', () => {
    const odd = fc.string({
      unit: fc.constantFrom('}', '{', ',', '[', ']', '"', '\\', ' ', 'é', '\u2028'),
      maxLength: 40,
    });
    const value = fc.letrec(tie => ({
      any: fc.oneof(
        { maxDepth: 3 },
        odd,
        fc.integer(),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.array(fc.record({ a: tie('any') }), { maxLength: 4 }),
      ),
    })).any;
    let inParts = 0;
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('', ' ', '\n  '),
        (some, gap) => {
          const list = Array.from({ length: 2_000 }, (_, at) => ({ at, value: some[at % some.length] }));
          const text = `[${list.map(each => gap + JSON.stringify(each)).join(',')}]`;
          const content = readContent(Buffer.from(text));
          if (content.parts.length > 1) inParts++;
          expect([content.count, itemsOf(content)]).toEqual([list.length, JSON.parse(text)]);
        },
      ),
      { numRuns: 60 },
    );
    expect(inParts).toBeGreaterThan(20);
  });

  test('that is not UTF-8 is none', () => {
    expect(() => readPage(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow('not valid UTF-8');
  });
});
