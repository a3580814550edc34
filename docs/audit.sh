#!/bin/sh
# Takes the steps of audit.md for every list and every run, and prints what differs. Run it as that page says, in a folder with
# mirror.sqlite, checkpoint, key.pub and docs. It exits with 0 if all agrees, otherwise with 1.
size=$(sed -n 2p checkpoint) run='' list='' compared=0 differs=0
nothing=$(sha256sum < /dev/null | cut -c 1-64) zero=$(printf %032d 0)

# Runs the commands that audit.md prints for a step.
take() {
  eval "$(awk -v title="### $1. " '/^##/ { here = index($0, title) == 1 } /^```$/ { code = 0 }
    here && code; /^```sh$/ { code = 1 }' docs/audit.md)"
}

# Takes a step that prints two lines. Their first words must be the same. A receipt does not name what the run did not change.
compare() {
  take "$1" > answer 2> complaint
  mine=$(sed -n '1s/ .*//p' answer) other=$(sed -n '2s/ .*//p' answer) compared=$((compared + 1))
  case "$mine ${other:-none}$(cat complaint)" in "$other $mine" | "$nothing none" | "$zero none") return ;; esac
  differs=$((differs + 1))
  echo "Step $1 differs${list:+, list $list}${run:+, run $run}:" && cat complaint answer
}

ask() {
  sqlite3 -readonly mirror.sqlite \
    "WITH log AS (SELECT *, receipt ->> 'kind' AS kind FROM sync_receipts WHERE leaf_index < $size) $1"
}

if [ ! -e key.pub ]; then
  echo 'There is no key.pub, so no signature was checked.'
elif [ "$(take 1 2>&1)" != 'Signature Verified Successfully' ]; then
  take 1
  exit 1
fi
for step in 2 3 9 10; do compare "$step"; done

# A pruning deleted versions that some runs ended. A rebuild took everything before it as it was.
others=$(ask "SELECT group_concat(DISTINCT kind) FROM log WHERE kind <> 'run'")
gone=$(ask "SELECT coalesce(max(iif(kind = 'rebuild', last, min(last, through))), 0) FROM (
  SELECT kind, (SELECT max(receipt ->> 'runId') FROM log AS run WHERE run.leaf_index < log.leaf_index) AS last, coalesce(
    receipt ->> 'throughRunId', (SELECT min(id) - 1 FROM sync_runs WHERE completed_at > receipt ->> 'before'), 1 << 40) AS through
  FROM log WHERE kind IN ('prune', 'rebuild'))")
left=$(ask "SELECT receipt ->> '$.kept[0].hash' FROM log WHERE kind IN ('prune', 'rebuild') ORDER BY leaf_index DESC LIMIT 1")
[ -z "$others" ] || echo "Receipts of other kinds: $others. Steps 5 and 6 can be taken for the runs after $gone."

runs=$(ask "SELECT receipt ->> 'runId' FROM log WHERE kind = 'run' ORDER BY leaf_index")
for run in $runs; do compare 7; done
for list in document-exports collections webhooks connections; do
  run='' table=$(echo "$list" | tr - _)
  compare 4
  [ -z "$left" ] || compare 8
  for run in $runs; do
    [ "$run" -gt "$gone" ] || continue
    compare 5
    compare 6
  done
done
echo "$compared comparisons, of which $differs differ."
[ "$differs" = 0 ]
