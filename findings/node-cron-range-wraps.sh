#!/bin/sh
# node-cron 4.5.0 starts `0 22-4 * * *` by day, and 4.6.0 by night. Other libraries refuse it.
#
# Guessed: a range whose end is before its begin is refused, as other libraries do. A minor release would not change it.
# So: 4.5.0 takes it for `4-22`, and starts it at 04:00, 05:00 and so on until 22:00. 4.6.0 goes over midnight: 22:00, 23:00, 00:00
# and so on until 04:00. So the hours in which it starts are nearly those in which it did not. A slip such as `5-3` for `3-5` is three
# hours in 4.5.0, and all but one in 4.6.0.
# Versions: node-cron 4.6.0 and 4.5.0, cron 4.4.0, croner 11.0.1, cron-parser 5.10.6; Node 24.21.0.
# Who meets it: a nightly job whose library is brought up to date, and a program that checks a schedule with one library and
# runs it with another.
# Seen: the text `expected` below: the hours that fit, in UTC, or the message.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts node-cron@4.6.0 node-cron-4.5@npm:node-cron@4.5.0 \
  cron@4.4.0 croner@11.0.1 cron-parser@5.10.6 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { validateCronExpression } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { createTask } from 'node-cron';
import { createTask as createTask45 } from 'node-cron-4.5';

const timezone = 'UTC';
const hoursOf = create => schedule => {
  const task = create(schedule, () => undefined, { timezone });
  const hours = Array.from({ length: 24 }, (_, hour) => hour).filter(hour => task.match(new Date(Date.UTC(2026, 5, 1, hour))));
  return hours.join(' ');
};
const libraries = {
  'node-cron 4.6.0': hoursOf(createTask),
  'node-cron 4.5.0': hoursOf(createTask45),
  cron: schedule => validateCronExpression(schedule).error?.message ?? 'valid',
  croner: schedule => String(new Cron(schedule, { timezone }).nextRun()),
  'cron-parser': schedule => String(CronExpressionParser.parse(schedule, { tz: timezone }).next()),
};
for (const schedule of ['0 22-4 * * *', '0 5-3 * * *'])
  for (const [name, read] of Object.entries(libraries))
    try {
      console.log(`${schedule}, ${name}: ${read(schedule)}`);
    } catch (error) {
      console.log(`${schedule}, ${name}: refused`);
    }
JS
cat >expected <<'TEXT'
0 22-4 * * *, node-cron 4.6.0: 0 1 2 3 4 22 23
0 22-4 * * *, node-cron 4.5.0: 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22
0 22-4 * * *, cron: Field (hour) has an invalid range
0 22-4 * * *, croner: refused
0 22-4 * * *, cron-parser: refused
0 5-3 * * *, node-cron 4.6.0: 0 1 2 3 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
0 5-3 * * *, node-cron 4.5.0: 3 4 5
0 5-3 * * *, cron: Field (hour) has an invalid range
0 5-3 * * *, croner: refused
0 5-3 * * *, cron-parser: refused
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
