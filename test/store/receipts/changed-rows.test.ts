import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ChangedRows } from '../../../src/store/receipts/changed-rows.ts';
import { merged } from '../../../src/store/tables/merged.ts';

const greatest = 2n ** 63n - 1n;
const least = -(2n ** 63n);

/** Lines as an auditor sorts them, by their bytes. */
function sorted(ids: readonly bigint[]): string[] {
  return ids
    .map(id => `insert\t${id}\t${'00'.repeat(16)}\n`)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** The lines of the rows with these ids, as the receipts read them. */
function read(ids: readonly bigint[], others: readonly bigint[] = []): string[] {
  const sqlite = new Database(':memory:');
  sqlite.exec(
    `CREATE TABLE t (id INTEGER PRIMARY KEY, _first_seen_run_id INTEGER, _changed_run_id INTEGER, _content BLOB) STRICT;
     CREATE INDEX t_changed ON t (_changed_run_id)`,
  );
  const insert = sqlite.prepare('INSERT OR IGNORE INTO t VALUES (?, ?, ?, zeroblob(16))');
  for (const id of ids) insert.run(id, 7, 7);
  // Rows of another run, and rows that this one updated.
  for (const [at, id] of others.entries()) insert.run(id, 3, at % 2 === 0 ? 3 : 7);
  const lines = [...merged(new ChangedRows(sqlite, 't').series(7, 'insert'), (a, b) => a < b)];
  sqlite.close();
  return lines;
}

it('brings the rows of a run in the order of the bytes of their lines, whatever their ids', () => {
  const id = fc.oneof(
    fc.bigInt({ min: -120n, max: 120n }),
    fc.bigInt({ min: least, max: greatest }),
    fc.constantFrom(least, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 99n, 100n, greatest),
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { maxLength: 60 }),
      fc.uniqueArray(id, { maxLength: 20 }),
      (ids, others) => {
        expect(read(ids, others)).toEqual(sorted(ids));
      },
    ),
  );
});

it('brings more rows than one statement does, to both sides of zero', () => {
  const ids = Array.from({ length: 25_000 }, (_, at) => BigInt(at) - 12_345n);
  expect(read(ids)).toEqual(sorted(ids));
});

it('brings nothing where a run changed nothing', () => {
  expect(read([], [1n])).toEqual([]);
});
