#!/bin/sh
# A text with a carriage return, written by SheetJS and read by exceljs, comes back with "_x000d_" in it.
#
# Guessed: both know how XLSX escapes a character, so the text is the same, or lacks the carriage return.
# So: SheetJS writes "_x000d_" with a small d, and exceljs takes only capital digits for an escape. That is with
# `bookSST`. Without it, SheetJS writes cells of type "str", in which exceljs looks for no escapes at all.
# Neither library escapes a text that looks like an escape: "_x0041_" comes back as "A", also from exceljs to exceljs.
# Versions: exceljs 4.4.0, xlsx 0.18.5 (SheetJS, its newest in the registry); Node 24.21.0 and 20.20.2.
# Who meets it: a program that reads titles or descriptions with line ends of Windows from a workbook of another one.
# Seen: the text `expected` below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --loglevel error --no-audit --no-fund --ignore-scripts exceljs@4.4.0 xlsx@0.18.5 >>npm.log 2>&1 || { cat npm.log; exit 2; }

cat >run.cjs <<'JS'
const ExcelJS = require('exceljs');
const SheetJS = require('xlsx');

const texts = ['two\r\nlines', '_x0041_'];
const sheet = (path, options) => {
  const book = SheetJS.utils.book_new();
  SheetJS.utils.book_append_sheet(book, SheetJS.utils.aoa_to_sheet([texts]), 'texts');
  SheetJS.writeFile(book, path, options);
};
const write = {
  SheetJS: async path => sheet(path, {}),
  'SheetJS with bookSST': async path => sheet(path, { bookSST: true }),
  exceljs: async path => {
    const book = new ExcelJS.Workbook();
    book.addWorksheet('texts').addRow(texts);
    await book.xlsx.writeFile(path);
  },
};
const read = {
  SheetJS: async path => SheetJS.utils.sheet_to_json(SheetJS.readFile(path).Sheets.texts, { header: 1 })[0],
  exceljs: async path => {
    const book = new ExcelJS.Workbook();
    await book.xlsx.readFile(path);
    return book.worksheets[0].getRow(1).values.slice(1);
  },
};
const main = async () => {
  for (const writer of Object.keys(write))
    for (const reader of Object.keys(read)) {
      await write[writer]('book.xlsx');
      console.log(`${writer} to ${reader}: ${JSON.stringify(await read[reader]('book.xlsx'))}`);
    }
};

main();
JS
cat >expected <<'TEXT'
SheetJS to SheetJS: ["two\r\nlines","A"]
SheetJS to exceljs: ["two_x000d_\nlines","_x0041_"]
SheetJS with bookSST to SheetJS: ["two\r\nlines","A"]
SheetJS with bookSST to exceljs: ["two_x000d_\nlines","A"]
exceljs to SheetJS: ["two\r\nlines","A"]
exceljs to exceljs: ["two\nlines","A"]
TEXT
node run.cjs >seen
diff expected seen || { echo 'the behaviour has changed'; exit 1; }
cat seen
