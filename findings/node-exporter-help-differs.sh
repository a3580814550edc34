#!/bin/sh
# node_exporter leaves out a metric of one .prom file, if another file has it with another HELP text.
#
# Guessed: HELP is a comment for people. If two files differ in it, one text is shown, and the samples of both files are there.
# So: the samples of one file are gone, and its other metrics stay. node_textfile_scrape_error tells of nothing: it is 0.
# Versions: prometheus-node-exporter 1.5.0-1+b6 of Debian 12 (amd64).
# Who meets it: several programs, or two versions of one, that each write a file of metrics with one name: after an upgrade of one
# of them an alert on an old value can't fire any more.
# Seen: the text `expected` below. It needs Debian's apt, and no rights.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{ apt-get download prometheus-node-exporter=1.5.0-1+b6 && dpkg-deb --extract prometheus-node-exporter_*.deb .; } >apt.log 2>&1 ||
  { cat apt.log; exit 2; }

mkdir files
for tenant in a b; do
  cat >"files/$tenant.prom" <<TEXT
# HELP mirror_last_success_seconds When tenant $tenant was read
# TYPE mirror_last_success_seconds gauge
mirror_last_success_seconds{tenant="$tenant"} 1
# HELP mirror_rows_of_$tenant Rows
# TYPE mirror_rows_of_$tenant gauge
mirror_rows_of_$tenant 5
TEXT
done
port=$((20000 + $$ % 20000))
usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory=files \
  --web.listen-address="127.0.0.1:$port" >log 2>&1 &
exporter=$!
trap 'kill $exporter; rm -rf "$folder"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do
  curl --silent "http://127.0.0.1:$port/metrics" >metrics && break
  sleep 1
done
cat >expected <<'TEXT'
# HELP mirror_last_success_seconds When tenant a was read
mirror_last_success_seconds{tenant="a"} 1
mirror_rows_of_a 5
mirror_rows_of_b 5
# HELP node_textfile_scrape_error 1 if there was an error opening or reading a file, 0 otherwise
node_textfile_scrape_error 0
TEXT
grep -E '^(# HELP )?(mirror_|node_textfile_scrape_error )' metrics | grep -v 'HELP mirror_rows' >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
