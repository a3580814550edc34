#!/bin/sh
# node-cron starts `0 0 1 * MON` on one day of 2026, where other libraries start it on 63.
#
# Guessed: if a schedule names days of the month and weekdays, each of both is enough, as cron has it.
# So: for node-cron both must fit: a Monday that is the first of its month.
# The other libraries start it on each Monday, and on each first of a month. All of them take the schedule without a word.
# Versions: node-cron 4.6.0, cron 4.4.0, croner 11.0.1, cron-parser 5.10.6; Node 24.21.0.
# Who meets it: an operator who brings a line of a crontab along, for example for backups on the first and on Mondays.
# Seen: the text `expected` below: how many days of 2026 fit, in UTC.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts node-cron@4.6.0 cron@4.4.0 croner@11.0.1 cron-parser@5.10.6 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { CronTime } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { createTask } from 'node-cron';

const schedule = '0 0 1 * MON';
const timezone = 'UTC';
const day = 86_400_000;
const [first, last] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 11, 31)];

/** Counts the times of 2026 by what follows each moment. */
const count = next => {
  let times = 0;
  for (let at = next(first - 1); at <= last; at = next(at)) times++;
  return times;
};
const task = createTask(schedule, () => undefined, { timezone });
let fits = 0;
for (let at = first; at <= last; at += day) if (task.match(new Date(at))) fits++;
console.log('node-cron', fits);
console.log('cron', count(at => new CronTime(schedule, timezone).getNextDateFrom(new Date(at), timezone).toMillis()));
console.log('croner', count(at => new Cron(schedule, { timezone }).nextRun(new Date(at)).getTime()));
console.log('cron-parser', count(at => CronExpressionParser.parse(schedule, { tz: timezone, currentDate: new Date(at) }).next().getTime()));
JS
cat >expected <<'TEXT'
node-cron 1
cron 63
croner 63
cron-parser 63
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
