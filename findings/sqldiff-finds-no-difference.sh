#!/bin/sh
# sqldiff calls two SQLite files equal, if a text of a NOCASE column differs in capitals, or a number in its type.
#
# Guessed: sqldiff prints the SQL that makes the second file of the first, so it compares values as they are stored.
# So: it compares with SQLite's operators. They follow the column's collation, and 1 is 1.0 in a column without a type. So a path that
# was renamed from `report.pdf` to `Report.PDF` is no difference: sqldiff prints nothing, and exits with 0.
# `EXCEPT` in both directions says the same. A comparison of `quote(value)` of each value finds all of them.
# Versions: sqlite3-tools 3.40.1-2+deb12u2 of Debian 12 (amd64); Node 24.21.0, which makes the files and reads them.
# Who meets it: an audit that compares a backup with its original, and a copy that is kept equal by the output of sqldiff.
# Seen: the text `expected` below. It needs Debian's apt, and no rights.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{ apt-get download sqlite3-tools=3.40.1-2+deb12u2 && dpkg-deb --extract sqlite3-tools_*.deb .; } >apt.log 2>&1 ||
  { cat apt.log; exit 2; }

cat >run.mjs <<'JS'
import { spawnSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';

const make = (path, rows) => {
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT COLLATE NOCASE, note TEXT, size)');
  for (const row of rows) db.exec(`INSERT INTO files VALUES (${row})`);
  db.close();
};
const compare = (what, ...sides) => {
  for (const [place, row] of sides.entries()) make(`${what}-${place}.sqlite`, [row]);
  const sqldiff = (...options) => spawnSync('usr/bin/sqldiff', [...options, `${what}-0.sqlite`, `${what}-1.sqlite`], { encoding: 'utf8' });
  const { status, stdout } = sqldiff();
  console.log(`${what}: sqldiff exits with ${status} and prints ${stdout.trim() || 'nothing'}`);
  console.log(`${what}: ${sqldiff('--summary').stdout.trim()}`);

  const db = new DatabaseSync(`${what}-0.sqlite`);
  db.exec(`ATTACH '${what}-1.sqlite' AS other`);
  const quoted = 'SELECT quote(id), quote(path), quote(note), quote(size)';
  const count = select => {
    const both = [['main', 'other'], ['other', 'main']].map(([a, b]) => `SELECT * FROM (${select} FROM ${a}.files EXCEPT ${select} FROM ${b}.files)`);
    return db.prepare(`SELECT count(*) AS count FROM (${both.join(' UNION ALL ')})`).get().count;
  };
  console.log(`${what}: rows by EXCEPT ${count('SELECT *')}, with quote ${count(quoted)}`);
  db.close();
};

compare('note', "1, 'report.pdf', 'draft', 1", "1, 'report.pdf', 'Draft', 1");
compare('path', "1, 'report.pdf', 'draft', 1", "1, 'Report.PDF', 'draft', 1");
compare('size', "1, 'report.pdf', 'draft', 1", "1, 'report.pdf', 'draft', 1.0");
JS
cat >expected <<'TEXT'
note: sqldiff exits with 0 and prints UPDATE files SET note='Draft' WHERE id=1;
note: files: 1 changes, 0 inserts, 0 deletes, 0 unchanged
note: rows by EXCEPT 2, with quote 2
path: sqldiff exits with 0 and prints nothing
path: files: 0 changes, 0 inserts, 0 deletes, 1 unchanged
path: rows by EXCEPT 0, with quote 2
size: sqldiff exits with 0 and prints nothing
size: files: 0 changes, 0 inserts, 0 deletes, 1 unchanged
size: rows by EXCEPT 0, with quote 2
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
