#!/bin/sh
# parse-prometheus-text-format makes one histogram of those of several labels, without a sum and a count.
#
# Guessed: a histogram with a label `list` is read as one entry for each list, with its label, buckets, sum and count.
# Counters with the label are read like that, and the module's page says that its output is meant to be prom2json's.
# So: all of them become one entry without a label. Each bucket has the number that came last, so a list replaces the
# one before it. Sum and count are missing. The same happens to summaries. There is no error.
# Versions: parse-prometheus-text-format 1.1.1, prom-client 15.1.3; Node 24.21.0 and 20.20.2.
# Who meets it: a test or a check that reads the metrics of a service in Node, for instance the times of its requests.
# Seen: the text `expected` below. The histogram has 1 observation for exports and 2 for webhooks.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts parse-prometheus-text-format@1.1.1 prom-client@15.1.3 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
const parsed = require('parse-prometheus-text-format');
const { Counter, Histogram, Registry, Summary } = require('prom-client');

const parse = parsed.default ?? parsed;
const main = async () => {
  const registry = new Registry();
  const options = { help: 'help', labelNames: ['list'], registers: [registry] };
  const pages = new Counter({ name: 'pages', ...options });
  const seconds = new Histogram({ name: 'seconds', buckets: [1, 5], ...options });
  const bytes = new Summary({ name: 'bytes', percentiles: [0.5], ...options });
  const plain = new Histogram({ name: 'plain', help: 'help', buckets: [1, 5], registers: [registry] });
  for (const [list, value] of [['exports', 0.5], ['webhooks', 7], ['webhooks', 7]]) {
    pages.inc({ list });
    seconds.observe({ list }, value);
    bytes.observe({ list }, value);
    plain.observe(value);
  }
  for (const { name, metrics } of parse(await registry.metrics()))
    for (const metric of metrics) console.log(name, JSON.stringify(metric));
};

main();
JS
cat >expected <<'TEXT'
pages {"value":"1","labels":{"list":"exports"}}
pages {"value":"2","labels":{"list":"webhooks"}}
seconds {"buckets":{"1":"0","5":"0","+Inf":"2"}}
bytes {"quantiles":{"0.5":"7"}}
plain {"buckets":{"1":"1","5":"1","+Inf":"3"},"count":"3","sum":"14.5"}
TEXT
node run.cjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
