#!/bin/sh
# ajv-formats 3 accepts 1970-01-01T00:00:00Z wherever `formatMinimum` asks for a later time, and refuses the millisecond after it.
#
# Guessed: a time before `formatMinimum` is refused, and of all such times 1970-01-01T00:00:00Z first: it is what an unset time
# becomes. A program that has such a limit has it for that time.
# So: `date-time` compares milliseconds since 1970, and takes a 0 for a text that is no time, which it leaves to others. So this time
# passes each limit, in each offset, and as a limit it refuses nothing. A leap second, which the format allows, passes, too.
# The format `iso-date-time` of 3.0.1 is right, and so was `date-time` of 2.1.1.
# Versions: ajv 8.20.0, ajv-formats 3.0.1 and 2.1.1; Node 24.21.0 and 20.20.2.
# Who meets it: a check of an export, a request or a configuration by JSON Schema, which is to refuse times that nobody set.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts ajv@8.20.0 ajv-formats@3.0.1 ajv-formats-2@npm:ajv-formats@2.1.1 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
const Ajv = require('ajv');

const checks = {
  '2020-01-01T00:00:00Z': [
    '2019-12-31T23:59:59Z',
    '1970-01-01T00:00:00.001Z',
    '1970-01-01T00:00:00Z',
    '1969-12-31T19:00:00-05:00',
    '1969-12-31T23:59:59Z',
    '2016-12-31T23:59:60Z',
  ],
  '1970-01-01T00:00:00Z': ['1969-12-31T23:59:59Z', '0001-01-01T00:00:00Z'],
};
for (const [plugin, format] of [['ajv-formats-2', 'date-time'], ['ajv-formats', 'iso-date-time'], ['ajv-formats', 'date-time']]) {
  const ajv = new Ajv();
  require(plugin)(ajv);
  for (const [formatMinimum, times] of Object.entries(checks)) {
    const isValid = ajv.compile({ type: 'string', format, formatMinimum });
    const accepted = times.filter(time => isValid(time));
    console.log(`${plugin}, ${format}, from ${formatMinimum}: ${accepted.join(', ') || 'all refused'}`);
  }
}
JS
cat >expected <<'TEXT'
ajv-formats-2, date-time, from 2020-01-01T00:00:00Z: all refused
ajv-formats-2, date-time, from 1970-01-01T00:00:00Z: all refused
ajv-formats, iso-date-time, from 2020-01-01T00:00:00Z: all refused
ajv-formats, iso-date-time, from 1970-01-01T00:00:00Z: all refused
ajv-formats, date-time, from 2020-01-01T00:00:00Z: 1970-01-01T00:00:00Z, 1969-12-31T19:00:00-05:00, 2016-12-31T23:59:60Z
ajv-formats, date-time, from 1970-01-01T00:00:00Z: 1969-12-31T23:59:59Z, 0001-01-01T00:00:00Z
TEXT
node run.cjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
