#!/bin/sh
# Two attributes of a Sequelize model read the same column, if they were declared with one object.
#
# Guessed: `define` only reads the declarations that it is given, so one constant for all nullable texts is fine.
# So: it writes the column's name into the object. With `underscored`, the second attribute and those of later models
# have the column of the first. `sync` makes no other column. A write stores the last of the two values, and a read gives
# it for both. The name of a collection is in `source_title`. There is no error.
# Versions: sequelize 6.37.8, pg 8.23.1, @electric-sql/pglite 0.5.14, pglite-socket 0.2.17; Node 24.21.0 and 20.20.2.
# Who meets it: a service whose models repeat a type, as exports do with titles, references and kinds.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts sequelize@6.37.8 pg@8.23.1 \
  @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { DataTypes, Sequelize } from 'sequelize';

const engine = await PGlite.create();
const server = new PGLiteSocketServer({ db: engine, path: './.s.PGSQL.5432' });
await server.start();
const db = new Sequelize({
  dialect: 'postgres', host: process.cwd(), username: 'postgres', database: 'postgres', logging: false,
  pool: { max: 1 }, define: { underscored: true, timestamps: false },
});

const text = { type: DataTypes.STRING };
const Export = db.define('export', { sourceTitle: text, sourceReference: text });
const Collection = db.define('collection', { name: text });
await db.sync();
for (const model of [Export, Collection])
  console.log(model.name, Object.keys(await db.getQueryInterface().describeTable(model.getTableName())).join(' '));
await Export.create({ sourceTitle: 'a title', sourceReference: 'a reference' });
console.log(JSON.stringify(await Export.findOne({ raw: true })));
console.log('the constant:', Object.keys(text).join(' '));

await db.close();
await server.stop();
await engine.close();
JS
cat >expected <<'TEXT'
export id source_title
collection id source_title
{"id":1,"sourceTitle":"a reference","sourceReference":"a reference"}
the constant: type Model fieldName _modelAttribute field
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
