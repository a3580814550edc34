import { expect, test } from 'vitest';
import { openInMemory } from '../../../src/store/file/open-to-write.ts';
import {
  lastGiven,
  notedLastGiven,
  noteLastGiven,
  numberedLists,
} from '../../../src/store/tables/given-numbers.ts';
import { mendBooks } from '../../../src/store/write/mend-books.ts';
import { TransactionOwner } from '../../../src/store/write/transaction.ts';

const table = 'document_exports';

/** What SQLite says it gave last to a list of which no row is left, after somebody has said something else and a run has mended it. */
async function mended(given: number, said: string): Promise<number | undefined> {
  const { path, sqlite, close } = openInMemory();
  const [list] = numberedLists;
  if (list?.table !== table) throw new Error('another list is numbered');
  sqlite.exec(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table}', ${given})`);
  noteLastGiven(sqlite, list);
  sqlite.exec(said);
  const owner = new TransactionOwner(sqlite, path, () => undefined);
  await owner.write(new AbortController().signal, mendBooks);
  const last = lastGiven(sqlite, table);
  expect(notedLastGiven(sqlite).get(table)?.count).toBe(last ?? 0);
  close();
  return last;
}

test.each([
  ['is gone', 'DELETE FROM sqlite_sequence', 41],
  ['was lowered', 'UPDATE sqlite_sequence SET seq = 7', 41],
  ['was raised, which gives none twice', 'UPDATE sqlite_sequence SET seq = 50', 50],
  ['leaves no room', 'UPDATE sqlite_sequence SET seq = 9007199254740991', 41],
  ['leaves next to no room', 'UPDATE sqlite_sequence SET seq = 9007199254740980', 41],
  ['is right, but not what was noted', 'UPDATE _content_sums SET record_count = 7', 41],
  [
    'and what was noted leave no room',
    `UPDATE sqlite_sequence SET seq = 9007199254740991;
    UPDATE _content_sums SET record_count = 9007199254740991`,
    undefined,
  ],
])('no number is given twice where the one that was given last %s', async (_what, said, expected) => {
  expect(await mended(41, said)).toBe(expected);
});
