#!/bin/sh
# csv-parse with `cast` makes 0 of each hexadecimal number, so all error codes of a column become the same.
#
# Guessed: `cast` makes numbers of decimal texts, and leaves `0x80070005` a text, or makes 2147942405 of it.
# So: whether a text is a number is asked by JavaScript's subtraction, which knows `0x`, `0b` and `0o`. The number is then read by
# `parseFloat`, which ends at the letter. A negative one stays a text, so a column has both. There is no error.
# Versions: csv-parse 7.0.3, papaparse 5.7.1, d3-dsv 3.0.2; Node 24.21.0 and 20.20.2.
# Who meets it: an analyst whose CSV has status codes of Windows, addresses or checksums with `0x`: a count by code has one row.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts csv-parse@7.0.3 papaparse@5.7.1 d3-dsv@3.0.2 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >rows.csv <<'TEXT'
code
0x80070005
0xdeadbeef
-0x1F
0b101
0o17
1e3
12
TEXT
cat >run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { autoType, csvParse } from 'd3-dsv';
import Papa from 'papaparse';

const text = readFileSync('rows.csv', 'utf8');
const libraries = {
  'csv-parse': parse(text, { columns: true, cast: true }),
  papaparse: Papa.parse(text, { header: true, dynamicTyping: true, skipEmptyLines: true }).data,
  'd3-dsv': csvParse(text, autoType),
};
for (const [name, rows] of Object.entries(libraries)) console.log(`${name}: ${JSON.stringify(rows.map(row => row.code))}`);
JS
cat >expected <<'TEXT'
csv-parse: [0,0,"-0x1F",0,0,1000,12]
papaparse: ["0x80070005","0xdeadbeef","-0x1F","0b101","0o17",1000,12]
d3-dsv: [2147942405,3735928559,"-0x1F",5,15,1000,12]
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
