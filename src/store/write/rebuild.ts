import type Database from 'better-sqlite3';
import { lists } from '../../contract/lists.ts';
import type { RunStart } from '../../contract/run.ts';
import { putObjectsRight } from '../file/open-to-write.ts';
import { checkRows } from '../receipts/altered-lists.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { acceptedNow } from '../receipts/statements.ts';
import { ListTable } from '../tables/list-table.ts';
import { dropAlteredConnections } from './connections.ts';
import { nothingLearnt, writeState } from './memory.ts';

/**
 * Makes runs possible again after another program altered the mirror. Rows whose columns do not match their content are dropped
 * without a trace, and the other rows are accepted as they are. A receipt states the result. The run `runId` then reads all lists.
 *
 * @returns how many rows were dropped.
 */
export function rebuild(sqlite: Database.Database, runId: number, start: RunStart): number {
  putObjectsRight(sqlite);
  let dropped = 0;
  for (const list of lists) {
    const table = new ListTable(sqlite, list);
    const altered = new Set(table.malformed().map(({ id }) => id));
    for (const { id, isAsWritten } of checkRows(sqlite, list.resource)) if (!isAsWritten) altered.add(id);
    for (const id of altered) table.remove(id);
    dropped += altered.size;
    writeState(sqlite, list, runId, nothingLearnt);
  }
  dropped += dropAlteredConnections(sqlite, runId);
  const log = new ReceiptLog(sqlite);
  const { startedAt: at, actor } = start;
  log.append({ kind: 'rebuild', mirrorId: log.mirrorId(), at, actor, ...acceptedNow(sqlite, runId) });
  return dropped;
}
