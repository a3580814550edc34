#!/bin/sh
# DuckDB reads the same rows with other types from CSV than from NDJSON, and then with other days and years.
#
# Guessed: the text 2026-07-15T22:30:00.787Z becomes the same type from both, with a zone because of the Z.
# The version 1-2-3 stays a text.
# So: the time has a zone from CSV, and none from NDJSON, where it is the clock in UTC. With a TimeZone in the session,
# the day of the same row differs, and a join of the two files by their time finds nothing. The version becomes a
# TIMESTAMP in the year 1 from CSV, and a DATE in the year 2001 from NDJSON. There is no error.
# Versions: @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6); Node 24.21.0 and 20.20.2.
# Who meets it: an analyst who loads an export as NDJSON today and as CSV tomorrow, or compares the two.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts @duckdb/node-api@1.5.6-r.1 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >rows.csv <<'TEXT'
id,version,exported
1,1-2-3,2026-07-15T22:30:00.787Z
2,1-2-10,2026-07-16T20:30:00.000Z
TEXT
cat >rows.ndjson <<'TEXT'
{"id":1,"version":"1-2-3","exported":"2026-07-15T22:30:00.787Z"}
{"id":2,"version":"1-2-10","exported":"2026-07-16T20:30:00.000Z"}
TEXT
cat >run.mjs <<'JS'
import { DuckDBInstance } from '@duckdb/node-api';

const db = await (await DuckDBInstance.create()).connect();
const rows = async sql => (await db.runAndReadAll(sql)).getRowsJson();
await db.run("SET TimeZone = 'Europe/Berlin'");
for (const file of ['rows.csv', 'rows.ndjson']) {
  console.log(file);
  const columns = 'typeof(exported), exported::DATE::VARCHAR, typeof(version), version::VARCHAR';
  for (const row of await rows(`SELECT ${columns} FROM '${file}' ORDER BY id`)) console.log(...row);
}
console.log('joined by time:', ...(await rows("SELECT count(*) FROM 'rows.csv' JOIN 'rows.ndjson' USING (exported)"))[0]);
console.log('joined by id:', ...(await rows("SELECT count(*) FROM 'rows.csv' JOIN 'rows.ndjson' USING (id)"))[0]);
JS
cat >expected <<'TEXT'
rows.csv
TIMESTAMP WITH TIME ZONE 2026-07-16 TIMESTAMP 0001-02-03 00:00:00
TIMESTAMP WITH TIME ZONE 2026-07-16 TIMESTAMP 0001-02-10 00:00:00
rows.ndjson
TIMESTAMP 2026-07-15 DATE 2001-02-03
TIMESTAMP 2026-07-16 DATE 2001-02-10
joined by time: 0
joined by id: 2
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
