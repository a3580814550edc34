import type Database from 'better-sqlite3';
import { connectionContent, contentOf } from '../../contract/content.ts';
import { keptResources, type ListDefinition, lists } from '../../contract/lists.ts';
import { isNormalRecord } from '../../contract/record.ts';
import { contentBytes, Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import type { TimeSlice } from '../../time-slice.ts';
import { type ConnectionRow, connectionRows, isExtraAsWritten } from '../tables/connection-table.ts';
import { ListTable, type StoredRow } from '../tables/list-table.ts';
import { tryToRead } from '../tables/readable.ts';
import { lastState, sumOfContents } from './run-receipt.ts';

type Resource = (typeof keptResources)[number];

/** A mirror's file, open. */
interface OpenFile {
  readonly path: string;
  readonly sqlite: Database.Database;
}

interface CheckedRow {
  /** The content that the columns give, in hexadecimal digits. */
  readonly content: string;
  readonly isAsWritten: boolean;
}

/** Compares the columns of a list's row with its content. */
export function checkRow(list: ListDefinition, { record, content }: StoredRow): CheckedRow {
  const read = () => ({ content: contentOf(list, record), isNormal: isNormalRecord(list, record) });
  return compare(content, read);
}

/** Compares the columns of a connection's row with its content. */
export function checkConnection(row: ConnectionRow): CheckedRow {
  const content = row.content?.toString('hex');
  return compare(content, () => ({
    content: connectionContent(row).toString('hex'),
    isNormal: isExtraAsWritten(row),
  }));
}

function compare(stored: string | undefined, read: () => { content: string; isNormal: boolean }): CheckedRow {
  const found = tryToRead(read);
  if (!('value' in found)) return { content: '0'.repeat(2 * contentBytes), isAsWritten: false };
  const { content, isNormal } = found.value;
  return { content, isAsWritten: isNormal && content === stored };
}

/**
 * Compares the columns of every row of a list, or of the connections, with its content.
 *
 * @param tell called with the id of each row that is not as docmirror wrote it.
 * @returns the sum of the contents that the columns give.
 */
export function checkRows(
  sqlite: Database.Database,
  resource: Resource,
  slice: TimeSlice,
  tell: (id: number) => void,
): Promise<Sum> {
  const checkAll = async <Row extends { id: number }>(
    rows: Iterable<Row>,
    check: (row: Row) => CheckedRow,
  ) => {
    const sum = new Sum();
    for (const row of rows) {
      const { content, isAsWritten } = check(row);
      if (!isAsWritten) tell(row.id);
      sum.add(content);
      if (slice.isOver) await slice.next();
    }
    return sum;
  };
  const list = lists.find(each => each.resource === resource);
  return list === undefined
    ? checkAll(connectionRows(sqlite), checkConnection)
    : checkAll(new ListTable(sqlite, list).rows(), row => checkRow(list, row));
}

/**
 * Makes sure that each row of the lists and the connections is what docmirror wrote, and that their sums are those of the newest
 * receipts. It reads every row, which takes some 4 s for a million records.
 *
 * @throws MirrorAlteredError if another program changed, added or removed a row.
 */
export async function assertAsWritten({ path, sqlite }: OpenFile, slice: TimeSlice): Promise<void> {
  for (const list of lists)
    if (new ListTable(sqlite, list).malformed().length > 0) throw altered(path, list.resource);
  for (const resource of keptResources) {
    const sum = await checkRows(sqlite, resource, slice, () => {
      throw altered(path, resource);
    });
    if (!sum.equals(lastState(sqlite, resource))) throw altered(path, resource);
  }
}

/**
 * Makes sure that the content hashes beside the rows still have the expected sum. It does not read the rows.
 *
 * @throws MirrorAlteredError if they do not.
 */
export function assertSum({ path, sqlite }: OpenFile, resource: Resource, expected: Sum): void {
  if (!sumOfContents(sqlite, resource).equals(expected)) throw altered(path, resource);
}

function altered(path: string, resource: Resource): MirrorAlteredError {
  return new MirrorAlteredError(
    `Another program altered ${path}: its ${resource} are not what docmirror wrote`,
  );
}
