#!/bin/sh
# Django's Paginator hides the oldest row from its last page, if a row is added while the page is made.
#
# Guessed: a page is one LIMIT and OFFSET of its size. If a row is added between the count and the page, the last page has one
# row more than its total says, or the oldest row begins another page.
# So: the last page ends at the count of before. The oldest row is on no page, and the page has the length that its total says, so
# nothing contradicts it. The same rows by slices of the query show it.
# Versions: python3-django 3:3.2.25-0+deb12u7 of Debian 12, with SQLite.
# Who meets it: a program that copies a list page by page, newest first, and ends when it has as many rows as the total.
# Seen: the text `expected` below. It needs Debian's apt and python3, and no rights.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{ apt-get download python3-django=3:3.2.25-0+deb12u7 python3-asgiref=3.6.0-1 python3-sqlparse=0.4.2-1+deb12u1 python3-tz=2022.7.1-4 &&
  for package in *.deb; do dpkg-deb --extract "$package" .; done; } >apt.log 2>&1 || { cat apt.log; exit 2; }

cat >run.py <<'PY'
import django
from django.conf import settings

settings.configure(DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}})
django.setup()
from django.core.paginator import Paginator
from django.db import connection, models


class Export(models.Model):
    class Meta:
        app_label = 'exports'


with connection.schema_editor() as editor:
    editor.create_model(Export)
for _ in range(25):
    Export.objects.create()
newest_first = Export.objects.order_by('-id')
for added in [0, 1]:
    pages = Paginator(newest_first, 10)
    total = pages.count
    for _ in range(added):
        Export.objects.create()
    ids = [row.id for row in pages.page(3)]
    print(f'{added} added: total {total}, page 3 has', *ids)
print('by a slice:', *[row.id for row in newest_first[20:30]])
PY
cat >expected <<'TEXT'
0 added: total 25, page 3 has 5 4 3 2 1
1 added: total 25, page 3 has 6 5 4 3 2
by a slice: 6 5 4 3 2 1
TEXT
PYTHONPATH=usr/lib/python3/dist-packages /usr/bin/python3 run.py >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
