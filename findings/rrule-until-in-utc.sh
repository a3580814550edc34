#!/bin/sh
# rrule reads UNTIL and EXDATE in UTC as the clock of the rule's zone: rules end too early or late, and exceptions fit nothing.
#
# Guessed: `20260703T010000Z` is an instant because of the Z. A rule in Berlin with that UNTIL has its last start at 03:00 of that day.
# RFC 5545 asks for UTC in UNTIL, if the start has a zone.
# So: the Z is not looked at. East of Greenwich the last start is missing, and west of it a rule goes on for one more. An EXDATE
# in UTC excludes nothing, and an RDATE in UTC adds another hour. The same EXDATE with TZID is right. There is no error.
# Versions: rrule 2.8.1, rrule-temporal 2.2.8; Node 24.21.0 and 20.20.2.
# Who meets it: a scheduler of backups, reports or silences that takes its rules from a calendar. A job runs on a day that was to be
# left out, and not on the last day.
# Seen: the text `expected` below. Starts are in UTC.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts rrule@2.8.1 rrule-temporal@2.2.8 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import rrule from 'rrule';
import { RRuleTemporal } from 'rrule-temporal';

const berlin = 'DTSTART;TZID=Europe/Berlin:20260701T030000\n';
const newYork = 'DTSTART;TZID=America/New_York:20260701T220000\n';
const rules = {
  'Berlin, UNTIL': `${berlin}RRULE:FREQ=DAILY;UNTIL=20260703T010000Z`,
  'New York, UNTIL': `${newYork}RRULE:FREQ=DAILY;UNTIL=20260704T010000Z`,
  'EXDATE in UTC': `${berlin}RRULE:FREQ=DAILY;COUNT=3\nEXDATE:20260702T010000Z`,
  'EXDATE with TZID': `${berlin}RRULE:FREQ=DAILY;COUNT=3\nEXDATE;TZID=Europe/Berlin:20260702T030000`,
  'RDATE in UTC': `${berlin}RRULE:FREQ=DAILY;COUNT=2\nRDATE:20260710T010000Z`,
};
const libraries = {
  rrule: text => rrule.rrulestr(text, { forceset: true }).all(),
  'rrule-temporal': text => new RRuleTemporal({ rruleString: text }).all().map(start => new Date(start.epochMilliseconds)),
};
for (const [what, text] of Object.entries(rules))
  for (const [name, starts] of Object.entries(libraries))
    console.log(`${what}, ${name}: ${starts(text).map(start => start.toISOString().slice(5, 16)).join(', ')}`);
JS
cat >expected <<'TEXT'
Berlin, UNTIL, rrule: 07-01T01:00, 07-02T01:00
Berlin, UNTIL, rrule-temporal: 07-01T01:00, 07-02T01:00, 07-03T01:00
New York, UNTIL, rrule: 07-02T02:00, 07-03T02:00, 07-04T02:00
New York, UNTIL, rrule-temporal: 07-02T02:00, 07-03T02:00
EXDATE in UTC, rrule: 07-01T01:00, 07-02T01:00, 07-03T01:00
EXDATE in UTC, rrule-temporal: 07-01T01:00, 07-03T01:00
EXDATE with TZID, rrule: 07-01T01:00, 07-03T01:00
EXDATE with TZID, rrule-temporal: 07-01T01:00, 07-03T01:00
RDATE in UTC, rrule: 07-01T01:00, 07-02T01:00, 07-09T23:00
RDATE in UTC, rrule-temporal: 07-01T01:00, 07-02T01:00, 07-10T01:00
TEXT
TZ=UTC node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
