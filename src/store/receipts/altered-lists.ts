import type Database from 'better-sqlite3';
import { contentOf } from '../../contract/content.ts';
import { type keptResources, type ListDefinition, lists } from '../../contract/lists.ts';
import { normalRecord } from '../../contract/record-content.ts';
import { Sum } from '../../contract/sum.ts';
import { MirrorAlteredError } from '../../errors.ts';
import type { TimeSlice } from '../../time-slice.ts';
import { ConnectionTable, isAsWritten } from '../tables/connection-table.ts';
import { ListTable, type StoredRow } from '../tables/list-table.ts';
import { tryToRead } from '../tables/readable.ts';
import { sumOfContents } from './current-states.ts';
import { lastState } from './run-receipt.ts';

type Resource = (typeof keptResources)[number];

/** A mirror's file, open. */
interface OpenFile {
  readonly path: string;
  readonly sqlite: Database.Database;
}

/**
 * Makes sure that each row of the lists and the connections is what docmirror wrote, and that their sums are those of the newest
 * receipts. It reads every row, which takes some 4 s for a million records.
 *
 * @param slice lets signals have their turn.
 * @throws MirrorAlteredError if another program changed, added or removed a row.
 */
export async function assertAsWritten({ path, sqlite }: OpenFile, slice: TimeSlice): Promise<void> {
  for (const list of lists) {
    const table = new ListTable(sqlite, list);
    const found = table.isMalformed() ? null : await sumIfAsWritten(table, slice);
    if (found === null || !found.equals(lastState(sqlite, list.resource))) throw altered(path, list.resource);
  }
  const connections = new Sum();
  for (const row of new ConnectionTable(sqlite).rows()) {
    if (!isAsWritten(row)) throw altered(path, 'connections');
    connections.add(row.content as Buffer);
  }
  if (!connections.equals(lastState(sqlite, 'connections'))) throw altered(path, 'connections');
}

/** The sum of a list's rows; null if one of them is not what docmirror wrote. */
async function sumIfAsWritten(table: ListTable, slice: TimeSlice): Promise<Sum | null> {
  const sum = new Sum();
  for (const row of table.rows()) {
    if (!isRowAsWritten(table.list, row)) return null;
    sum.addHex(row.content);
    if (slice.isOver) await slice.next();
  }
  return sum;
}

/** Whether the columns of a row give its content hash, as docmirror writes them. */
export function isRowAsWritten(list: ListDefinition, { record, content }: StoredRow): boolean {
  const read = tryToRead(() => normalRecord(list, record) === record && contentOf(list, record) === content);
  return 'value' in read && read.value;
}

/**
 * Makes sure that the content hashes beside the rows still have the expected sums. It does not read the rows.
 *
 * @throws MirrorAlteredError if they do not.
 */
export function assertSums(
  { path, sqlite }: OpenFile,
  states: readonly { readonly resource: Resource; readonly expected: Sum }[],
): void {
  for (const { resource, expected } of states)
    if (!sumOfContents(sqlite, resource).equals(expected)) throw altered(path, resource);
}

function altered(path: string, resource: Resource): MirrorAlteredError {
  return new MirrorAlteredError(
    `Another program altered ${path}: its ${resource} are not what docmirror wrote`,
  );
}
