#!/bin/sh
# DuckDB writes an empty text and a null differently into CSV, and reads both as null.
#
# Guessed: COPY TO writes `""` for an empty text, and nothing for a null, so that its own reader can tell them apart.
# So: it writes them so, and `read_csv` makes a null of both, also with the types given. With `allow_quoted_nulls = false` the empty
# text stays. From NDJSON and Parquet it stays anyway.
# Versions: @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6); Node 24.21.0.
# Who meets it: an analyst who moves a table through CSV, and then counts missing titles or versions, or compares the two tables.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const duckdb = await (await DuckDBInstance.create()).connect();
const titles = async from => {
  const rows = await duckdb.runAndReadAll(`SELECT coalesce('<' || title || '>', 'null') FROM ${from} ORDER BY id`);
  return rows.getRows().flat().join(' ');
};
await duckdb.run("CREATE TABLE exports AS FROM (VALUES (1, 'a'), (2, NULL), (3, '')) AS t(id, title)");
for (const format of ['csv', 'json', 'parquet']) await duckdb.run(`COPY exports TO 'exports.${format}'`);
console.log(JSON.stringify(readFileSync('exports.csv', 'utf8')));
for (const from of [
  'exports',
  "'exports.csv'",
  "read_csv('exports.csv', types = { 'title': 'VARCHAR' })",
  "read_csv('exports.csv', allow_quoted_nulls = false)",
  "'exports.json'",
  "'exports.parquet'",
])
  console.log(`${from}: ${await titles(from)}`);
JS
cat >expected <<'TEXT'
"id,title\n1,a\n2,\n3,\"\"\n"
exports: <a> null <>
'exports.csv': <a> null null
read_csv('exports.csv', types = { 'title': 'VARCHAR' }): <a> null null
read_csv('exports.csv', allow_quoted_nulls = false): <a> null <>
'exports.json': <a> null <>
'exports.parquet': <a> null <>
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
