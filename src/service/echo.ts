import { memberText } from '../contract/exact-json.ts';

/** The parts of a page's text that are stored: `items` as it was received, and of `pagination` its four numbers. */
export function storedParts(page: string): { items: string; pagination: string } {
  const numbers: unknown = JSON.parse(memberText(page, 'pagination') ?? '{}', (key, value: unknown) =>
    key === '' || paginationNames.has(key) ? value : undefined,
  );
  return { items: memberText(page, 'items') ?? '[]', pagination: JSON.stringify(numbers) };
}

const paginationNames = new Set(['pageCount', 'pageNo', 'pageSize', 'totalRecordCount']);
