#!/bin/sh
# Miller turns CSV into JSON that neither it nor another program reads, if a value looks like `0xff`, `.5`, `1.` or `08.5`.
#
# Guessed: in JSON a value is a number that JSON knows, or a text in quotes. So `0xff` becomes 255 or "0xff".
# So: Miller takes it for a number and writes it as it was, without quotes. One such value in the last row of a large file makes the
# file unreadable for JSON.parse and DuckDB, and for Miller itself. Values such as `007` and `+5` get quotes. With `-S` all get
# them, as does a text that came from JSON.
# Versions: miller 6.6.0-2+b3 of Debian 12 (amd64), @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6); Node 24.21.0 and 20.20.2.
# Who meets it: an analyst who turns an export into NDJSON for a database. Most columns show nothing: it takes the first checksum or
# address with `0x`.
# Seen: the text `expected` below. It needs Debian's apt, and no rights.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{ apt-get download miller=6.6.0-2+b3 && dpkg-deb --extract miller_*.deb .; } >apt.log 2>&1 || { cat apt.log; exit 2; }
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts @duckdb/node-api@1.5.6-r.1 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const db = await (await DuckDBInstance.create()).connect();
const mlr = (input, ...options) => execFileSync('usr/bin/mlr', [...options, 'cat'], { input, encoding: 'utf8', stdio: 'pipe' }).trim();
const accepts = async read => {
  try {
    await read();
    return 'accepts';
  } catch {
    return 'refuses';
  }
};
const values = ['7', '1.50', '1e5', '007', '+5', '0xff', '-0xFF', '0b11', '0o17', '.5', '1.', '08.5'];
for (const value of values) {
  const line = mlr(`ref\n${value}\n`, '--icsv', '--ojsonl');
  writeFileSync('rows.ndjson', `${line}\n`);
  const json = await accepts(() => JSON.parse(line));
  const duckdb = await accepts(() => db.runAndReadAll("SELECT * FROM read_ndjson('rows.ndjson')"));
  const miller = await accepts(() => mlr(line, '--ijsonl', '--ojsonl'));
  console.log(`${line}: JSON.parse ${json}, DuckDB ${duckdb}, Miller ${miller}`);
}
console.log(mlr('ref\n0xff\n', '--icsv', '--ojsonl', '-S'), mlr('{"ref":"0xff"}', '--ijsonl', '--ojsonl'));
JS
cat >expected <<'TEXT'
{"ref": 7}: JSON.parse accepts, DuckDB accepts, Miller accepts
{"ref": 1.50}: JSON.parse accepts, DuckDB accepts, Miller accepts
{"ref": 1e5}: JSON.parse accepts, DuckDB accepts, Miller accepts
{"ref": "007"}: JSON.parse accepts, DuckDB accepts, Miller accepts
{"ref": "+5"}: JSON.parse accepts, DuckDB accepts, Miller accepts
{"ref": 0xff}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": -0xFF}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": 0b11}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": 0o17}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": .5}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": 1.}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": 08.5}: JSON.parse refuses, DuckDB refuses, Miller refuses
{"ref": "0xff"} {"ref": "0xff"}
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
