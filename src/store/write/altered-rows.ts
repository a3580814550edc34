import { contentOf, type RecordValues } from '../../contract/content.ts';
import { arrayFields, type ListDefinition, scalarFields } from '../../contract/lists.ts';
import { normalRecord } from '../../contract/record-content.ts';
import { Sum } from '../../contract/sum.ts';
import { codeOf } from '../../errors.ts';
import { TimeSlice } from '../file/time-slice.ts';
import type { ListTable, StoredRow } from '../tables/list-table.ts';
import { tryToRead } from '../tables/readable.ts';

/** The rows whose columns came to another content than the one beside them, each with that content in hexadecimal digits. */
export type AlteredRows = ReadonlyMap<number, string>;

/** No row was altered. */
export const noAlteredRows: AlteredRows = new Map();

/** Whether each row of a list still says what docmirror wrote, and all of them what it kept as their sum. Changes nothing. */
export async function areRowsAsWritten(table: ListTable, kept: Sum, signal: AbortSignal): Promise<boolean> {
  if (table.isMalformed()) return false;
  const slice = new TimeSlice(signal);
  const sum = new Sum();
  for (const { record, content } of table.rows()) {
    if (readNormal(table.list, record) !== record) return false;
    if (contentOf(table.list, record) !== content) return false;
    sum.addHex(content);
    if (slice.isOver) await slice.next();
  }
  return sum.equals(kept);
}

/**
 * Takes the rows of a list as they are, whoever wrote them: each gets the content that its columns come to. What no reader could
 * read of them goes: further fields that are no JSON, items of an array without a record, gaps between items. A field that stands
 * among the further ones, though its column can hold it, goes back there.
 *
 * @returns the sum over the rows, and which of them said something else before.
 */
export function takeRowsAsTheyAre(table: ListTable): { sum: Sum; altered: AlteredRows } {
  const altered = new Map<number, string>();
  const sum = new Sum();
  table.mend();
  for (const id of [...table.ids()]) {
    const row = table.read(id);
    const written = writeNormal(table, row);
    sum.addHex(written);
    if (written !== row.content) altered.set(id, row.content);
  }
  return { sum, altered };
}

/** Puts a row right where it is not as docmirror writes it, and returns its content. */
function writeNormal(table: ListTable, row: StoredRow): string {
  const { id, record } = row;
  const known = { ...record, extra: null };
  const normal = readNormal(table.list, record) ?? known;
  const write = (right: RecordValues): string => {
    const content = contentOf(table.list, right);
    if (right !== record || content !== row.content)
      table.update(id, { ...right, content: Buffer.from(content, 'hex') }, row.changedRunId);
    return content;
  };
  try {
    return write(normal);
  } catch (error) {
    // It refers to a connection that is gone, or never was: the next sweep brings both back.
    if (codeOf(error) !== 'SQLITE_CONSTRAINT_FOREIGNKEY') throw error;
    return write(withoutReferences(table.list, known));
  }
}

function withoutReferences(list: ListDefinition, { scalars, arrays, ...others }: RecordValues): RecordValues {
  const [fields, arraysOf] = [scalarFields(list), arrayFields(list)];
  return {
    ...others,
    scalars: scalars.map((value, at) => (fields[at]?.kind === 'connection' ? null : value)),
    arrays: arrays.map((values, at) => (arraysOf[at]?.kind === 'connections' ? [] : values)),
  };
}

/** A record as docmirror writes it, the same object where it is so; null where its further fields can't be read. */
function readNormal(list: ListDefinition, record: RecordValues): RecordValues | null {
  const read = tryToRead(() => normalRecord(list, record));
  return 'value' in read ? read.value : null;
}
