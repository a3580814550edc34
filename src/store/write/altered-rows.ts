import { contentOf, normalExtra, type RecordValues } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { Turns } from '../file/turns.ts';
import type { ListTable } from '../tables/list-table.ts';
import { tryToRead } from '../tables/readable.ts';

/** The rows whose columns came to another content than the one beside them, by that content in hexadecimal digits. */
export type AlteredRows = ReadonlyMap<string, readonly number[]>;

/** No row was altered. */
export const noAlteredRows: AlteredRows = new Map();

/** Whether each row of a list still says what docmirror wrote, and all of them what it kept as their sum. Changes nothing. */
export async function areRowsAsWritten(table: ListTable, kept: Sum, signal: AbortSignal): Promise<boolean> {
  if (table.hasStrayItems()) return false;
  const turns = new Turns(signal);
  const sum = new Sum();
  for (const { record, content } of table.rows()) {
    if (readContent(table.list, record) !== content) return false;
    if (normalExtra(record.extra) !== record.extra) return false;
    sum.addHex(content);
    if (turns.isOver) await turns.next();
  }
  return sum.equals(kept);
}

/**
 * Takes the rows of a list as they are, whoever wrote them: each gets the content that its columns come to. What no reader could
 * read of them goes: further fields that are no JSON, items of an array without a record, gaps between items.
 *
 * @returns the sum over the rows, and which of them said something else before.
 */
export function takeRowsAsTheyAre(table: ListTable): { sum: Sum; altered: AlteredRows } {
  const altered = new Map<string, number[]>();
  const sum = new Sum();
  table.mendItems();
  for (const id of [...table.ids()]) {
    const { record, content } = table.read(id);
    const readable = readContent(table.list, record);
    const extra = readable === null ? null : normalExtra(record.extra);
    if (extra !== record.extra) table.setExtra(id, extra);
    const right = readable ?? contentOf(table.list, { ...record, extra: null });
    sum.addHex(right);
    if (right === content) continue;
    altered.set(content, [...(altered.get(content) ?? []), id]);
    table.setContent(id, right);
  }
  return { sum, altered };
}

/** The content that a row's columns come to; null where its further fields can't be read. */
function readContent(list: ListDefinition, record: RecordValues): string | null {
  const read = tryToRead(() => contentOf(list, record));
  return 'value' in read ? read.value : null;
}
