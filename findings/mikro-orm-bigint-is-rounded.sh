#!/bin/sh
# MikroORM on SQLite reads a large id as an inexact BigInt, so two rows become one object, and a change is lost or in the other row.
#
# Guessed: a property of the type `bigint` is a BigInt because that is exact, so ids of 64 bits are safe. The documentation of such
# keys names MySQL and PostgreSQL, so SQLite might refuse them.
# So: the driver gives a number, which is rounded above 2^53, and MikroORM makes a BigInt of its digits. What it writes is exact,
# and what it reads is not. Of two neighbours `findAndCount` gives one object, and says 2. A change of the row that was found by
# its name goes to the row with the rounded id: to its neighbour, or to none. There is no error.
# Versions: @mikro-orm/core and @mikro-orm/sqlite 7.2.2, better-sqlite3 13.0.3; Node 24.21.0.
# Who meets it: a copy of records whose ids another system made of a time and a counter, with 64 bits.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts @mikro-orm/core@7.2.2 @mikro-orm/sqlite@7.2.2 \
  better-sqlite3@13.0.3 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { EntitySchema, MikroORM } from '@mikro-orm/sqlite';

const Webhook = new EntitySchema({
  name: 'Webhook',
  properties: { id: { type: 'bigint', primary: true }, name: { type: 'string' }, endpoint: { type: 'string' } },
});
for (const first of [9_007_199_254_740_992n, 1_453_682_391_087_710_208n]) {
  const orm = await MikroORM.init({ dbName: ':memory:', entities: [Webhook] });
  await orm.schema.create();
  const print = async what => {
    const sql = 'SELECT CAST(id AS TEXT) AS id, name, endpoint FROM webhook ORDER BY webhook.id';
    const rows = await orm.em.fork().getConnection().execute(sql);
    console.log(`${what}: ${rows.map(row => Object.values(row).join(' ')).join(', ')}`);
  };

  const writer = orm.em.fork();
  writer.create('Webhook', { id: first, name: 'first', endpoint: '/one' });
  writer.create('Webhook', { id: first + 1n, name: 'second', endpoint: '/two' });
  await writer.flush();
  await print('written');

  const [rows, total] = await orm.em.fork().findAndCount('Webhook', {});
  console.log(`findAndCount: ${rows.length} object, total ${total}`);

  const editor = orm.em.fork();
  const second = await editor.findOneOrFail('Webhook', { name: 'second' });
  console.log(`found by name: ${second.id} ${second.name} (${typeof second.id})`);
  second.endpoint = '/changed';
  await editor.flush();
  await print('after the change');
  await orm.close();
}
JS
cat >expected <<'TEXT'
written: 9007199254740992 first /one, 9007199254740993 second /two
findAndCount: 1 object, total 2
found by name: 9007199254740992 second (bigint)
after the change: 9007199254740992 first /changed, 9007199254740993 second /two
written: 1453682391087710208 first /one, 1453682391087710209 second /two
findAndCount: 1 object, total 2
found by name: 1453682391087710200 second (bigint)
after the change: 1453682391087710208 first /one, 1453682391087710209 second /two
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
