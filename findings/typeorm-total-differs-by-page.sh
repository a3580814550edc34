#!/bin/sh
# TypeORM's findAndCount gives another total with each page, if the list is ordered by a column of a to-many relation.
#
# Guessed: `findAndCount` counts the parents, so each page has the same total. With this order a page might be short,
# as the order has a place for each child, but the total beside it is that of the table.
# So: if a page has fewer parents than `take`, nothing is counted. Its total is `skip` plus the number of its parents.
# Here a page is short because several of its places belong to one parent. Of 6 webhooks, page 1 says that there are 3,
# page 2 that there are 9, and page 3 that there are 12. The first one also says that the list ends with page 1.
# Versions: typeorm 1.1.1 and 0.3.31, sql.js 1.17.0; Node 24.21.0 and 20.20.2.
# Who meets it: a program that reads such a list by page numbers until it has the total. It stops after 3 of 6 webhooks.
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
  const { DataSource, EntitySchema } = require(version);
  const id = { type: 'integer', primary: true };
  const Webhook = new EntitySchema({
    name: 'Webhook',
    columns: { id },
    relations: { events: { type: 'one-to-many', target: 'Event', inverseSide: 'webhook' } },
  });
  const Event = new EntitySchema({
    name: 'Event',
    columns: { id, name: { type: 'varchar' } },
    relations: { webhook: { type: 'many-to-one', target: 'Webhook', inverseSide: 'events' } },
  });
  const db = new DataSource({ type: 'sqljs', entities: [Webhook, Event], synchronize: true });
  await db.initialize();
  const webhooks = db.getRepository('Webhook');
  const events = db.getRepository('Event');
  // Two events each: the order by name is 1 1 2 2 3 4 5 6 3 4 5 6.
  const owners = [1, 1, 2, 2, 3, 4, 5, 6, 3, 4, 5, 6];
  for (let webhook = 1; webhook <= 6; webhook++) await webhooks.save({ id: webhook });
  for (const [place, webhook] of owners.entries())
    await events.save({ id: place + 1, name: `event ${String.fromCharCode(97 + place)}`, webhook: { id: webhook } });

  for (const order of [{ id: 'ASC' }, { events: { name: 'ASC' } }])
    for (const page of [1, 2, 3]) {
      const take = order.id ? 3 : 5;
      const skip = (page - 1) * take;
      const [rows, total] = await webhooks.findAndCount({ relations: { events: true }, order, skip, take });
      const ids = rows.map(row => row.id).join(' ') || 'none';
      console.log(`by ${Object.keys(order)[0]}, page ${page}, ${take} a page: ${ids}; total ${total}`);
    }
};

read(process.argv[2]);
JS
cat >expected <<'TEXT'
by id, page 1, 3 a page: 1 2 3; total 6
by id, page 2, 3 a page: 4 5 6; total 6
by id, page 3, 3 a page: none; total 6
by events, page 1, 5 a page: 1 2 3; total 3
by events, page 2, 5 a page: 3 4 5 6; total 9
by events, page 3, 5 a page: 5 6; total 12
TEXT
for version in typeorm typeorm-0; do
  node run.cjs "$version" >seen
  diff expected seen || { echo "$version: the behaviour has changed"; exit 1; }
  echo "$version"; cat seen
done
