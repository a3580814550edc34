#!/bin/sh
# date-fns' parseJSON drops the offset of a time with 8 or 9 digits after the point, and makes an offset of more digits.
#
# Guessed: its documentation says "up to 7 digits", and that it gives an invalid date for all that it does not support. So
# nine digits are an invalid date, or they are cut to three, as parseISO and luxon do.
# So: with 8 or 9 digits the offset is not read, and the time is wrong by that offset. From 10 digits on, the eighth digit counts
# as a plus, the next two as hours, and two more as minutes: the time can be four days early, also with a Z. There is no error.
# Versions: date-fns 4.4.0, 3.6.0 and 2.30.0, luxon 3.7.2; Node 24.21.0 and 20.20.2.
# Who meets it: a program that reads times of a service with nanoseconds and an offset, as Java's OffsetDateTime and Go's
# RFC3339Nano write them, or of a database with picoseconds, such as Db2. A test with a Z and nine digits shows nothing.
# Seen: the text `expected` below, with each version.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts date-fns@4.4.0 date-fns-3@npm:date-fns@3.6.0 \
  date-fns-2@npm:date-fns@2.30.0 luxon@3.7.2 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
const { DateTime } = require('luxon');
const { parseISO, parseJSON } = require(process.argv[2]);

const readers = {
  parseJSON: text => parseJSON(text),
  parseISO: text => parseISO(text),
  luxon: text => DateTime.fromISO(text).toJSDate(),
};
for (const digits of ['1234567', '12345678', '123456789', '123456789012'])
  for (const offset of ['Z', '+02:00']) {
    const text = `2026-06-15T12:00:00.${digits}${offset}`;
    const times = Object.entries(readers).map(([name, read]) => `${name} ${read(text).toISOString().slice(5, -1)}`);
    console.log(`${digits.length} digits ${offset}: ${times.join(', ')}`);
  }
JS
cat >expected <<'TEXT'
7 digits Z: parseJSON 06-15T12:00:00.123, parseISO 06-15T12:00:00.123, luxon 06-15T12:00:00.123
7 digits +02:00: parseJSON 06-15T10:00:00.123, parseISO 06-15T10:00:00.123, luxon 06-15T10:00:00.123
8 digits Z: parseJSON 06-15T12:00:00.123, parseISO 06-15T12:00:00.123, luxon 06-15T12:00:00.123
8 digits +02:00: parseJSON 06-15T12:00:00.123, parseISO 06-15T10:00:00.123, luxon 06-15T10:00:00.123
9 digits Z: parseJSON 06-15T12:00:00.123, parseISO 06-15T12:00:00.123, luxon 06-15T12:00:00.123
9 digits +02:00: parseJSON 06-15T12:00:00.123, parseISO 06-15T10:00:00.123, luxon 06-15T10:00:00.123
12 digits Z: parseJSON 06-11T17:48:00.123, parseISO 06-15T12:00:00.123, luxon 06-15T12:00:00.123
12 digits +02:00: parseJSON 06-11T17:48:00.123, parseISO 06-15T10:00:00.123, luxon 06-15T10:00:00.123
TEXT
for version in date-fns date-fns-3 date-fns-2; do
  node run.cjs "$version" >seen
  diff expected seen || { echo "$version: the behaviour has changed"; exit 1; }
  echo "$version"; cat seen
done
