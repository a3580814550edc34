#!/bin/sh
# By milliseconds since 1970, nestjs-paginate's cursor ends after the first page, and ascending this page has the newest rows.
#
# Guessed: a cursor holds the values of the last row, so the size of a number does not matter. If it did, there would be an error.
# So: SQL makes a text of each row's number and sorts by it. The text has 11 digits, as the README says, and a time in milliseconds
# has 13. SQL cuts the first two off, and the cursor that the client gets has all 13, with a minus if ascending. No row comes
# after such a cursor. So the second page is empty and has no `next`, as at a true end. There is no error.
# Versions: nestjs-paginate 15.0.1, typeorm 1.1.1, better-sqlite3 13.2.0; Node 24.21.0.
# Who meets it: a client that follows the pages of such a service until there is no further one. It has 2 of 6 rows, and
# they are not the first ones.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts --legacy-peer-deps nestjs-paginate@15.0.1 typeorm@1.1.1 \
  better-sqlite3@13.2.0 @nestjs/common@11.2.10 @nestjs/core@11.2.10 @nestjs/swagger@11.4.0 reflect-metadata@0.2.2 rxjs@7.8.2 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
require('reflect-metadata');
const { paginate, PaginationType } = require('nestjs-paginate');
const { DataSource, EntitySchema } = require('typeorm');

const Export = new EntitySchema({
  name: 'Export',
  columns: {
    id: { type: 'integer', primary: true },
    seconds: { type: 'integer' },
    milliseconds: { type: 'integer' },
  },
});
const main = async () => {
  const db = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities: [Export], synchronize: true });
  await db.initialize();
  const rows = db.getRepository('Export');
  for (let id = 1; id <= 6; id++) await rows.insert({ id, seconds: 1784142300 + id, milliseconds: 1784142300787 + id * 1000 });
  const config = { sortableColumns: ['id', 'seconds', 'milliseconds'], paginationType: PaginationType.CURSOR };
  for (const column of ['seconds', 'milliseconds'])
    for (const direction of ['ASC', 'DESC']) {
      const pages = [];
      let cursor;
      do {
        const sortBy = [[column, direction], ['id', direction]];
        const page = await paginate({ path: 'http://localhost/exports', limit: 2, sortBy, cursor }, rows, config);
        pages.push(page.data.map(({ id }) => id).join(' ') || 'none');
        cursor = page.links.next && new URL(page.links.next).searchParams.get('cursor');
      } while (cursor && pages.length < 9);
      console.log(`${column} ${direction}: ${pages.join(' | ')}`);
    }
  await db.destroy();
};

main();
JS
cat >expected <<'TEXT'
seconds ASC: 1 2 | 3 4 | 5 6 | none
seconds DESC: 6 5 | 4 3 | 2 1 | none
milliseconds ASC: 6 5 | none
milliseconds DESC: 6 5 | none
TEXT
node run.cjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
