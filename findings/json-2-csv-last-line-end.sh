#!/bin/sh
# json-2-csv's `csv2json` reads the end of a file's last line into the last value, or as one more record.
#
# Guessed: RFC 4180 lets the last line have an end or not, so the records are the same with and without.
# So: with LF the last text of the file has the line end in it. With CRLF and the option for it there is one record more, which is
# empty. A number in the last place hides it, as JSON.parse leaves the line end out, and so do quotes.
# `json2csv` of the same package writes no line end after the last line, so a round trip shows nothing.
# Versions: json-2-csv 5.6.0, csv-parse 7.0.3, papaparse 5.7.1; Node 24.21.0 and 20.20.2.
# Who meets it: a program that reads an export of another one, joins it by its last column, or counts records.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts json-2-csv@5.6.0 csv-parse@7.0.3 papaparse@5.7.1 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { parse } from 'csv-parse/sync';
import { csv2json, json2csv } from 'json-2-csv';
import Papa from 'papaparse';

const print = (what, records) => console.log(`${what}: ${JSON.stringify(records)}`);
for (const [name, eol] of [['LF', '\n'], ['CRLF', '\r\n']]) {
  const text = ['id,kind', '1,invoice', '2,order', ''].join(eol);
  print(`${name}, csv-parse`, parse(text, { columns: true, cast: true }));
  print(`${name}, papaparse`, Papa.parse(text, { header: true, dynamicTyping: true, skipEmptyLines: true }).data);
  print(`${name}, csv2json`, csv2json(text, { delimiter: { eol } }));
}
print('without the last line end', csv2json('id,kind\n1,invoice\n2,order'));
print('a number at the end', csv2json('kind,id\norder,2\n'));
print('quotes at the end', csv2json('id,kind\n2,"order"\n'));
print('json2csv writes', json2csv([{ id: 2, kind: 'order' }]));
JS
cat >expected <<'TEXT'
LF, csv-parse: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order"}]
LF, papaparse: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order"}]
LF, csv2json: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order\n"}]
CRLF, csv-parse: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order"}]
CRLF, papaparse: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order"}]
CRLF, csv2json: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order"},{"id":""}]
without the last line end: [{"id":1,"kind":"invoice"},{"id":2,"kind":"order"}]
a number at the end: [{"kind":"order","id":2}]
quotes at the end: [{"id":2,"kind":"order"}]
json2csv writes: "id,kind\n2,order"
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
