import { expect, test } from 'vitest';
import { listOf } from '../../src/contract/lists.ts';
import { readPage } from '../../src/contract/page.ts';
import { type PageContent, readContent } from '../../src/contract/page-content.ts';
import { readRecords } from '../../src/contract/record.ts';

test('a number beyond the digits of a double keeps them, however the page is written', () => {
  const pagination = '"pagination":{"pageCount":1,"pageNo":1,"pageSize":2,"totalRecordCount":1}';
  const gap = ' '.repeat(200);
  for (const name of ['items', 'it\\u0065ms']) {
    const text = `{"more":{"items":[2]},"${name}"${gap}:${gap}[ {"id":1,"n":12345678901234567890} ],${pagination}}`;
    const { records } = readRecords(
      listOf('collections'),
      readPage(Buffer.from(text)).content as PageContent,
    );
    expect(records.map(({ extra }) => extra)).toEqual(['{"n":12345678901234567890}']);
  }
});

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('a record that is nested deeper than 512 levels is set aside, and those beside it are read', () => {
  const items = `[{"id":1,"deep":${nested(600)}},{"id":2,"deep":${nested(400)}}]`;
  const { records, rejections } = readRecords(listOf('collections'), readContent(Buffer.from(items)));
  expect(records.map(({ id }) => id)).toEqual([2]);
  expect(rejections).toMatchObject([{ position: 0, reason: expect.stringContaining('512') }]);
});

test.each([
  ['as many levels as may be', 511, 1],
  ['one level more', 512, 0],
  ['a hundred thousand levels', 100_000, 0],
])('%s are counted beside a number beyond a double, too, wherever they are', (_how, levels, read) => {
  const deep = nested(levels);
  const number = '"n":12345678901234567890';
  const nestedIn = (connection: string) => `"sourceConnection":{"id":1,${connection}}`;
  for (const record of [
    `{"id":1,${number},"deep":${deep}}`,
    `{"id":1,"deep":${deep},${number}}`,
    `{"id":1,${nestedIn(number)},"deep":${deep}}`,
    `{"id":1,${number},${nestedIn(`"deep":${deep.slice(1, -1)}`)}}`,
  ]) {
    const { records, rejections } = readRecords(
      listOf('collections'),
      readContent(Buffer.from(`[${record}]`)),
    );
    expect([records.length, rejections.length]).toEqual([read, 1 - read]);
  }
});

test('what is set aside from a page of many parts keeps its place and its text as received', () => {
  const odd = new Map([
    [3, '{"id": "none", "n": 1.0}'],
    [700, '7'],
    [1_999, '{"id":1.5,"name":"},{"}'],
  ]);
  const items = Array.from(
    { length: 2_000 },
    (_, at) => odd.get(at) ?? `{"id":${at + 1},"name":"A collection"}`,
  );
  const content = readContent(Buffer.from(`[${items.join(', ')}]`));
  expect(content.parts.length).toBeGreaterThan(1);
  const { records, positions, rejections } = readRecords(listOf('collections'), content);
  expect(new Map(rejections.map(({ position, record }) => [position, record]))).toEqual(odd);
  expect(records.map(({ id }) => id)).toEqual(positions.map(position => position + 1));
  const some = [0, 699, 700, 1_998];
  expect(readRecords(listOf('collections'), content, some)).toMatchObject({
    positions: [0, 699, 1_998],
    records: [{ id: 1 }, { id: 700 }, { id: 1_999 }],
    rejections: [{ position: 700 }],
  });
});
