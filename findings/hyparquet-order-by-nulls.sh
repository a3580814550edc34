#!/bin/sh
# hyparquet's `orderBy` does not sort a text column that has nulls.
#
# Guessed: `parquetQuery` with `orderBy` sorts the rows, with all nulls first or all nulls last.
# So: a null counts as equal to each text, and an order with that has no meaning. The texts come back out of order, with
# the nulls between them. `rowEnd` then cuts a page of the wrong rows: "a" and "b" are not on the first one.
# Numbers are sorted, with nulls as if they were 0: after -1 and before 1.
# Versions: hyparquet 1.33.0, hyparquet-writer 0.17.0; Node 24.21.0 and 20.20.2.
# Who meets it: a viewer that shows a Parquet export page by page, ordered by a column that can be empty.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts hyparquet@1.33.0 hyparquet-writer@0.17.0 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { parquetQuery } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';

const texts = ['m', null, 'c', 'z', null, 'a', 'k', null, 'b', 'y'];
const numbers = [2, null, 1, -1, null, 0, -2, 3, null, 4];
const file = parquetWriteBuffer({
  columnData: [
    { name: 'title', data: texts, type: 'STRING', nullable: true },
    { name: 'version', data: numbers, type: 'INT32', nullable: true },
  ],
});
const show = async options => {
  const rows = await parquetQuery({ file, ...options });
  console.log(JSON.stringify(options), rows.map(row => row[options.orderBy] ?? 'null').join(' '));
};
await show({ orderBy: 'title' });
await show({ orderBy: 'title', rowStart: 0, rowEnd: 4 });
await show({ orderBy: 'version' });
JS
cat >expected <<'TEXT'
{"orderBy":"title"} m null c z null a k null b y
{"orderBy":"title","rowStart":0,"rowEnd":4} m null c z
{"orderBy":"version"} -2 -1 null null 0 null 1 2 3 4
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
