import { lists } from '../../contract/lists.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { greatestGiven } from '../tables/given-numbers.ts';
import { Shortcuts } from './shortcuts.ts';
import type { OpenTransaction } from './transaction.ts';

/**
 * Puts right what another program may have done to the tables that a run relies on besides the rows of the lists: numbers to come,
 * shortcuts of lists that are none, names of connections.
 */
export function mendBooks({ sqlite }: OpenTransaction): void {
  for (const [table, greatest] of greatestGiven(sqlite)) mendSequence(sqlite, table, greatest);
  const known = lists.map(({ resource }) => `'${resource}'`).join(', ');
  for (const table of ['_known_pages', '_list_states'])
    sqlite.exec(`DELETE FROM ${table} WHERE resource NOT IN (${known})`);
  // Every page has to be read to find out a name.
  const isNameLost = new ConnectionTable(sqlite).freeAltered();
  for (const { resource } of lists) {
    const shortcuts = new Shortcuts(sqlite, resource);
    if (isNameLost || [...shortcuts.misfits()].length > 0) shortcuts.forget(noRun);
  }
}

/** No run has this number. */
const noRun = 0;

/** The number that SQLite gives next must be greater than all that were given, and leave room for more. */
function mendSequence(sqlite: OpenTransaction['sqlite'], table: string, least: number): void {
  const given = sqlite
    .prepare<[string], number>('SELECT seq FROM sqlite_sequence WHERE name = ?')
    .pluck()
    .get(table);
  if (given !== undefined && given >= least && given < Number.MAX_SAFE_INTEGER) return;
  sqlite.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(table);
  if (least > 0)
    sqlite
      .prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(? AS INTEGER))')
      .run(table, least);
}
