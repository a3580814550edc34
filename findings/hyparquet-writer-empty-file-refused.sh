#!/bin/sh
# A Parquet file without rows, written by hyparquet-writer, is refused by readers that are built on Rust's crate.
#
# Guessed: a table without rows is the simplest file, so each reader takes it and gives its columns and no row.
# So: parquet-wasm refuses the footer: "Expected list element type of Struct but got Byte". The list of row groups is empty, and
# hyparquet-writer then writes another type for its elements. DuckDB and hyparquet itself do not look at the type, and read it.
# Versions: hyparquet-writer 0.17.0, hyparquet 1.33.0, parquet-wasm 0.8.0, @duckdb/node-api 1.5.6-r.1; Node 24.21.0.
# Who meets it: a nightly export of what is new, on the first night in which nothing is: the job fails on that night only.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund hyparquet-writer@0.17.0 hyparquet@1.33.0 parquet-wasm@0.8.0 @duckdb/node-api@1.5.6-r.1 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetReadObjects } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readParquet } from 'parquet-wasm/node';

const duckdb = await (await DuckDBInstance.create()).connect();
for (const data of [['a'], []]) {
  const file = parquetWriteBuffer({ columnData: [{ name: 'title', data, type: 'STRING', nullable: true }] });
  writeFileSync('file.parquet', new Uint8Array(file));
  const readers = {
    hyparquet: async () => (await parquetReadObjects({ file })).length,
    DuckDB: async () => (await duckdb.runAndReadAll("FROM 'file.parquet'")).currentRowCount,
    'parquet-wasm': async () => readParquet(new Uint8Array(file)).intoIPCStream().length > 0 && data.length,
  };
  for (const [name, read] of Object.entries(readers))
    console.log(`${data.length} rows, ${name}:`, await read().catch(error => String(error)));
}
JS
cat >expected <<'TEXT'
1 rows, hyparquet: 1
1 rows, DuckDB: 1
1 rows, parquet-wasm: 1
0 rows, hyparquet: 0
0 rows, DuckDB: 0
0 rows, parquet-wasm: Error: Parquet error: Expected list element type of Struct but got Byte
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
