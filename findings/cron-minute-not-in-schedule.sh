#!/bin/sh
# In the night in which summer time begins, the package cron starts a job at a minute that its schedule does not name.
#
# Guessed: of `30 2-4 * * *`, 02:30 does not exist in that night, so the job starts at 03:30 and 04:30.
# So: it starts at 03:00, 03:30 and 04:30, and the first two are half an hour apart. With `0,30 2 * * *` it starts once.
# The other libraries differ, too. croner leaves the two times of `0,30 2 * * *` out, but moves the one time of
# `30 2 * * *` to 03:00. cron-parser moves each time by an hour.
# Versions: cron 4.4.0, croner 11.0.1, cron-parser 5.10.6; Node 24.21.0 and 20.20.2.
# Who meets it: nightly and half-hourly syncs in a zone with summer time, and an operator who changes the library.
# Seen: the text `expected` below, for Europe/Berlin on 2026-03-29, in local time.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts cron@4.4.0 croner@11.0.1 cron-parser@5.10.6 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { CronTime } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';

const timezone = 'Europe/Berlin';
const evening = new Date('2026-03-28T22:00:00Z');
const noon = new Date('2026-03-29T10:00:00Z');
const most = 12;
const libraries = {
  cron: schedule => {
    const time = new CronTime(schedule, timezone);
    const runs = [evening];
    while (runs.length <= most) runs.push(time.getNextDateFrom(runs.at(-1), timezone).toJSDate());
    return runs.slice(1);
  },
  croner: schedule => new Cron(schedule, { timezone, paused: true }).nextRuns(most, evening),
  'cron-parser': schedule =>
    CronExpressionParser.parse(schedule, { currentDate: evening, tz: timezone }).take(most).map(run => run.toDate()),
};
const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
for (const schedule of ['30 2-4 * * *', '0,30 2 * * *', '30 2 * * *'])
  for (const [name, next] of Object.entries(libraries)) {
    const runs = next(schedule).filter(run => run < noon);
    console.log(`${schedule}  ${name}: ${runs.map(run => clock.format(run)).join(' ') || 'none'}`);
  }
JS
cat >expected <<'TEXT'
30 2-4 * * *  cron: 03:00 03:30 04:30
30 2-4 * * *  croner: 03:30 04:30
30 2-4 * * *  cron-parser: 03:30 04:30
0,30 2 * * *  cron: 03:00
0,30 2 * * *  croner: none
0,30 2 * * *  cron-parser: 03:00 03:30
30 2 * * *  cron: 03:00
30 2 * * *  croner: 03:00
30 2 * * *  cron-parser: 03:30
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
