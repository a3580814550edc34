import { expect, test } from 'vitest';
import { listOf } from '../../src/contract/lists.ts';
import { readContent } from '../../src/contract/page.ts';
import { pageReader } from '../../src/contract/record.ts';

test('a record that is nested deeper than 512 levels is set aside, and those beside it are read', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const items = `[{"id":1,"deep":${nested(600)}},{"id":2,"deep":${nested(400)}}]`;
  const page = readContent(
    Buffer.from(
      `{"items":${items},"pagination":{"pageCount":1,"pageNo":1,"pageSize":2,"totalRecordCount":2}}`,
    ),
  );
  const { records, rejections } = pageReader(listOf('collections')).read(page);
  expect(records.map(({ id }) => id)).toEqual([2]);
  expect(rejections).toMatchObject([{ position: 0, reason: expect.stringContaining('512') }]);
});
