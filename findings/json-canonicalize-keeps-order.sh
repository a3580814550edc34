#!/bin/sh
# json-canonicalize sorts no keys of a row that Objection read, so the row's hash depends on the order of the columns in the query.
#
# Guessed: a library for RFC 8785 sorts the keys of each object, at each depth. That is what it is for.
# So: if an object has a method `toJSON`, nothing in it is sorted. Rows of Objection and a Buffer have that method. By
# `SELECT id, title` and by `SELECT title, id` the same row has two hashes. A copy of it, `{ ...row }`, is sorted, so a test with plain
# objects shows nothing. The package canonicalize sorts all of them.
# Versions: json-canonicalize 3.0.1, canonicalize 5.1.0, objection 3.1.5, knex 3.3.0, better-sqlite3 13.2.0; Node 24.21.0.
# Who meets it: an audit or a sync that compares rows by the hash of their canonical JSON. After a change of a query all rows differ.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts json-canonicalize@3.0.1 canonicalize@5.1.0 objection@3.1.5 \
  knex@3.3.0 better-sqlite3@13.2.0 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import canonicalize from 'canonicalize';
import { canonicalize as jsonCanonicalize } from 'json-canonicalize';
import knex from 'knex';
import { Model } from 'objection';

const db = knex({ client: 'better-sqlite3', connection: { filename: ':memory:' }, useNullAsDefault: true, pool: { min: 1, max: 1 } });
class Export extends Model {
  static tableName = 'exports';
}
Model.knex(db);
await db.schema.createTable('exports', table => {
  table.integer('id').primary();
  table.string('title');
});
await Export.query().insert({ id: 7, title: 'Invoice' });
const print = (what, value) => console.log(`${what}: json-canonicalize ${jsonCanonicalize(value)}, canonicalize ${canonicalize(value)}`);
for (const columns of [['id', 'title'], ['title', 'id']]) {
  const row = await Export.query().select(columns).first();
  print(`Objection, ${columns}`, row);
  print(`Objection, ${columns}, in an array`, [row]);
  print(`Objection, ${columns}, copied`, { ...row });
  print(`Knex, ${columns}`, await db('exports').select(columns).first());
}
print('Buffer', { hash: Buffer.from('ab') });
await db.destroy();
JS
cat >expected <<'TEXT'
Objection, id,title: json-canonicalize {"id":7,"title":"Invoice"}, canonicalize {"id":7,"title":"Invoice"}
Objection, id,title, in an array: json-canonicalize [{"id":7,"title":"Invoice"}], canonicalize [{"id":7,"title":"Invoice"}]
Objection, id,title, copied: json-canonicalize {"id":7,"title":"Invoice"}, canonicalize {"id":7,"title":"Invoice"}
Knex, id,title: json-canonicalize {"id":7,"title":"Invoice"}, canonicalize {"id":7,"title":"Invoice"}
Objection, title,id: json-canonicalize {"title":"Invoice","id":7}, canonicalize {"id":7,"title":"Invoice"}
Objection, title,id, in an array: json-canonicalize [{"title":"Invoice","id":7}], canonicalize [{"id":7,"title":"Invoice"}]
Objection, title,id, copied: json-canonicalize {"id":7,"title":"Invoice"}, canonicalize {"id":7,"title":"Invoice"}
Knex, title,id: json-canonicalize {"id":7,"title":"Invoice"}, canonicalize {"id":7,"title":"Invoice"}
Buffer: json-canonicalize {"hash":{"type":"Buffer","data":[97,98]}}, canonicalize {"hash":{"data":[97,98],"type":"Buffer"}}
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
