#!/bin/sh
# In the night in which summer time ends, node-cron leaves out an hour of hourly runs, and names one moment several times.
#
# Guessed: the hour from 02:00 to 03:00 comes twice, so `*/20 * * * *` starts in both, or in one of them if node-cron goes by
# the clock. Then 60 minutes have no start. `getNextRuns(3)` of `30 2 * * *` names the three nights that follow.
# So: the first of the two hours has no start, and neither has its end: 80 minutes lie between two starts that are 20 minutes
# apart else. In that night `getNextRuns(3)` of `30 2 * * *` is one moment, three times. `match` says that the moments that
# were left out fit.
# Versions: node-cron 4.6.0; Node 24.21.0.
# Who meets it: a sync each 20 minutes that must not be older than an hour, and a page that lists the next runs.
# Seen: the text `expected` below, for Europe/Berlin on 2026-10-25, in UTC. The clock is put back at 01:00.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts node-cron@4.6.0 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { mock } from 'node:test';
import { createTask } from 'node-cron';

const immediately = setImmediate;
const shown = date => date.toISOString().slice(11, 16);
const timezone = 'Europe/Berlin';

/** Lets an evening and a night go by, 10 seconds at a time. */
const starts = async schedule => {
  mock.timers.enable({ apis: ['Date', 'setTimeout', 'setInterval'], now: Date.parse('2026-10-24T22:50:00Z') });
  const seen = [];
  const task = createTask(schedule, () => void seen.push(shown(new Date())), { timezone });
  task.start();
  const next = task.getNextRuns(3).map(shown);
  for (let step = 0; step < 1_300; step++) {
    mock.timers.tick(10_000);
    await new Promise(resolve => immediately(resolve));
  }
  task.destroy();
  mock.timers.reset();
  console.log(`${schedule}: next ${next.join(' ')}; started ${seen.join(' ')}`);
};

await starts('*/20 * * * *');
await starts('0 * * * *');
await starts('30 2 * * *');
const hourly = createTask('0 * * * *', () => undefined, { timezone });
for (const time of ['00:00', '01:00']) console.log(time, hourly.match(new Date(`2026-10-25T${time}:00Z`)));
process.exit();
JS
cat >expected <<'TEXT'
*/20 * * * *: next 23:00 23:20 23:40; started 23:00 23:20 23:40 01:00 01:20 01:40 02:00 02:20
0 * * * *: next 23:00 01:00 02:00; started 23:00 01:00 02:00
30 2 * * *: next 01:30 01:30 01:30; started 01:30
00:00 true
01:00 true
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
