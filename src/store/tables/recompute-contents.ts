import type Database from 'better-sqlite3';
import { contentOf } from '../../contract/content.ts';
import { lists } from '../../contract/lists.ts';
import { Sum } from '../../contract/sum.ts';
import { ContentSum } from './content-sums.ts';
import { ListTable } from './list-table.ts';

/**
 * Computes the contents of all lists' rows and the sums over them again, in the transaction that upgrades a mirror. They change
 * if a new column refers to a connection: the connection's name is no longer part of the record's content.
 */
export function recomputeAll(sqlite: Database.Database): void {
  for (const list of lists) {
    const sum = recomputeContents(new ListTable(sqlite, list));
    new ContentSum(sqlite, list.table, list.resource).replace(sum);
  }
}

/** Computes the content of each row from its columns, writes it if it is another one, and returns the sum over all. */
function recomputeContents(table: ListTable): Sum {
  const sum = new Sum();
  for (const id of [...table.ids()]) {
    const { record, content } = table.read(id);
    const right = contentOf(table.list, record);
    sum.addHex(right);
    if (right !== content) table.setContent(id, right);
  }
  return sum;
}
