#!/bin/sh
# GDAL makes 2147483647 of each larger number in a SQLite column that is declared INTEGER, and leaves the primary key out.
#
# Guessed: SQLite's INTEGER has up to 64 bits, so GDAL reads it as one. `integer primary key` is a column like the others.
# So: by the word INTEGER alone GDAL takes 32 bits, and writes the largest of them for a time in milliseconds. There is a warning without a column, and
# no error. Declared BIGINT, the same value is right. The primary key is GDAL's own number of a row, and not in the CSV.
# Versions: gdal3.js 2.8.1 (GDAL 3.8 as WebAssembly), sql.js 1.17.0; Node 24.21.0. GDAL 3.6.2 of Debian does the same.
# Who meets it: an analyst who turns a SQLite file into CSV or GeoPackage with ogr2ogr, or opens it in QGIS.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts gdal3.js@2.8.1 sql.js@1.17.0 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
const { writeFileSync } = require('node:fs');
const initGdal = require('gdal3.js/node');
const initSqlJs = require('sql.js');

const main = async () => {
  const { Database } = await initSqlJs();
  const made = new Database();
  made.run('CREATE TABLE exports (id INTEGER PRIMARY KEY, exported_at INTEGER, exported_at_big BIGINT)');
  made.run('INSERT INTO exports VALUES (7, 1784142300787, 1784142300787)');
  writeFileSync('exports.sqlite', made.export());
  const gdal = await initGdal({ path: 'node_modules/gdal3.js/dist/package' });
  const { datasets, errors } = await gdal.open('exports.sqlite');
  const { local } = await gdal.ogr2ogr(datasets[0], ['-f', 'CSV']);
  console.log(Buffer.from(await gdal.getFileBytes(local)).toString().trim());
  console.log('errors:', errors.length);
  process.exit();
};

main();
JS
cat >expected <<'TEXT'
exported_at,exported_at_big
2147483647,1784142300787
errors: 0
TEXT
node run.cjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
