#!/bin/sh
# In the night in which summer time ends, the package cron starts a daily job of the hour after the repeated one twice.
#
# Guessed: only the hour that comes twice is a question: `30 2 * * *` in Zürich could start once or twice. 03:00 comes once, so
# `0 3 * * *` starts once, at 03:00.
# So: it is the other way round. `30 2 * * *` starts once. `0 3 * * *` starts at the second 02:00, an hour that it does not name, and
# at 03:00. In New York and London, where the clock goes back to 01:00, it is the jobs between 02:00 and 03:00.
# Versions: cron 4.4.0, croner 11.0.1, cron-parser 5.10.6; Node 24.21.0 and 20.20.2.
# Who meets it: a nightly sync, report or bill, once a year: its second run begins while the first still runs, or sends all again.
# Seen: the text `expected` below. The job of cron runs, with the clock of node:test; the others say their next starts.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts cron@4.4.0 croner@11.0.1 cron-parser@5.10.6 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { mock } from 'node:test';
import { CronJob } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';

const minute = 60_000;
const libraries = {
  cron: (schedule, timezone, from, until) => {
    const runs = [];
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: from });
    const job = CronJob.from({ cronTime: schedule, timeZone: timezone, start: true, onTick: () => runs.push(Date.now()) });
    while (Date.now() < until) mock.timers.tick(minute / 2);
    job.stop();
    mock.timers.reset();
    return runs;
  },
  croner: (schedule, timezone, from) => new Cron(schedule, { timezone, paused: true }).nextRuns(5, new Date(from)).map(Number),
  'cron-parser': (schedule, timezone, from) =>
    CronExpressionParser.parse(schedule, { currentDate: new Date(from), tz: timezone }).take(5).map(run => run.getTime()),
};
const nights = {
  'Europe/Zurich': { evening: '2025-10-25T20:00:00Z', schedules: ['30 2 * * *', '0 3 * * *', '30 3 * * *', '0 4 * * *'] },
  'America/New_York': { evening: '2025-11-02T02:00:00Z', schedules: ['30 1 * * *', '0 2 * * *', '30 2 * * *', '0 3 * * *'] },
};
for (const [timezone, { evening, schedules }] of Object.entries(nights)) {
  const zone = { timeZone: timezone, hour: '2-digit', minute: '2-digit', timeZoneName: 'shortOffset' };
  const clock = new Intl.DateTimeFormat('en-GB', zone);
  const from = Date.parse(evening);
  const until = from + 12 * 60 * minute;
  for (const schedule of schedules)
    for (const [name, read] of Object.entries(libraries)) {
      const night = read(schedule, timezone, from, until).filter(run => run < until);
      console.log(`${timezone}, ${schedule}, ${name}: ${night.map(run => clock.format(run)).join(', ')}`);
    }
}
JS
cat >expected <<'TEXT'
Europe/Zurich, 30 2 * * *, cron: 02:30 GMT+2
Europe/Zurich, 30 2 * * *, croner: 02:30 GMT+2
Europe/Zurich, 30 2 * * *, cron-parser: 02:30 GMT+2
Europe/Zurich, 0 3 * * *, cron: 02:00 GMT+1, 03:00 GMT+1
Europe/Zurich, 0 3 * * *, croner: 03:00 GMT+1
Europe/Zurich, 0 3 * * *, cron-parser: 03:00 GMT+1
Europe/Zurich, 30 3 * * *, cron: 02:30 GMT+1, 03:30 GMT+1
Europe/Zurich, 30 3 * * *, croner: 03:30 GMT+1
Europe/Zurich, 30 3 * * *, cron-parser: 03:30 GMT+1
Europe/Zurich, 0 4 * * *, cron: 04:00 GMT+1
Europe/Zurich, 0 4 * * *, croner: 04:00 GMT+1
Europe/Zurich, 0 4 * * *, cron-parser: 04:00 GMT+1
America/New_York, 30 1 * * *, cron: 01:30 GMT-4
America/New_York, 30 1 * * *, croner: 01:30 GMT-4
America/New_York, 30 1 * * *, cron-parser: 01:30 GMT-4
America/New_York, 0 2 * * *, cron: 01:00 GMT-5, 02:00 GMT-5
America/New_York, 0 2 * * *, croner: 02:00 GMT-5
America/New_York, 0 2 * * *, cron-parser: 02:00 GMT-5
America/New_York, 30 2 * * *, cron: 01:30 GMT-5, 02:30 GMT-5
America/New_York, 30 2 * * *, croner: 02:30 GMT-5
America/New_York, 30 2 * * *, cron-parser: 02:30 GMT-5
America/New_York, 0 3 * * *, cron: 03:00 GMT-5
America/New_York, 0 3 * * *, croner: 03:00 GMT-5
America/New_York, 0 3 * * *, cron-parser: 03:00 GMT-5
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
