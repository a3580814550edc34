#!/bin/sh
# luxon does not read the offset of a time that also names its zone, and gives one text another instant in winter than in summer.
#
# Guessed: `2025-10-26T02:30:00+02:00[Europe/Zurich]` has an offset, so it is one instant. If zone and offset contradict each
# other, luxon refuses the text, or the offset decides.
# So: with a zone in brackets only the clock and the zone count. `Z` is ignored, too: the time is early by the zone's offset. In the
# hour that comes twice in autumn, both texts are the same instant, and which of the two depends on the day on which the program
# runs: it tries the zone's offset of today first. So a test of the first text is right in summer only.
# Versions: luxon 3.7.2, temporal-polyfill 1.0.8; Node 24.21.0 and 20.20.2.
# Who meets it: a program that reads what Temporal or Java's ZonedDateTime wrote: an order of times, or a difference between
# two, of the night in which summer time ends.
# Seen: the text `expected` below. `Settings.now` is luxon's way to set its clock.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts luxon@3.7.2 temporal-polyfill@1.0.8 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.mjs <<'JS'
import { DateTime, Settings } from 'luxon';
import { Temporal } from 'temporal-polyfill';

const utc = text => DateTime.fromISO(text).toUTC().toISO({ suppressMilliseconds: true });
const texts = ['2025-10-26T00:30:00Z', '2025-10-26T01:30:00Z'].map(instant =>
  Temporal.Instant.from(instant).toZonedDateTimeISO('Europe/Zurich').toString(),
);
for (const text of [...texts, '2025-12-01T12:00:00Z[Europe/Zurich]', '2025-12-01T12:00:00-05:00[Europe/Zurich]']) {
  let temporal = 'refused';
  try {
    temporal = Temporal.ZonedDateTime.from(text).toInstant().toString();
  } catch {
    // Its offset is none of the zone.
  }
  const luxon = ['2025-01-15', '2025-07-15'].map(today => {
    Settings.now = () => Date.parse(today);
    return `luxon in ${today.slice(0, 7)} ${utc(text)}`;
  });
  console.log(`${text}: Temporal ${temporal}, ${luxon.join(', ')}`);
}
JS
cat >expected <<'TEXT'
2025-10-26T02:30:00+02:00[Europe/Zurich]: Temporal 2025-10-26T00:30:00Z, luxon in 2025-01 2025-10-26T01:30:00Z, luxon in 2025-07 2025-10-26T00:30:00Z
2025-10-26T02:30:00+01:00[Europe/Zurich]: Temporal 2025-10-26T01:30:00Z, luxon in 2025-01 2025-10-26T01:30:00Z, luxon in 2025-07 2025-10-26T00:30:00Z
2025-12-01T12:00:00Z[Europe/Zurich]: Temporal 2025-12-01T12:00:00Z, luxon in 2025-01 2025-12-01T11:00:00Z, luxon in 2025-07 2025-12-01T11:00:00Z
2025-12-01T12:00:00-05:00[Europe/Zurich]: Temporal refused, luxon in 2025-01 2025-12-01T11:00:00Z, luxon in 2025-07 2025-12-01T11:00:00Z
TEXT
node run.mjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
