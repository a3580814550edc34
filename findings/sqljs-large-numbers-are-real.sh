#!/bin/sh
# sql.js binds a whole number as INTEGER below 2^31, and as REAL from there on; node:sqlite binds each number as REAL.
#
# Guessed: a whole number that JavaScript can hold exactly becomes an INTEGER in each driver, so `?1 / 86400` is a whole number.
# So: the same division gives a whole number or a fraction, by the size of the number, and by the driver. In a column for texts
# node:sqlite stores 5 as "5.0", and sql.js 2147483647 as "2147483647" and 2147483648 as "2147483648.0".
# A BigInt is an INTEGER in both.
# Versions: sql.js 1.17.0 (SQLite in it); node:sqlite of Node 24.21.0.
# Who meets it: a query that groups times in milliseconds by day, `(at + ?1) / 86400000`, which is tried with small numbers;
# a key of another system, such as a customer's number, that is looked for in a column of texts and never found.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts sql.js@1.17.0 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { DatabaseSync } from 'node:sqlite';
import initSqlJs from 'sql.js';

const { Database } = await initSqlJs();
const sqlJs = new Database();
const drivers = {
  'sql.js': (sql, values) => sqlJs.exec(sql, values)[0]?.values[0],
  'node:sqlite': (sql, values) => Object.values(new DatabaseSync(':memory:').prepare(sql).get(...values)),
};
// What a column of texts makes of a number is what a cast to TEXT makes of it.
const sql = 'SELECT typeof(?1), ?1 / 86400, CAST(?1 AS TEXT)';
for (const [name, ask] of Object.entries(drivers))
  for (const value of [5, 2_147_483_647, 2_147_483_648, 2_147_483_648n])
    console.log(`${name}, ${value} (${typeof value}):`, ask(sql, [value]).join(' '));
JS
cat >expected <<'TEXT'
sql.js, 5 (number): integer 0 5
sql.js, 2147483647 (number): integer 24855 2147483647
sql.js, 2147483648 (number): real 24855.134814814814 2147483648.0
sql.js, 2147483648 (bigint): integer 24855 2147483648
node:sqlite, 5 (number): real 0.00005787037037037037 5.0
node:sqlite, 2147483647 (number): real 24855.13480324074 2147483647.0
node:sqlite, 2147483648 (number): real 24855.134814814814 2147483648.0
node:sqlite, 2147483648 (bigint): integer 24855 2147483648
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
