#!/bin/sh
# apache-arrow reads the DECIMAL 12.34 from a Parquet file of DuckDB as 1234, and `value + 1` makes the text 12341 of it.
#
# Guessed: the column's type has the number of digits after the point, so the value is 12.34, as a number, a text or an object.
# So: the value is an object that knows nothing of the point. As a number, a text and in JSON it is 1234, and 0.0500 is 500. `+`
# puts texts together. In DuckDB's SQL a number with a point is a DECIMAL, too: `2 * 1.5` arrives as 30. A DOUBLE is right, and
# hyparquet reads both right. There is no error.
# Versions: apache-arrow 21.2.0, parquet-wasm 0.8.0, hyparquet 1.33.0, @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6); Node 24.21.0 and
# 20.20.2.
# Who meets it: an analyst who shows amounts or shares of a Parquet file in a browser: each is 10, 100 or 10,000 times too large.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts apache-arrow@21.2.0 parquet-wasm@0.8.0 hyparquet@1.33.0 \
  @duckdb/node-api@1.5.6-r.1 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { readParquet } from 'parquet-wasm';

const db = await (await DuckDBInstance.create()).connect();
const columns = "12.34::DECIMAL(9, 2) AS amount, 0.05::DECIMAL(9, 4) AS share, 2 * 1.5 AS product, 12.34::DOUBLE AS as_double";
await db.run(`COPY (SELECT ${columns}) TO 'amounts.parquet'`);
const table = tableFromIPC(readParquet(readFileSync('amounts.parquet')).intoIPCStream());
const [row] = await parquetReadObjects({ file: await asyncBufferFromFile('amounts.parquet') });
for (const { name, type } of table.schema.fields) {
  const value = table.getChild(name).get(0);
  const ways = [`text ${value}`, `number ${Number(value)}`, `JSON ${JSON.stringify(value)}`, `plus 1 ${value + 1}`];
  console.log(`${name}, digits after the point ${type.scale}: hyparquet ${row[name]}; apache-arrow ${ways.join(', ')}`);
}
JS
cat >expected <<'TEXT'
amount, digits after the point 2: hyparquet 12.34; apache-arrow text 1234, number 1234, JSON "\"1234\"", plus 1 12341
share, digits after the point 4: hyparquet 0.05; apache-arrow text 500, number 500, JSON "\"500\"", plus 1 5001
product, digits after the point 1: hyparquet 3; apache-arrow text 30, number 30, JSON "\"30\"", plus 1 301
as_double, digits after the point undefined: hyparquet 12.34; apache-arrow text 12.34, number 12.34, JSON 12.34, plus 1 13.34
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
