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

/** The content that the columns of a row give, in hexadecimal digits, and how the row is not as docmirror wrote it; null if it is. */
interface CheckedRow {
  readonly content: string;
  readonly fault: string | null;
}

/** Replaces the content of a row that can't be read. */
const noContent = '0'.repeat(2 * contentBytes);
const notNormal = '_extra is not as docmirror writes it';

/** Compares the columns of a list's row with its content. */
export function checkRow(list: ListDefinition, { record, content: stored }: StoredRow): CheckedRow {
  const read = tryToRead(() => ({
    content: contentOf(list, record),
    isNormal: isNormalRecord(list, record),
  }));
  if ('problem' in read) return { content: noContent, fault: `_extra can't be read: ${read.problem}` };
  const { content, isNormal } = read.value;
  if (!isNormal) return { content, fault: notNormal };
  const isSame = content === stored;
  const fault = 'a value was changed after docmirror wrote it: the columns and _content disagree';
  return { content, fault: isSame ? null : fault };
}

/** Compares the columns of a connection's row with its content. */
export function checkConnection(row: ConnectionRow): CheckedRow {
  const read = tryToRead(() => connectionContent(row).toString('hex'));
  const content = 'value' in read ? read.value : noContent;
  if (!isExtraAsWritten(row)) return { content, fault: notNormal };
  const isSame = row.content?.toString('hex') === content;
  return { content, fault: isSame ? null : 'the row was changed after docmirror wrote it' };
}

/**
 * Compares the columns of every row of a list, or of the connections, with its content.
 *
 * @param slice lets signals have their turn.
 * @param tell called with the id of each row that is not as docmirror wrote it, and how.
 * @returns the sum of the contents that the columns give.
 */
export function checkRows(
  sqlite: Database.Database,
  resource: Resource,
  slice: TimeSlice,
  tell: (id: number, fault: string) => void,
): Promise<Sum> {
  const checkAll = async <Row extends { id: number }>(
    rows: Iterable<Row>,
    check: (row: Row) => CheckedRow,
  ) => {
    const sum = new Sum();
    for (const row of rows) {
      const { content, fault } = check(row);
      if (fault !== null) tell(row.id, fault);
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
 * @param slice lets signals have their turn.
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
