#!/bin/sh
# Bree starts `0 3 * * 7` on Saturdays, and `0 3 * * 1-7` on all days except Sundays.
#
# Guessed: 7 is Sunday, as in cron and in the other libraries, or it is refused.
# So: Bree checks a schedule with cron-validate, for which 7 is a day, and plans it with @breejs/later, which makes Saturday of it,
# as of 6. A range until 7 has no Sunday. `0,7` is Saturdays and Sundays. Names such as `SUN`, which later knows, are refused.
# Versions: bree 9.2.9, @breejs/later 4.2.0, cron-validate 1.5.3, croner 11.0.1, cron 4.4.0, cron-parser 5.10.6; Node 24.21.0.
# Who meets it: a weekly job that another program must find done on Monday, and who moves a crontab to Bree.
# Seen: the text `expected` below: the first days from Monday, 1 June 2026, on which it starts.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts bree@9.2.9 @breejs/later@4.2.0 cron-validate@1.5.3 \
  croner@11.0.1 cron@4.4.0 cron-parser@5.10.6 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import later from '@breejs/later';
import Bree from 'bree';
import { CronTime } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';

mkdirSync('jobs');
writeFileSync('jobs/sync.js', '');
const from = new Date('2026-06-01T00:00:00Z');
const count = 7;
const next = (first, step) => {
  const times = [];
  for (let time = first; times.length < count; ) times.push((time = step(time)));
  return times;
};
const libraries = {
  Bree: async cron => {
    const bree = new Bree({ root: resolve('jobs'), logger: false, timezone: 'UTC', jobs: [{ name: 'sync', cron }] });
    await bree.init();
    return later.schedule(bree.config.jobs[0].interval).next(count, from);
  },
  croner: cron => new Cron(cron, { timezone: 'UTC' }).nextRuns(count, from),
  cron: cron => next(from, time => new CronTime(cron, 'UTC').getNextDateFrom(time, 'UTC').toJSDate()),
  'cron-parser': cron => {
    const times = CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: from });
    return next(from, () => times.next().toDate());
  },
};
const dayOf = time => time.toUTCString().slice(0, 3);
for (const cron of ['0 3 * * 7', '0 3 * * 1-7', '0 3 * * 5-7', '0 3 * * 0,7', '0 3 * * SUN'])
  for (const [name, read] of Object.entries(libraries))
    try {
      console.log(`${cron}, ${name}: ${(await read(cron)).map(dayOf).join(' ')}`);
    } catch (error) {
      console.log(`${cron}, ${name}: refused`);
    }
JS
cat >expected <<'TEXT'
0 3 * * 7, Bree: Sat Sat Sat Sat Sat Sat Sat
0 3 * * 7, croner: Sun Sun Sun Sun Sun Sun Sun
0 3 * * 7, cron: Sun Sun Sun Sun Sun Sun Sun
0 3 * * 7, cron-parser: Sun Sun Sun Sun Sun Sun Sun
0 3 * * 1-7, Bree: Mon Tue Wed Thu Fri Sat Mon
0 3 * * 1-7, croner: Mon Tue Wed Thu Fri Sat Sun
0 3 * * 1-7, cron: Mon Tue Wed Thu Fri Sat Sun
0 3 * * 1-7, cron-parser: Mon Tue Wed Thu Fri Sat Sun
0 3 * * 5-7, Bree: Fri Sat Fri Sat Fri Sat Fri
0 3 * * 5-7, croner: Fri Sat Sun Fri Sat Sun Fri
0 3 * * 5-7, cron: Fri Sat Sun Fri Sat Sun Fri
0 3 * * 5-7, cron-parser: Fri Sat Sun Fri Sat Sun Fri
0 3 * * 0,7, Bree: Sat Sun Sat Sun Sat Sun Sat
0 3 * * 0,7, croner: Sun Sun Sun Sun Sun Sun Sun
0 3 * * 0,7, cron: Sun Sun Sun Sun Sun Sun Sun
0 3 * * 0,7, cron-parser: refused
0 3 * * SUN, Bree: refused
0 3 * * SUN, croner: Sun Sun Sun Sun Sun Sun Sun
0 3 * * SUN, cron: Sun Sun Sun Sun Sun Sun Sun
0 3 * * SUN, cron-parser: Sun Sun Sun Sun Sun Sun Sun
TEXT
TZ=UTC node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
