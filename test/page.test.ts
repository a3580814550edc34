import { describe, expect, test } from 'vitest';
import { PageError, readPage } from '../src/contract/page.ts';

const pagination = { pageCount: 2, pageNo: 1, pageSize: 2, totalRecordCount: 3 };
const items = [{ id: 1, name: '"pagination":{}' }, { id: 2 }];
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
    expect(page).toMatchObject({ pagination, content: { items } });
    expect(read(write(4, items)).itemsDigest).toBe(page.itemsDigest);
    expect(read(write(3, [...items, { id: 3 }])).itemsDigest).not.toBe(page.itemsDigest);
  });

  test.each(layouts.slice(0, 2))('%s is not parsed again where its items are known', (_layout, write) => {
    const { itemsDigest } = read(write(3, items));
    const again = read(write(4, items), digest => digest === itemsDigest);
    expect(again).toMatchObject({ content: null, pagination: { totalRecordCount: 4 } });
  });

  test('whose last record ends in a pagination of its own is read as it is', () => {
    const odd = [{ id: 1, pagination: { pageNo: 9 } }];
    expect(read(JSON.stringify({ pagination, items: odd }))).toMatchObject({
      pagination,
      content: { items: odd },
    });
  });

  test.each([
    ['', 'the body is empty'],
    ['<html>', 'not whole JSON'],
    ['{"items":[],"pagination":{"pageCount":1', 'not whole JSON'],
    ['{"items":[]}', 'pagination'],
    ['{"items":{},"pagination":{}}', 'not a page'],
    ['[]', 'not a page'],
    ['{"items":[],"pagination":{"pageCount":-1,"pageNo":1,"pageSize":1,"totalRecordCount":1}}', 'pageCount'],
  ])('is not what %j is: %s', (text, words) => {
    expect(() => read(text)).toThrow(PageError);
    expect(() => read(text)).toThrow(words);
  });

  test('that is not UTF-8 is none', () => {
    expect(() => readPage(Buffer.from([0x7b, 0xff, 0x7d]))).toThrow('not valid UTF-8');
  });
});
