#!/bin/sh
# On SQLite, TypeORM does not find a row by the creation time that it has just read from it.
#
# Guessed: a time that was read from a row, given back to `findBy`, finds the row; `>=` has it, and `<` does not.
# So: the database fills a `createDate` column with "2026-07-15 10:00:00", and a parameter is sent as
# "2026-07-15 10:00:00.000". SQLite compares them as texts, and the shorter one is less. So `=` and `>=` never find
# rows of that second, and `<` finds all of them. A time that a program has set itself is found: its text has ".000".
# Versions: typeorm 1.1.1 and 0.3.31, sql.js 1.17.0; Node 24.21.0 and 20.20.2.
# Who meets it: a list with "changed since" on SQLite. A reader goes on from the time of the last row, and never gets
# the other rows of that second. A reader who goes back with `<` gets the last rows again, without an end.
# Seen: the text `expected` below, with both versions.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts --legacy-peer-deps reflect-metadata@0.2.2 sql.js@1.17.0 \
  typeorm@1.1.1 typeorm-0@npm:typeorm@0.3.31 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
require('reflect-metadata');

const read = async version => {
  const { DataSource, EntitySchema, LessThan, MoreThanOrEqual } = require(version);
  const Export = new EntitySchema({
    name: 'Export',
    columns: {
      id: { type: 'integer', primary: true },
      createdAt: { type: 'datetime', createDate: true },
      exportedAt: { type: 'datetime' },
    },
  });
  const db = new DataSource({ type: 'sqljs', entities: [Export], synchronize: true });
  await db.initialize();
  const exports = db.getRepository('Export');
  await exports.save({ id: 1, exportedAt: new Date('2026-07-15T10:00:00Z') });
  const row = await exports.findOneByOrFail({ id: 1 });
  for (const name of ['createdAt', 'exportedAt']) {
    const time = row[name];
    const equal = await exports.countBy({ [name]: time });
    const later = await exports.countBy({ [name]: MoreThanOrEqual(time) });
    const before = await exports.countBy({ [name]: LessThan(time) });
    console.log(`${name}: = ${equal}, >= ${later}, < ${before}`);
  }
};

read(process.argv[2]);
JS
cat >expected <<'TEXT'
createdAt: = 0, >= 0, < 1
exportedAt: = 1, >= 1, < 0
TEXT
for version in typeorm typeorm-0; do
  node run.cjs "$version" >seen
  diff expected seen || { echo "$version: the behaviour has changed"; exit 1; }
  echo "$version"; cat seen
done
