#!/bin/sh
# Turso refuses to open a SQLite file, and has changed it before.
#
# Guessed: if `connect` throws, because the file has a generated column, the file is as it was.
# So: its header says WAL afterwards, and a log is beside it. SQLite's own readers then need to write into the folder, and a user
# who may only read fails with "unable to open database file". With `readonly: true` it throws, too, and changes nothing.
# Versions: @tursodatabase/database 0.7.2, sql.js 1.17.0; Node 24.21.0.
# Who meets it: somebody who only tries a new reader on a file that others read, in a folder where they can write.
# Seen: the text `expected` below. 1 1 is a file with a rollback journal, 2 2 one with a write-ahead log.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund @tursodatabase/database@0.7.2 sql.js@1.17.0 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from '@tursodatabase/database';
import initSqlJs from 'sql.js';

const { Database } = await initSqlJs();
const made = new Database();
made.run("CREATE TABLE exports (id INTEGER PRIMARY KEY, at INTEGER, day TEXT AS (date(at, 'unixepoch')))");
made.run('INSERT INTO exports (at) VALUES (1784142300)');
writeFileSync('file.sqlite', made.export());
const look = () => {
  const [write, read] = readFileSync('file.sqlite').subarray(18, 20);
  console.log(`header ${write} ${read}; files: ${readdirSync('.').filter(name => name.startsWith('file')).join(' ')}`);
};
look();
for (const options of [{ readonly: true }, {}]) {
  try {
    await connect('file.sqlite', options);
    console.log(JSON.stringify(options), 'opened');
  } catch (error) {
    console.log(JSON.stringify(options), error.message.includes('generated column') ? 'refused for its generated column' : error.message);
  }
  look();
}
JS
cat >expected <<'TEXT'
header 1 1; files: file.sqlite
{"readonly":true} refused for its generated column
header 1 1; files: file.sqlite
{} refused for its generated column
header 2 2; files: file.sqlite file.sqlite-wal
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
