#!/bin/sh
# If Knex or drizzle-kit makes a column of a SQLite table required, all rows that refer to the table with ON DELETE CASCADE are gone.
#
# Guessed: SQLite can't change a column, so both copy the table, drop it and rename the copy. Both switch foreign keys off before, so
# no row that refers to it is touched.
# So: both run a migration in a transaction, in which SQLite ignores that switch. DROP TABLE deletes the rows first, and ON DELETE
# CASCADE follows. All webhooks stay, and all their events are gone. The migration succeeds, and `foreign_key_check` finds nothing.
# Triggers of the table are gone, too. With Knex's `disableTransactions` the rows stay.
# Versions: knex 3.3.0, drizzle-orm 0.45.4, drizzle-kit 0.31.11, better-sqlite3 13.2.0, which has foreign keys on; Node 24.21.0.
# Who meets it: a service that changes its tables at its start. A list that it serves is empty from then on, and a mirror of it
# removes all records.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts knex@3.3.0 drizzle-orm@0.45.4 drizzle-kit@0.31.11 \
  better-sqlite3@13.2.0 >>npm.log 2>&1 || { cat npm.log; exit 2; }

schema() {
  cat <<TS
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const webhooks = sqliteTable('webhooks', { id: integer().primaryKey(), endpoint: text()$1 });
export const events = sqliteTable('events', {
  webhook: integer().references(() => webhooks.id, { onDelete: 'cascade' }),
  name: text(),
});
TS
}
for step in 0 1; do
  schema "$(test $step = 0 || echo '.notNull()')" >schema.ts
  npx drizzle-kit generate --dialect sqlite --schema schema.ts --out drizzle --name "step$step" >>npm.log 2>&1
  cp -R drizzle "drizzle-$step"
done
cat >run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { migrate } from 'drizzle-orm/better-sqlite3/migrator';
import knex from 'knex';

const webhooks = "INSERT INTO webhooks (id, endpoint) VALUES (1, '/one'), (2, '/two')";
const events = "INSERT INTO events (webhook, name) VALUES (1, 'exported'), (2, 'exported'), (2, 'renamed')";
const trigger = 'CREATE TRIGGER changed AFTER UPDATE ON webhooks BEGIN SELECT 1; END';
const count = (table, name = table) => `(SELECT count(*) FROM ${table}) AS ${name}`;
const counts = `SELECT ${count('webhooks')}, ${count('events')}, ${count("sqlite_master WHERE type = 'trigger'", 'triggers')}`;
const print = (what, rows) => console.log(`${what}: ${Object.entries(rows).map(([name, count]) => `${name} ${count}`).join(', ')}`);

const sqlite = new Database(':memory:');
const db = drizzle(sqlite);
migrate(db, { migrationsFolder: 'drizzle-0' });
for (const sql of [webhooks, events, trigger]) sqlite.exec(sql);
print('drizzle, before', sqlite.prepare(counts).get());
migrate(db, { migrationsFolder: 'drizzle-1' });
print('drizzle, after', sqlite.prepare(counts).get());
console.log('drizzle, foreign_key_check:', sqlite.pragma('foreign_key_check').length);
const [first] = readFileSync('drizzle-1/0001_step1.sql', 'utf8').split(';');
console.log('drizzle, the migration begins with:', first);

const steps = {
  0: async k => {
    await k.schema.createTable('webhooks', table => {
      table.integer('id').primary();
      table.string('endpoint');
    });
    await k.schema.createTable('events', table => {
      table.integer('webhook').references('webhooks.id').onDelete('CASCADE');
      table.string('name');
    });
  },
  1: k => k.schema.alterTable('webhooks', table => table.string('endpoint').notNullable().alter()),
};
for (const disableTransactions of [false, true]) {
  const k = knex({ client: 'better-sqlite3', connection: { filename: ':memory:' }, useNullAsDefault: true, pool: { min: 1, max: 1 } });
  const latest = names => {
    const getMigration = name => ({ up: steps[name], down: async () => {} });
    const migrationSource = { getMigrations: async () => names, getMigrationName: name => name, getMigration };
    return k.migrate.latest({ migrationSource, disableTransactions });
  };
  const what = disableTransactions ? 'knex without transactions' : 'knex';
  await latest(['0']);
  for (const sql of [webhooks, events, trigger]) await k.raw(sql);
  print(`${what}, before`, (await k.raw(counts))[0]);
  await latest(['0', '1']);
  print(`${what}, after`, (await k.raw(counts))[0]);
  await k.destroy();
}
JS
cat >expected <<'TEXT'
drizzle, before: webhooks 2, events 3, triggers 1
drizzle, after: webhooks 2, events 0, triggers 0
drizzle, foreign_key_check: 0
drizzle, the migration begins with: PRAGMA foreign_keys=OFF
knex, before: webhooks 2, events 3, triggers 1
knex, after: webhooks 2, events 0, triggers 0
knex without transactions, before: webhooks 2, events 3, triggers 1
knex without transactions, after: webhooks 2, events 3, triggers 0
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
