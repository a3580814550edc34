import { expect, test } from 'vitest';
import { listOf } from '../../src/contract/lists.ts';
import { parseItems } from '../../src/contract/page.ts';
import { readRecords } from '../../src/contract/record.ts';

const readItems = (text: string) => readRecords(listOf('collections'), parseItems(Buffer.from(text)));

test.each([
  ['7', 'the item is not an object'],
  ['{"name":"x"}', 'id: must be integer'],
  ['{"id":null}', 'id: must be integer'],
  ['{"id":1.5}', 'id: must be integer'],
  ['{"id":9007199254740993}', "id: the number is beyond 2^53, so it can't be held exactly"],
  ['{"id":1,"name":7}', 'name: must be string or null'],
  ['{"id":1,"sourceConnection":[]}', 'sourceConnection: must be object or null'],
  ['{"id":1,"sourceConnection":{"id":"x"}}', 'sourceConnection.id: must be integer or null'],
  ['{"id":1,"sourceConnection":{"name":{}}}', 'sourceConnection.name: must be string or null'],
])('%s is set aside, because of what does not fit: %s', (record, reason) => {
  expect(readItems(`[${record}]`).rejections).toEqual([{ position: 0, reason, record }]);
});

test('what is set aside from a page of many parts keeps its place, and its value with all digits', () => {
  const odd = new Map([
    [3, '{"id":"none","n":12345678901234567890}'],
    [700, '7'],
    [1_999, '{"id":1.5,"name":"},{"}'],
  ]);
  const items = Array.from(
    { length: 2_000 },
    (_, at) => odd.get(at) ?? `{"id":${at + 1},"name":"A collection"}`,
  );
  const { records, rejections } = readItems(`[${items.join(', ')}]`);
  expect(new Map(rejections.map(({ position, record }) => [position, record]))).toEqual(odd);
  for (const { id, position } of records) expect(id).toBe(position + 1);
});
