#!/bin/sh
# Node reads only the first part of a zstd file that has several, and fflate's `gunzipSync` only the first of a gzip file.
#
# Guessed: both formats let files be joined by `cat`, and all tools read the whole, so these do, too, or they refuse the rest.
# So: of three nights that were appended to one file they give the first one, whole, and no error. Node does that with its zstd, by
# `zstdDecompressSync` and as a stream, which can also end with an error, if the file has several chunks. It reads all parts of gzip.
# fflate does it by `gunzipSync`, `gunzip` and `decompressSync`, and reads all parts by its class `Gunzip`. So a program that
# changes from gzip to zstd loses all but the first night.
# Versions: Node 24.21.0, fflate 0.8.3, fzstd 0.1.1, pako 3.0.3, @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6).
# Who meets it: an archive of NDJSON or logs to which each run appends what it compressed.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts fflate@0.8.3 fzstd@0.1.1 pako@3.0.3 @duckdb/node-api@1.5.6-r.1 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { createGunzip, createZstdDecompress, gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import * as fflate from 'fflate';
import { decompress } from 'fzstd';
import { ungzip } from 'pako';

const nights = ['monday', 'tuesday', 'wednesday'].map(night => `{"night":"${night}"}\n`);
const nightsIn = bytes => Array.from(Buffer.from(bytes).toString().matchAll(/\w+day/g), ([night]) => night).join(' ');
const db = await (await DuckDBInstance.create()).connect();
const duckdb = async path => (await db.runAndReadAll(`SELECT night FROM read_ndjson('${path}')`)).getRowsJson().join('\n');
const streamed = async (path, reader) => Buffer.concat(await createReadStream(path).pipe(reader).toArray());
const pushed = bytes => {
  const parts = [];
  new fflate.Gunzip(part => parts.push(part)).push(bytes, true);
  return Buffer.concat(parts);
};
const ways = {
  zst: [
    ['Node, zstdDecompressSync', (_, bytes) => zstdDecompressSync(bytes)],
    ['Node, stream', path => streamed(path, createZstdDecompress())],
    ['fzstd', (_, bytes) => decompress(bytes)],
    ['DuckDB', duckdb],
  ],
  gz: [
    ['fflate, gunzipSync', (_, bytes) => fflate.gunzipSync(bytes)],
    ['fflate, decompressSync', (_, bytes) => fflate.decompressSync(bytes)],
    ['fflate, Gunzip', (_, bytes) => pushed(bytes)],
    ['pako', (_, bytes) => ungzip(bytes)],
    ['Node, gunzipSync', (_, bytes) => gunzipSync(bytes)],
    ['Node, stream', path => streamed(path, createGunzip())],
    ['DuckDB', duckdb],
  ],
};
for (const [ending, compress] of [['zst', zstdCompressSync], ['gz', gzipSync]]) {
  const path = `nights.ndjson.${ending}`;
  writeFileSync(path, Buffer.concat(nights.map(night => compress(night))));
  for (const [way, read] of ways[ending]) console.log(`${ending}, ${way}: ${nightsIn(await read(path, readFileSync(path)))}`);
}
JS
cat >expected <<'TEXT'
zst, Node, zstdDecompressSync: monday
zst, Node, stream: monday
zst, fzstd: monday tuesday wednesday
zst, DuckDB: monday tuesday wednesday
gz, fflate, gunzipSync: monday
gz, fflate, decompressSync: monday
gz, fflate, Gunzip: monday tuesday wednesday
gz, pako: monday tuesday wednesday
gz, Node, gunzipSync: monday tuesday wednesday
gz, Node, stream: monday tuesday wednesday
gz, DuckDB: monday tuesday wednesday
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
