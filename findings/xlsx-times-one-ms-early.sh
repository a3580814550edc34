#!/bin/sh
# SheetJS and read-excel-file read more than a quarter of all full seconds a millisecond early: 00:05:00 is 00:04:59.999.
#
# Guessed: a sheet has a time as a fraction of days, which is not exact, so a reader rounds it to milliseconds. exceljs does.
# So: both cut. A fraction that is a little too small is the millisecond before, in another second, minute or hour: in
# read-excel-file 8 of 24 full hours, 02:00 for one. SheetJS' formatted texts (`raw: false`) are right, which hides it in a look.
# Versions: exceljs 4.4.0, read-excel-file 9.3.17, xlsx 0.18.5 (SheetJS, the newest of npm); Node 24.21.0 and 20.20.2.
# Who meets it: who groups the rows of a sheet by hour or minute, compares them with a time, or shows them without milliseconds.
# Seen: the text `expected` below: how many times of one day are early, and the first of them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts exceljs@4.4.0 read-excel-file@9.3.17 xlsx@0.18.5 \
  >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
const ExcelJS = require('exceljs');
const SheetJS = require('xlsx');

const midnight = Date.UTC(2026, 10, 29);
const steps = { hour: 3_600_000, minute: 60_000, second: 1_000 };
const rowsOf = (path, read, options) =>
  SheetJS.utils.sheet_to_json(SheetJS.readFile(path, read).Sheets.times, { header: 1, ...options });
const main = async () => {
  const { readSheet } = await import('read-excel-file/node');
  const readers = {
    exceljs: async path => {
      const book = new ExcelJS.Workbook();
      await book.xlsx.readFile(path);
      return book.worksheets[0].getColumn(1).values.slice(1);
    },
    SheetJS: async path => rowsOf(path, { cellDates: true }).map(row => row[0]),
    'SheetJS, text': async path =>
      rowsOf(path, {}, { raw: false, dateNF: 'yyyy-mm-dd hh:mm:ss' }).map(row => new Date(`${row[0].replace(' ', 'T')}Z`)),
    'read-excel-file': async path => (await readSheet(path)).map(row => row[0]),
  };
  for (const [unit, ms] of Object.entries(steps)) {
    const times = Array.from({ length: 86_400_000 / ms }, (_, place) => new Date(midnight + place * ms));
    const book = new ExcelJS.Workbook();
    const sheet = book.addWorksheet('times');
    sheet.getColumn(1).numFmt = 'yyyy-mm-dd hh:mm:ss';
    for (const time of times) sheet.addRow([time]);
    await book.xlsx.writeFile('times.xlsx');
    for (const [name, read] of Object.entries(readers)) {
      const seen = await read('times.xlsx');
      const early = times.filter((time, place) => seen[place] - time === -1);
      const equal = times.filter((time, place) => seen[place] - time === 0);
      const first = early[0] ? `, first ${seen[times.indexOf(early[0])].toISOString().slice(11, -1)}` : '';
      console.log(`each ${unit}, ${name}: ${equal.length} equal, ${early.length} early${first}`);
    }
  }
};

main();
JS
cat >expected <<'TEXT'
each hour, exceljs: 24 equal, 0 early
each hour, SheetJS: 24 equal, 0 early
each hour, SheetJS, text: 24 equal, 0 early
each hour, read-excel-file: 16 equal, 8 early, first 01:59:59.999
each minute, exceljs: 1440 equal, 0 early
each minute, SheetJS: 1088 equal, 352 early, first 00:04:59.999
each minute, SheetJS, text: 1440 equal, 0 early
each minute, read-excel-file: 992 equal, 448 early, first 00:04:59.999
each second, exceljs: 86400 equal, 0 early
each second, SheetJS: 63744 equal, 22656 early, first 00:00:00.999
each second, SheetJS, text: 86400 equal, 0 early
each second, read-excel-file: 60032 equal, 26368 early, first 00:00:00.999
TEXT
# SheetJS makes times of the machine's own zone.
TZ=UTC node run.cjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
