import { type ListDefinition, lists } from '../../contract/lists.ts';
import { mendTexts } from '../tables/broken-texts.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import {
  greatestGiven,
  lastGiven,
  notedLastGiven,
  noteLastGiven,
  numberedLists,
  sequences,
} from '../tables/given-numbers.ts';
import { History } from './history.ts';
import { Shortcuts } from './shortcuts.ts';
import type { OpenTransaction } from './transaction.ts';

/**
 * Puts right what another program may have done to the tables that a run relies on besides the rows of the lists: numbers to come,
 * shortcuts of lists that are none, names of connections.
 */
export function mendBooks({ sqlite }: OpenTransaction): void {
  const noted = notedLastGiven(sqlite);
  for (const [table, greatest] of greatestGiven(sqlite))
    mendSequence(sqlite, table, greatest, noted.get(table)?.count ?? 0);
  for (const list of numberedLists) noteLastGiven(sqlite, list);
  const known = lists.map(({ resource }) => `'${resource}'`).join(', ');
  for (const table of ['_known_pages', '_list_states'])
    sqlite.exec(`DELETE FROM ${table} WHERE resource NOT IN (${known})`);
  mendTexts(sqlite, 'connections');
  // Every page has to be read to find out a name.
  const isNameLost = new ConnectionTable(sqlite).freeAltered();
  for (const { resource } of lists) {
    const shortcuts = new Shortcuts(sqlite, resource);
    if (isNameLost || [...shortcuts.misfits()].length > 0) shortcuts.forget(noRun);
  }
}

/** Removes the connections that no record refers to, for another program took away or altered those that did; to be called when all lists are written. */
export function removeStrayConnections({ sqlite }: OpenTransaction, runId: number): void {
  const connections = new ConnectionTable(sqlite);
  // Of no list a record ends here.
  const [anyList] = lists as readonly [ListDefinition];
  const history = new History(sqlite, anyList, connections, runId);
  history.endConnections(connections.removeUnreferenced());
  history.saveSums();
}

/** Nobody is given so many numbers: whoever raised one that far left no room for more. */
const numberMax = 2 ** 52;
/** No run has this number. */
const noRun = 0;

/**
 * The number that SQLite gives next must be greater than all that were given, and leave room for more.
 *
 * @param least the greatest number that is known to be given.
 * @param noted the number that docmirror noted as given last.
 */
function mendSequence(sqlite: OpenTransaction['sqlite'], table: string, least: number, noted: number): void {
  const last = noted < numberMax ? Math.max(least, noted) : least;
  const given = lastGiven(sqlite, table);
  if (given !== undefined && given >= last && given < numberMax) return;
  sqlite.prepare(`DELETE FROM ${sequences} WHERE name = ?`).run(table);
  if (last > 0)
    sqlite.prepare(`INSERT INTO ${sequences} (name, seq) VALUES (?, CAST(? AS INTEGER))`).run(table, last);
}
