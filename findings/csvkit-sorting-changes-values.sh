#!/bin/sh
# csvkit's `csvsort` changes values: the list `1,2` becomes 12, `99,00` becomes 9900, and 1 in a column of 0 and 1 becomes True.
#
# Guessed: csvsort moves rows. It guesses the type of the column that it sorts by, and writes each value as it was read.
# So: it guesses a type for each column and writes the values of that type. A comma is left out wherever it is, so `1.234,50` becomes
# 1.23450. `10%` loses its sign, `2m` is a duration, and `none` is nothing. `csvjson` does the same. One `x` in a column, and all its
# values stay as they were, so the same row differs from file to file. With `--no-inference` nothing changes.
# Versions: csvkit 1.0.7-1 and python3-agate 1.6.3-2 of Debian 12.
# Who meets it: an analyst who sorts or joins an export before the real work. Lists of ids become other ids, and amounts other
# amounts.
# Seen: the text `expected` below. It needs Debian's apt, and no rights.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{
  missing=$(apt-get install --simulate csvkit=1.0.7-1 python3-agate=1.6.3-2 | awk '/^Inst/ { print $2 }') &&
    apt-get download csvkit=1.0.7-1 $missing && for file in *.deb; do dpkg-deb --extract "$file" .; done
} >apt.log 2>&1 || { cat apt.log; exit 2; }
export PYTHONPATH="$folder/usr/lib/python3/dist-packages"

cat >rows.csv <<'TEXT'
id,tags,amount,share,took,failed,note
2,"1,2","1.234,50",10%,2m,1,none
1,"7,30","99,00",5%,1:30,0,n/a
TEXT
cat >more.csv <<'TEXT'
id,tags,amount,share,took,failed,note
2,"1,2","1.234,50",10%,2m,1,none
1,"7,30","99,00",5%,1:30,0,n/a
3,x,x,x,x,x,x
TEXT
cat >expected <<'TEXT'
csvsort rows.csv
id,tags,amount,share,took,failed,note
1,730,9900,5,0:01:30,False,
2,12,1.23450,10,0:02:00,True,
csvsort more.csv
id,tags,amount,share,took,failed,note
1,"7,30","99,00",5%,1:30,0,
2,"1,2","1.234,50",10%,2m,1,
3,x,x,x,x,x,x
csvsort --no-inference rows.csv
id,tags,amount,share,took,failed,note
1,"7,30","99,00",5%,1:30,0,
2,"1,2","1.234,50",10%,2m,1,
csvjson rows.csv
[{"id": 2.0, "tags": 12.0, "amount": 1.2345, "share": 10.0, "took": "0:02:00", "failed": true, "note": null}, {"id": 1.0, "tags": 730.0, "amount": 9900.0, "share": 5.0, "took": "0:01:30", "failed": false, "note": null}]
TEXT
{
  for file in rows.csv more.csv; do
    echo "csvsort $file"
    usr/bin/csvsort --columns id "$file"
  done
  echo 'csvsort --no-inference rows.csv'
  usr/bin/csvsort --no-inference --columns id rows.csv
  echo 'csvjson rows.csv'
  usr/bin/csvjson rows.csv
  echo
} >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
