#!/bin/sh
# yup reads half a second, `.5`, as 5 milliseconds, and so does dayjs, if the time has no zone.
#
# Guessed: the digits after the point are a fraction, so `22:30:00.5` is 500 milliseconds after `22:30:00`, as for `Date`.
# So: both take the digits for a number of milliseconds. `.5` is 5 and `.12` is 12, so `.5` comes before `.12`, and is equal to `.05`.
# dayjs leaves a time with an offset to `Date`, which is right; yup does not. With three digits or more both are right, so a test
# with the text of `toISOString` shows nothing.
# Versions: yup 1.7.1, dayjs 1.11.23, @electric-sql/pglite 0.5.17 (PostgreSQL as WebAssembly); Node 24.21.0 and
# 20.20.2.
# Who meets it: a program that reads JSON of PostgreSQL, or of Go, which leave out the zeros at the end of a fraction. Of times with
# milliseconds it is one in ten.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts yup@1.7.1 dayjs@1.11.23 @electric-sql/pglite@0.5.17 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import dayjs from 'dayjs';
import { date } from 'yup';

const db = await PGlite.create();
const times = "VALUES ('22:30:00.05'), ('22:30:00.12'), ('22:30:00.500'), ('22:30:00.787')";
for (const type of ['timestamp', 'timestamptz']) {
  const sql = `SELECT to_json(('2026-07-15 ' || t)::${type}) AS text FROM (${times}) AS v (t)`;
  for (const { text } of (await db.query(sql)).rows) {
    const [ofDate, ofDayjs, ofYup] = [new Date(text), dayjs(text), date().cast(text)].map(read => read.toISOString().slice(17));
    console.log(`${text}: Date ${ofDate}, dayjs ${ofDayjs}, yup ${ofYup}`);
  }
}
await db.close();
JS
cat >expected <<'TEXT'
2026-07-15T22:30:00.05: Date 00.050Z, dayjs 00.005Z, yup 00.005Z
2026-07-15T22:30:00.12: Date 00.120Z, dayjs 00.012Z, yup 00.012Z
2026-07-15T22:30:00.5: Date 00.500Z, dayjs 00.005Z, yup 00.005Z
2026-07-15T22:30:00.787: Date 00.787Z, dayjs 00.787Z, yup 00.787Z
2026-07-15T22:30:00.05+00:00: Date 00.050Z, dayjs 00.050Z, yup 00.005Z
2026-07-15T22:30:00.12+00:00: Date 00.120Z, dayjs 00.120Z, yup 00.012Z
2026-07-15T22:30:00.5+00:00: Date 00.500Z, dayjs 00.500Z, yup 00.005Z
2026-07-15T22:30:00.787+00:00: Date 00.787Z, dayjs 00.787Z, yup 00.787Z
TEXT
TZ=UTC node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
