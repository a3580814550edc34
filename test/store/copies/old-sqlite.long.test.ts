import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';
import { shareOf } from '../../support/share.ts';

type Rows = [] | [{ readonly values: readonly (readonly unknown[])[] }];
interface OldSqlite {
  readonly Database: new (file: Uint8Array) => { exec(sql: string): Rows };
}

/** SQLite 3.31.1 as WebAssembly. It was built without the functions for JSON. */
const require = createRequire(import.meta.url);
const open: (from: {
  readonly wasmBinary: Uint8Array;
}) => Promise<OldSqlite> = require('sql.js/dist/sql-wasm.js');
const wasmBinary = readFileSync(require.resolve('sql.js/dist/sql-wasm.wasm'));

/** A blob as that program gives it. */
const plain = (value: unknown) => (value instanceof Buffer ? new Uint8Array(value) : value);

test('SQLite 3.31 reads each table and view of a share, with the rows that a new one reads', async () => {
  await using scene = await setScene({});
  await syncScene(scene);
  const path = await shareOf(scene);
  const { Database } = await open({ wasmBinary });
  const old = new Database(readFileSync(path));
  expect(old.exec('SELECT sqlite_version()')[0]?.values).toEqual([['3.31.1']]);
  const names = sqlite(path, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").map(
    ({ name }) => String(name),
  );
  const unread: string[] = [];
  for (const name of names) {
    // The clock changes an age.
    const columns = `SELECT group_concat('"' || name || '"') AS all_of FROM pragma_table_xinfo('${name}') WHERE name <> 'age_seconds'`;
    const select = `SELECT ${sqlite(path, columns)[0]?.all_of} FROM "${name}"`;
    try {
      const [rows] = old.exec(select);
      const expected = sqlite(path, select).map(row => Object.values(row).map(plain));
      expect({ name, rows: rows?.values ?? [] }).toEqual({ name, rows: expected });
    } catch (error) {
      if (
        !/^(no such function: json_|unknown function: json_|no such table: main.json_each)/.test(
          (error as Error).message,
        )
      )
        throw error;
      unread.push(name);
    }
  }
  // That build has no functions for JSON.
  const ever = ['collections_ever', 'document_exports_ever', 'webhooks_ever'];
  expect(unread.sort()).toEqual(['changes', ...ever, 'webhooks_named'].sort());
});
